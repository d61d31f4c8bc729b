// SPDX-License-Identifier: GPL-2.0-or-later
// A stopped process among those that descend from one.
#include "base/stopped_process.hpp"

#include "base/processes.hpp"

namespace ipoib {

std::string stopped_process(pid_t root) {
    if (root <= 0) return {};
    const auto all = processes();
    for (const auto& [pid, process] : all)
        if (process.is_stopped() && descends_from(root, pid, all)) return process.text(pid);
    return {};
}

}  // namespace ipoib

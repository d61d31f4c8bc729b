// SPDX-License-Identifier: GPL-2.0-or-later
// Every file is tried, every failure told.
#include "conformance/command/writing.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "base/output_path.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/usage.hpp"

#include <exception>
#include <iostream>
#include <set>
#include <sstream>

namespace ipoib::conformance {
namespace {

/// A line each. What was told when the path was tried is not told again when the report is written.
void tell(const std::string& failures) {
    static std::set<std::string> told;
    std::istringstream lines{failures};
    for (std::string failure; std::getline(lines, failure);)
        if (told.insert(failure).second) complain("ipoib-conform", failure);
}

}  // namespace

bool try_paths(const std::vector<std::string>& paths) {
    bool is_any = false, is_any_writable = false;
    for (const auto& path : paths) {
        if (path.empty()) continue;
        is_any = true;
        if (is_standard_output(path)) is_report_on_output() = true;
        const auto failure = why_not_writable(path);
        if (failure.empty())
            is_any_writable = true;
        else
            tell(failure);
    }
    return is_any_writable || !is_any;
}

void require_path(const std::vector<std::string>& paths) {
    if (!try_paths(paths)) throw Fault("nothing is begun: nothing that was asked for can be written");
}

bool write_each(const std::vector<std::function<std::string()>>& writers) {
    bool is_all_written = true;
    for (const auto& write : writers) {
        std::string failure;
        try {
            failure = write();
        } catch (const std::exception& problem) {
            failure = std::string("a report cannot be made: ") + problem.what();
        }
        if (failure.empty()) continue;
        tell(failure);
        is_all_written = false;
    }
    return is_all_written;
}

}  // namespace ipoib::conformance

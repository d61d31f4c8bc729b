// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/pausing.hpp"

#include "base/complain.hpp"
#include "base/processes.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>

namespace ipoib::conformance {

void wait_for_person(const std::string& why, const std::vector<int>& adapters, fabric::Loop& loop, StatusLine& line) {
    const auto remark = [](const std::string& text) { complain("ipoib-conform", text); };
    line.clear();
    // A shell is what an adapter begins with, and what is to be debugged its child.
    std::string families;
    for (const auto process : adapters)
        if (const auto family = process > 0 ? family_text(process) : std::string{}; !family.empty())
            families += (families.empty() ? "" : "; ") + family;
    remark(fmt::format("paused: {}, and no deadline runs.{} Enter goes on.", why,
                       families.empty()
                           ? ""
                           : fmt::format(" {} processes here: {}.", adapters.size() == 1 ? "Its" : "Their", families)));
    std::array<char, 256> typed;
    do {
        loop.pause_until_readable(STDIN_FILENO);
        if (fabric::Loop::stop_requested()) return;
        const auto count = ::read(STDIN_FILENO, typed.data(), typed.size());
        if (count <= 0) return remark("standard input is at its end: the run goes on");
        if (std::find(typed.begin(), typed.begin() + count, '\n') != typed.begin() + count) return;
    } while (true);
}

}  // namespace ipoib::conformance

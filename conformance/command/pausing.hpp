// SPDX-License-Identifier: GPL-2.0-or-later
// run --pause-on: a run waits for a person with a debugger.
#pragma once

#include "base/nearest.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Tells why, and the processes of adapters (0: none of its own) with their children; then waits for a line on standard
/// input, or its end. The clock stands meanwhile.
void wait_for_person(const std::string& why, const std::vector<int>& adapters, fabric::Loop& loop, StatusLine& line);

/// The id of what the run is paused before; empty for "fail". Throws UsageError for what is neither that nor one of
/// `all`, the "cases" that run.
template <class Each>
std::string paused_id(const std::string& where, const std::vector<const Each*>& all, const std::string& called) {
    if (where == "fail") return {};
    if (std::ranges::find(all, where, &Each::id) == all.end())
        throw UsageError("--pause-on: '" + where + "' is neither fail nor one of the " + called + " that run" +
                         did_you_mean(where, all, [](const Each* one) { return one->id; }));
    return where;
}

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Groups that a program of the DUT is in, at the SA too, before something changes.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// Groups that nobody else is in, at least one: the DUT is FullMember of each, else INCONC. Fewer where it takes no
/// more.
inline std::vector<IpAddress> joined_groups(Bench& bench, int count) {
    std::vector<IpAddress> groups;
    bench.step(count == 1 ? "A program joins a group" : "Programs join groups");
    for (int i = 0; i < count; ++i) {
        const auto group = bench.fresh_group();
        if (groups.empty())
            bench.dut->join(group);
        else if (!bench.dut.can_join(group)) {
            bench.note("the DUT takes no more than " + std::to_string(i) + " groups of programs");
            break;
        }
        bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
        groups.push_back(group);
    }
    return groups;
}
inline IpAddress joined_group(Bench& bench) { return joined_groups(bench, 1).front(); }

/// So many that a stack which counts to a few, or loses one of those that it finds by few bits, is seen.
inline constexpr int several_groups = 16;

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Groups that a program of the DUT is in, at the SA too, before something changes.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// Groups that nobody else is in: the DUT is FullMember of each, else INCONC.
inline std::vector<IpAddress> joined_groups(Bench& bench, int count) {
    std::vector<IpAddress> groups;
    bench.step(count == 1 ? "A program joins a group" : "Programs join groups");
    for (int i = 0; i < count; ++i) {
        const auto& group = groups.emplace_back(bench.fresh_group());
        bench.dut->join(group);
        bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
    }
    return groups;
}
inline IpAddress joined_group(Bench& bench) { return joined_groups(bench, 1).front(); }

/// So many that a stack which counts to one, two or three is seen.
inline constexpr int several_groups = 4;

}  // namespace ipoib::conformance

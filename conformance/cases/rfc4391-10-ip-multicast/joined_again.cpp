// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4391-10-ip-multicast/program_groups.hpp"

namespace ipoib::conformance {

const Case groups_are_joined_again{
    .id = "IPOIB-4391-10-VAL-013",
    .title = "Groups that programs are in are joined again after the interface was down",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if = "the DUT is FullMember of programs' groups before it is taken down, and after it came up again",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"join", "up", "down"},
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto groups = joined_groups(bench, several_groups);
            bench.step("The interface is taken down and up again");
            bench.dut->down();
            bench.dut.comes_up();
            for (const auto& group : groups) {
                const bool is_there = bench.sa.has_dut_as_full_member(group, within(10s));
                if (!is_there && bench.dut->can("interface")) {
                    const auto told = bench.dut->interface().groups;
                    if (!told.empty() && std::ranges::find(told, group) == told.end())
                        bench.not_applicable("a program's membership ends with the interface: IP is not in the group");
                }
                bench.require(is_there, "FullMember of " + text(group), "not at the SA");
            }
        },
};

}  // namespace ipoib::conformance

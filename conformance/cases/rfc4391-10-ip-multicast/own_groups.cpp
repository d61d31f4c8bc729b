// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case own_groups_are_joined{
    .id = "IPOIB-4391-10-VAL-012",
    .title = "The groups that IP itself listens to are joined when the interface comes up, each time",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if =
        "the DUT is FullMember of all-hosts, or all-nodes and the solicited-node group of each of its addresses, after "
        "it came up and after it was taken down and up again",
    .tags = {"sa", "nd", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"up", "down", "join", "interface"},
    .begin = Begin::down,
    .in_both_families = true,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            for (const auto* const when : {"The interface comes up", "It is taken down and up again"}) {
                bench.step(when);
                bench.dut->down();
                bench.dut.comes_up();
                std::vector<IpAddress> groups{Bench::all_nodes(bench.situation().family)};
                if (bench.situation().is_ipv6())
                    for (const auto& own : bench.dut->interface().ipv6)
                        groups.push_back(IpAddress::v6(solicited_node_group(own.address.octets)));
                for (const auto& group : groups)
                    bench.require(bench.sa.has_dut_as_full_member(group, within(10s)), "FullMember of " + text(group),
                                  "not at the SA");
            }
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case router_joins_existing_groups{
    .id = "IPOIB-4391-11-VAL-001",
    .title = "A multicast router finds the groups of the link at the SA and joins them as NonMember",
    .checks = {&rfc4391::router_lists_groups, &rfc4391::router_non_member_join, &rfc4391::router_listens_to_all_groups},
    .pass_if = "the DUT lists the groups and asks to join those of IPv4 and IPv6 as NonMember; others it leaves alone",
    .tags = {"router", "sa"},
    .needs = Ability::see_all,
    .dut_can = {"router"},
    .role = Role::router,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto is_non_member = [](std::uint8_t state, auto&) { return state == join_state::non_member; };
            bench.step("Groups exist before the DUT becomes a router: it lists them", rfc4391::router_lists_groups);
            const auto ipv4 = bench.sa.join(bench.fresh_group4()).mgid, ipv6 = bench.sa.join(bench.fresh_group6()).mgid;
            bench.dut->router(true);
            bench.require(bench.happens(list_of_groups(), within(10s)), "a query of the groups", "none");
            for (const auto& [mgid, version] : {std::pair{ipv4, "IPv4"}, std::pair{ipv6, "IPv6"}}) {
                bench.same_step(std::string("It joins that of ") + version, rfc4391::router_listens_to_all_groups);
                bench.require(join_of(mgid), within(10s));
                bench.same_step("Its JoinState", rfc4391::router_non_member_join);
                bench.inspect(join_of(mgid).where(McMemberRecord::join_state, is_non_member, "NonMember only"),
                              within(1s));
            }
        },
};

}  // namespace ipoib::conformance

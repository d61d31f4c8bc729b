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

const Case router_joins_groups_again{
    .id = "IPOIB-4391-11-VAL-005",
    .title = "A multicast router joins groups that are created again when the subnet administrator has lost them",
    .checks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .pass_if =
        "after the subnet administrator has begun anew, and asked every port to reregister, the DUT asks again to join "
        "the tester's groups, which are created again, as NonMember",
    .tags = {"router", "sa", "reregister"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"router"},
    .role = Role::router,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            const std::array groups{bench.fresh_group4(), bench.fresh_group6()};
            bench.step("Groups of the tester: the DUT joins them");
            for (const auto& group : groups) bench.sa.join(group);
            bench.dut->router(true);
            for (const auto& group : groups) bench.precondition(join_of(bench.mgid_of(group)), within(10s));
            bench.step("The subnet administrator begins anew, and the tester joins them again");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            for (const auto& group : groups) bench.sa.join(group);
            bench.expect_rest();
            const auto is_non_member = [](std::uint8_t state, auto&) { return state == join_state::non_member; };
            for (const auto& group : groups)
                bench.require(
                    join_of(bench.mgid_of(group)).where(McMemberRecord::join_state, is_non_member, "NonMember only"),
                    within(30s));
        },
};

}  // namespace ipoib::conformance

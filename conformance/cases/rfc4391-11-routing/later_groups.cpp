// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case router_joins_later_groups{
    .id = "IPOIB-4391-11-VAL-002",
    .title = "A multicast router hears of groups that are created later, and joins them as NonMember",
    .checks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .pass_if =
        "the DUT has subscribed to trap 66 for all groups, and joins the groups that the tester creates, also when "
        "they have ended and are created again",
    .tags = {"router", "sa", "trap", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"up", "router"},
    .role = Role::router,
    .begin = Begin::down,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            const auto is_non_member = [](std::uint8_t state, auto&) { return state == join_state::non_member; };
            bench.step("The DUT comes up and becomes a router: it subscribes", rfc4391::router_wildcard_subscription,
                       rfc4392::router_follows_creations);
            bench.dut.comes_up();
            bench.dut->router(true);
            bench.pass_time(2s);
            const auto wildcard =
                subscription_to(trap::multicast_group_created).such_that("for all groups", [](const Packet& p, auto&) {
                    const auto info = p.get<InformInfo>();
                    return info && info[InformInfo::gid].is_zero();
                });
            const bool has_subscribed = bench.count(wildcard) > 0;
            bench.step("A group that it cannot know is created: it is told of it",
                       rfc4391::router_wildcard_subscription, rfc4392::router_follows_creations);
            bench.sa.join(bench.fresh_group4());
            bench.pass_time(1s);
            // It may have subscribed long ago.
            bench.require(has_subscribed || bench.sa.reports_to_dut(trap::multicast_group_created),
                          "a subscription to trap 66 (group created) for all groups", "none");
            bench.step("Groups are created later", rfc4391::router_wildcard_subscription,
                       rfc4392::router_follows_creations);
            for (const auto& group : {bench.fresh_group4(), bench.fresh_group6()}) {
                const auto mgid = bench.sa.join(group).mgid;
                bench.require(join_of(mgid).where(McMemberRecord::join_state, is_non_member, "NonMember only"),
                              within(10s));
                bench.step("One ends and is created again", rfc4391::router_wildcard_subscription,
                           rfc4392::router_follows_creations);
                bench.sa.leave(mgid);
                if (!bench.sa.gives_up(mgid, within(2s))) continue;
                bench.pass_time(2s);
                bench.sa.join(group);
                bench.require(join_of(mgid).where(McMemberRecord::join_state, is_non_member, "NonMember only"),
                              within(10s));
                bench.step("The next", rfc4391::router_wildcard_subscription, rfc4392::router_follows_creations);
            }
        },
};

}  // namespace ipoib::conformance

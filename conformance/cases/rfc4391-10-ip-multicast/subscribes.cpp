// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_subscribes_to_traps{
    .id = "IPOIB-4391-10-VAL-006",
    .title = "A sender subscribes to the traps on created and deleted groups",
    .checks = {&rfc4391::group_trap_subscription, &rfc4392::cached_mlid_needs_deletion_reports},
    .pass_if =
        "by its first packet to a group the DUT has subscribed to traps 66 and 67, or to all: its subscription is "
        "seen, or "
        "the SA reports to it",
    .tags = {"sa", "egress", "trap"},
    .needs = Ability::see_all,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            // RFC 4392, 4.2.5: a router that follows every creation needs no report of deletions.
            const bool may_be_router = !bench.stops_routing();
            bench.step("The DUT comes up and sends to a group", rfc4391::group_trap_subscription);
            bench.dut.comes_up();
            const auto group = bench.fresh_group4();
            const auto port = bench.fresh_port();
            bench.sa.join(group);
            bench.dut.is_seen_to_send(group, port);
            bench.sa.leave(bench.sa.join(bench.fresh_group4()).mgid);
            bench.pass_time(1s);
            // It may have subscribed long ago: then it is told of the groups of this step.
            const auto is_subscribed = [&](std::uint16_t trap_number) {
                return bench.count(subscription_to(trap_number)) > 0 || bench.sa.reports_to_dut(trap_number);
            };
            bench.require(is_subscribed(trap::multicast_group_created), "a subscription to trap 66 (group created)",
                          "none");
            const bool hears_of_deletion = is_subscribed(trap::multicast_group_deleted);
            bench.require(hears_of_deletion, "a subscription to trap 67 (group deleted)", "none");

            const auto mgid = bench.mgid_of(group);
            constexpr std::uint8_t no_members = join_state::non_member | join_state::send_only_non_member;
            const auto state = bench.sa.join_state_asked(mgid);
            if ((state & no_members) == 0 || (state & ~no_members) != 0)
                return bench.note("the DUT joins with JoinState " + std::to_string(state) +
                                  ": what RFC 4392, 4.2.5 says of NonMembers does not bind it");
            if (may_be_router) return bench.note("the DUT may be a router, which needs no report of deletions");
            bench.step("The second datagram: whether the DUT keeps the MLID",
                       rfc4392::cached_mlid_needs_deletion_reports);
            bench.dut.is_seen_to_send(group, port);
            if (bench.count(request_about(mgid)) > 0) return bench.note("the DUT asks the SA each time");
            bench.require(hears_of_deletion, "a subscription to trap 67 by a NonMember that keeps the MLID", "none");
        },
};

}  // namespace ipoib::conformance

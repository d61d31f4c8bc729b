// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case idle_sender_leaves{
    .id = "IPOIB-4392-4.2.5-VAL-001",
    .title = "A sender leaves a group that it sends nothing to any more",
    .checks = {&rfc4392::sender_leaves_in_time},
    .pass_if = "the SendOnlyNonMember join ends some time after the last datagram, each time",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 400s,
    .steps =
        [](Bench& bench) {
            // Its profile tells how long the DUT takes; "at some time" can be judged by nothing else.
            const auto patience = bench.profile().send_only_leave;
            if (patience.count() == 0)
                bench.not_applicable("the DUT's profile does not say when it leaves (send_only_leave)");
            if (patience > 90s) bench.not_applicable("the DUT leaves later than a case waits");
            if (patience > 20s && !bench.waits_long())
                bench.not_applicable("the DUT leaves after " + std::to_string(patience.count()) +
                                     " s, which --allow-long waits for");
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group of the tester, then no more");
            const auto mgid = bench.sa.join(group).mgid;
            bench.dut.is_seen_to_send(group, port);
            bench.precondition(bench.count(join_of(mgid)) > 0, "the DUT joins to send");
            bench.require(leave_of(mgid), stated(2 * patience));
            bench.step("It sends to the group again, then no more");
            bench.dut.is_seen_to_send(group, port);
            bench.require(leave_of(mgid), stated(2 * patience));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_subscribes_to_traps{
    .id = "IPOIB-4391-10-VAL-006",
    .title = "A sender subscribes to the traps on created and deleted groups",
    .checks = {&rfc4391::group_trap_subscription, &rfc4392::cached_mlid_needs_deletion_reports},
    .pass_if = "from its start to its first packet to a group the DUT has subscribed to traps 66 and 67, or to all",
    .tags = {"sa", "egress", "trap"},
    .needs = Ability::see_all,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT comes up and sends to a group", rfc4391::group_trap_subscription);
            bench.dut_comes_up();
            const auto group = bench.fresh_group4();
            const auto port = bench.fresh_port();
            bench.join(group);
            bench.dut_sends(group, port);
            bench.precondition(udp_from_dut(group, port), within(5s));
            bench.pass_time(1s);
            bench.require(bench.count(subscription_to(trap::multicast_group_created)) > 0,
                          "a subscription to trap 66 (group created)", "none");
            const bool hears_of_deletion = bench.count(subscription_to(trap::multicast_group_deleted)) > 0;
            bench.require(hears_of_deletion, "a subscription to trap 67 (group deleted)", "none");

            bench.step("The second datagram: whether the DUT keeps the MLID",
                       rfc4392::cached_mlid_needs_deletion_reports);
            bench.dut_sends(group, port);
            bench.precondition(udp_from_dut(group, port), within(5s));
            if (bench.count(request_about(bench.mgid_of(group))) > 0)
                return bench.note("the DUT asks the SA each time");
            bench.require(hears_of_deletion, "a subscription to trap 67 by a sender that keeps the MLID", "none");
        },
};

}  // namespace ipoib::conformance

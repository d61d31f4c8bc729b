// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case member_sends_at_once{
    .id = "IPOIB-4391-10-VAL-002",
    .title = "What the SA has told of a group is kept: further packets ask nothing",
    .checks = {&rfc4391::group_attributes_cached},
    .pass_if = "the second and third datagram to a group arrive without a request to the SA",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The first datagram");
            const auto mgid = bench.sa.join(group).mgid;
            bench.dut.is_seen_to_send(group, port);
            bench.step("Two more");
            for (int i = 0; i < 2; ++i) {
                bench.dut.is_seen_to_send(group, port);
            }
            const auto asked = bench.count(query_of(mgid)) + bench.count(join_of(mgid));
            bench.require(asked == 0, "no request to the SA", std::to_string(asked) + " requests");
        },
};

}  // namespace ipoib::conformance

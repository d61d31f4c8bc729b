// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_becomes_receiver{
    .id = "IPOIB-4391-10-VAL-014",
    .title = "A group that was sent to and is then joined is joined as FullMember, and heard",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins, &rfc4391::fabric_multicast},
    .pass_if = "the DUT becomes FullMember, and what is sent to the group comes to a program that listens",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"send", "join"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group of the tester");
            const auto joined = bench.sa.join(group);
            bench.dut.is_seen_to_send(group, port);
            bench.step("A program joins the group", rfc4391::receiver_full_member_join, rfc4392::receiver_joins);
            bench.dut->join(group);
            const bool is_member = bench.sa.has_dut_as_full_member(group, within(5s));
            bench.require(is_member, "FullMember of " + text(group),
                          "JoinState " + std::to_string(bench.sa.join_state_of_dut(joined.mgid)));
            if (!is_member || !bench.dut->can("listen") || !bench.dut->can("received")) return;
            bench.step("A datagram to the group", rfc4391::fabric_multicast);
            bench.control();
            bench.dut->listen(group, port);
            bench.require(bench.dut.receives(udp_to_group(group, joined.mlid(), port), port, within(2s)),
                          "the datagram at the program that listens", "none");
        },
};

}  // namespace ipoib::conformance

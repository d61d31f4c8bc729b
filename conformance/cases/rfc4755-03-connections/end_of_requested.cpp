// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case end_of_requested_connection{
    .id = "IPOIB-4755-3.4-VAL-003",
    .title = "The end of a connection that the DUT requested is confirmed, and unicast goes on",
    .checks = {&rfc4755::cm_connection_record, &rfc4755::cm_keeps_ud},
    .pass_if = "the tester's DREQ gets DREP; what the DUT sends later comes over UD or another connection",
    .tags = {"connected", "cm", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT requests a connection and gets it");
            bench.connection.dut_takes_part_and_sends();
            const auto req = bench.connection.taken_from_dut();
            const auto nonce = bench.situation().nonce;
            bench.step("The tester ends it", rfc4755::cm_connection_record);
            bench.send(cm_dreq(req, nonce));
            bench.require(drep_of_dut(nonce), within(3s));
            bench.step("What the DUT sends then arrives", rfc4755::cm_keeps_ud);
            bench.require(bench.connection.dut_reaches_tester(20s), "a datagram over UD or another connection");
        },
};

}  // namespace ipoib::conformance

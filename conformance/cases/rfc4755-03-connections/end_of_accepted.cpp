// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case end_of_accepted_connection{
    .id = "IPOIB-4755-3.4-VAL-002",
    .title = "The end of a connection that the DUT accepted is confirmed, and unicast goes on",
    .checks = {&rfc4755::cm_connection_record, &rfc4755::cm_keeps_ud},
    .pass_if = "the tester's DREQ gets DREP; echo requests are answered after it, and over another connection too",
    .tags = {"connected", "cm", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            bench.step("A connection that carries IP");
            bench.connection.dut_takes_part();
            bench.control();
            const auto first = bench.connection.establish();
            bench.send(over_connection(echo_request(), first, 0));
            bench.precondition(echo_reply(), within(2s));
            bench.step("The tester ends it", rfc4755::cm_connection_record);
            bench.send(cm_dreq(first));
            bench.require(drep_of_dut(first), within(3s));
            bench.step("Unicast goes on over UD", rfc4755::cm_keeps_ud);
            bench.send(echo_request());
            bench.require(echo_reply(), within(2s));
            bench.step("Another connection is accepted, or rejected", rfc4755::cm_connection_record);
            bench.send(cm_req());
            bench.require(answer_to_req(), within(3s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ip_over_a_connection{
    .id = "IPOIB-4755-7-VAL-002",
    .title = "Unicast IP over a reliable connection is accepted",
    .checks = {&rfc4755::cm_accepts_all_modes},
    .pass_if = "echo requests over the connection that the tester requested are answered",
    .tags = {"connected", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            bench.step("A connection");
            bench.control6();
            bench.connection.dut_takes_part();
            bench.control();
            const auto connection = bench.connection.establish();
            bench.step("IPv4 and IPv6 over it");
            bench.send(over_connection(echo_request(), connection, 0));
            bench.require(echo_reply(), within(2s));
            bench.send(over_connection(echo_request6(), connection, 1));
            bench.require(echo_reply6(), within(2s));
        },
};

}  // namespace ipoib::conformance

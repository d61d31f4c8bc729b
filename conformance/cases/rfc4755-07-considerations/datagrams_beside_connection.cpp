// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case datagrams_beside_a_connection{
    .id = "IPOIB-4755-7-VAL-001",
    .title = "Unicast IP over UD is accepted from a peer with a connection",
    .checks = {&rfc4755::cm_accepts_all_modes},
    .pass_if = "echo requests over UD of a tester that has a connection are answered",
    .tags = {"connected", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            bench.step("A connection");
            bench.control6();
            bench.connection.dut_takes_part();
            (void)bench.connection.establish();
            bench.step("IPv4 and IPv6 over UD");
            bench.send(echo_request());
            bench.require(echo_reply(), within(2s));
            bench.send(echo_request6());
            bench.require(echo_reply6(), within(2s));
        },
};

}  // namespace ipoib::conformance

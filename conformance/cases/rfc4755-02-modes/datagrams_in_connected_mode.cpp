// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case datagrams_in_connected_mode{
    .id = "IPOIB-4755-2-VAL-001",
    .title = "An interface in connected mode serves peers that have UD only",
    .checks = {&rfc4755::cm_keeps_ud},
    .pass_if = "ARP and echo requests of a tester without connected modes are answered over UD",
    .tags = {"connected", "arp", "ipv4", "ipv6"},
    .dut_can = {"set_mode"},
    .steps =
        [](Bench& bench) {
            const auto over_ud = Opcode::ud_send_only;
            bench.step("The DUT goes to connected mode");
            bench.control6();
            bench.connection.dut_takes_part();
            bench.step("Address resolution and unicast IP over UD");
            bench.send(arp_request());
            bench.require(arp_reply().with(Bth::opcode, over_ud), within(1s));
            bench.send(echo_request());
            bench.require(echo_reply().with(Bth::opcode, over_ud), within(1s));
            bench.send(echo_request6());
            bench.require(echo_reply6().with(Bth::opcode, over_ud), within(1s));
        },
};

}  // namespace ipoib::conformance

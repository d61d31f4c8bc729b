// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case requester_accepts_smaller_packets{
    .id = "IPOIB-4755-5.1-VAL-001",
    .title = "Who requested a connection accepts packets smaller than its Receive MTU",
    .checks = {&rfc4755::cm_smaller_packets},
    .pass_if = "echo requests of 28 to 1000 octets over the connection that the DUT requested are answered",
    .tags = {"connected", "mtu", "ipv4"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            constexpr std::array<std::size_t, 3> payloads{972, 56, 0};
            bench.step("The DUT requests a connection and gets it");
            bench.connection.dut_takes_part();
            bench.control();
            bench.tester.present(flag_rc);
            const auto req = bench.connection.requested_by_dut();
            bench.precondition(req[CmReq::local_qpn] != bench.situation().dut.qpn,
                               "the connection has a queue pair of its own");
            bench.send(cm_rep(req));
            bench.precondition(rtu_of_dut(), within(2s));
            // Where an answer could go over the connection it may; from a peer without RC it cannot be expected there.
            for (std::uint32_t number = 0; number < payloads.size(); ++number) {
                bench.step("An echo request with " + std::to_string(payloads[number]) + " octets of payload");
                bench.send(over_connection(echo_request(payloads[number]), req, number));
                if (number == 0 && !bench.happens(echo_reply(), within(3s)))
                    bench.not_applicable(
                        "the DUT takes nothing over a connection that it requested: it only sends there");
                bench.require(echo_reply(), within(3s));
            }
        },
};

}  // namespace ipoib::conformance

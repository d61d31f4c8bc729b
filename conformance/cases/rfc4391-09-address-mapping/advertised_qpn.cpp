// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case traffic_goes_to_the_advertised_qpn{
    .id = "IPOIB-4391-9.1.1-VAL-001",
    .title = "Answers and IP go to the QPN of the link-layer address, not to the queue pair that asked",
    .checks = {&rfc4391::arp_reply_to_advertised_qpn, &rfc4391::ip_to_advertised_qpn},
    .pass_if = "after a question from another queue pair the DUT's packets go to the QPN in its link-layer address",
    .tags = {"arp", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send", "flush_neighbours"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester;
            constexpr std::uint32_t another_qp = 0x00fedc;
            // A Neighbour Advertisement is an IP packet like any other.
            bench.step(
                "A question for its address comes from another queue pair",
                bench.situation().is_ipv6() ? rfc4391::ip_to_advertised_qpn : rfc4391::arp_reply_to_advertised_qpn);
            bench.dut->flush_neighbours();
            bench.send(address_request().with(Deth::src_qp, another_qp));
            bench.inspect(address_reply().with(Bth::dest_qp, tester.qpn), within(1s));

            bench.step("IP to the tester", rfc4391::ip_to_advertised_qpn);
            bench.dut->flush_neighbours();
            bench.send(address_request().with(Deth::src_qp, another_qp));
            bench.precondition(address_reply(), within(1s));
            const auto port = bench.fresh_port();
            const auto to = bench.situation().tester_address();
            bench.dut.sends(to, port);
            bench.inspect(udp_from_dut(to, port).with(Bth::dest_qp, tester.qpn), within(3s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case traffic_goes_to_the_advertised_qpn{
    .id = "IPOIB-4391-9.1.1-VAL-001",
    .title = "ARP replies and IP go to the QPN of the link-layer address, not to the queue pair that asked",
    .checks = {&rfc4391::arp_reply_to_advertised_qpn, &rfc4391::ip_to_advertised_qpn},
    .pass_if = "after an ARP request from another queue pair the DUT's packets go to the QPN in its sender address",
    .tags = {"arp"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send", "flush_neighbours"},
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester;
            constexpr std::uint32_t another_qp = 0x00fedc;
            bench.step("An ARP request comes from another queue pair", rfc4391::arp_reply_to_advertised_qpn);
            bench.dut->flush_neighbours();
            bench.send(arp_request().with(Deth::src_qp, another_qp));
            bench.inspect(arp_reply().with(Bth::dest_qp, tester.qpn), within(1s));

            bench.step("IP to the tester", rfc4391::ip_to_advertised_qpn);
            bench.dut->flush_neighbours();
            bench.send(arp_request().with(Deth::src_qp, another_qp));
            bench.precondition(arp_reply(), within(1s));
            const auto port = bench.fresh_port();
            bench.dut.sends(IpAddress::v4(tester.ipv4), port);
            bench.inspect(udp_from_dut(IpAddress::v4(tester.ipv4), port).with(Bth::dest_qp, tester.qpn), within(3s));
        },
};

}  // namespace ipoib::conformance

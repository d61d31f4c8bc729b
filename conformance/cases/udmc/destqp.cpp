// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case multicast_goes_to_the_multicast_qp{
    .id = "IPOIB-UDMC-INV-001",
    .title = "Multicast packets have DestQP FFFFFFh; with another they are discarded",
    .checks = {&udmc::multicast_destqp},
    .pass_if =
        "an ARP request to the broadcast group with the DUT's QPN as DestQP is not answered; the DUT's own "
        "multicast has FFFFFFh",
    .tags = {"mgid", "hca", "arp"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send"},
    .steps =
        [](Bench& bench) {
            bench.step("The DUT's own broadcast");
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            const auto port = bench.fresh_port();
            bench.dut.sends(everyone, port);
            bench.inspect(udp_from_dut(everyone, port).sent_anywhere().with(Bth::dest_qp, Bth::multicast_qp),
                          within(3s));

            bench.step("An ARP request to the broadcast group, DestQP FFFFFFh");
            bench.send(arp_request());
            bench.precondition(arp_reply(), within(1s));
            bench.step("The same with the DUT's QPN as DestQP");
            bench.control();
            bench.send(arp_request().with(Bth::dest_qp, bench.situation().dut.qpn));
            bench.forbid(arp_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case multicast_goes_to_the_multicast_qp{
    .id = "IPOIB-UDMC-INV-001",
    .title = "Multicast packets have DestQP FFFFFFh; with another they are discarded",
    .checks = {&udmc::multicast_destqp},
    .pass_if =
        "an ARP request to the broadcast group, or a Neighbour Solicitation to its group, with the DUT's QPN as DestQP "
        "is not answered; the DUT's own multicast has FFFFFFh",
    .tags = {"mgid", "hca", "arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            const bool is_ipv6 = bench.situation().is_ipv6();
            bench.step(is_ipv6 ? "The DUT's own multicast" : "The DUT's own broadcast");
            const auto to = is_ipv6 ? bench.fresh_group() : everyone;
            const auto port = bench.fresh_port();
            if (is_ipv6) bench.sa.join(to);
            bench.dut.sends(to, port);
            bench.inspect(udp_from_dut(to, port).sent_anywhere().with(Bth::dest_qp, Bth::multicast_qp), within(3s));

            bench.step("A question for its address to the group for that, DestQP FFFFFFh");
            const auto question = bench.address_request_to_group();
            bench.send_until(question, address_reply(), within(1s));
            bench.precondition(address_reply(), within(0ms));
            bench.step("The same with the DUT's QPN as DestQP");
            bench.control();
            bench.send(question.with(Bth::dest_qp, bench.situation().dut.qpn));
            bench.forbid(address_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance

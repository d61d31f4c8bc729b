// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case datagram_mode_ignores_flags{
    .id = "IPOIB-4755-3.1-INV-001",
    .title = "An interface without connected mode ignores the flags of a peer",
    .checks = {&rfc4755::ud_only_ignores_flags},
    .pass_if = "a peer that announces RC, UC or both is answered and gets IP over UD, and no REQ",
    .tags = {"connected", "arp"},
    .needs = Ability::see_all,
    .dut_can = {"send", "flush_neighbours"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            if ((bench.situation().dut.link_flags & (flag_rc | flag_uc)) != 0)
                bench.not_applicable("the DUT announces a connected mode");
            bench.step("An ordinary ARP request is answered");
            bench.send(arp_request());
            bench.precondition(arp_reply(), within(1s));
            for (const auto flags : std::array<std::uint8_t, 4>{0x80, 0x40, 0xc0, 0xff}) {
                bench.step("A peer with flags " + hex(flags, 2));
                // In this order: who asks the tester unasked learns these flags, too.
                bench.tester.present(flags);
                bench.dut->flush_neighbours();
                bench.send(arp_request());
                bench.require(arp_reply(), within(1s));
                const auto port = bench.fresh_port();
                const auto tester = IpAddress::v4(bench.situation().tester.ipv4);
                bench.dut.sends(tester, port);
                bench.require(over_ud(udp_from_dut(tester, port)), within(3s));
                bench.forbid_so_far(req_of_dut());
            }
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case connected_mode_ignores_reserved_flags{
    .id = "IPOIB-4755-3.1-INV-002",
    .title = "An interface in connected mode ignores the reserved flags of a peer",
    .checks = {&rfc4755::cm_flags_reserved_rx},
    .pass_if =
        "a peer with reserved flags beside RC is treated as one with RC, one with reserved flags only as one with UD",
    .tags = {"connected", "arp"},
    .needs = Ability::see_all | Ability::any_frame,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            // Each address is new to the DUT: none has a connection already.
            constexpr std::uint32_t first_qpn = 0xa00001;
            const auto tester = IpAddress::v4(bench.situation().tester.ipv4);
            const auto port = bench.fresh_port();
            const auto to_the_qpn = req_of_dut().such_that("for this QPN", [](const Packet& p, const Situation& s) {
                return ipoib_service_id(p.get<CmReq>())[IpoibServiceId::qpn] == s.tester.qpn;
            });
            bench.step("Reserved flags alone");
            bench.connection.dut_takes_part();
            bench.tester.present(0x3f, first_qpn);
            bench.dut->flush_neighbours();
            bench.send(arp_request());
            bench.require(arp_reply(), within(1s));
            bench.dut.sends(tester, port);
            bench.require(over_ud(udp_from_dut(tester, port)), within(3s));
            bench.forbid_so_far(to_the_qpn);

            bench.step("What the DUT does with a peer that announces RC");
            bench.tester.present(flag_rc, first_qpn + 1);
            bench.dut->flush_neighbours();
            bench.send(arp_request());
            bench.precondition(arp_reply(), within(1s));
            bench.dut.sends(tester, port);
            const bool connects = bench.happens(to_the_qpn, within(3s));

            bench.step("The same with reserved flags");
            bench.tester.present(flag_rc | 0x3f, first_qpn + 2);
            bench.dut->flush_neighbours();
            bench.send(arp_request());
            bench.require(arp_reply(), within(1s));
            bench.dut.sends(tester, port);
            bench.require(connects ? to_the_qpn : udp_from_dut(tester, port), within(3s));
        },
};

}  // namespace ipoib::conformance

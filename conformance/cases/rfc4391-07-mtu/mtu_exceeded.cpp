// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case nothing_exceeds_the_link_mtu{
    .id = "IPOIB-4391-7-INV-001",
    .title = "An IP packet that is longer than the link's MTU is sent in fragments",
    .checks = {&rfc4391::frame_within_link_mtu},
    .pass_if = "of a datagram one octet longer than the MTU no packet is longer than the MTU",
    .tags = {"mtu", "ipv4"},
    .dut_can = {"send"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto mtu = bench.situation().ip_mtu();
            const auto longest = mtu - Ipv4::size - Udp::size;
            const auto tester = IpAddress::v4(bench.situation().tester.ipv4);
            const auto fits = [mtu](auto length, auto&) { return length <= mtu; };

            bench.step("The longest datagram that fits");
            bench.control();
            bench.dut.sends(tester, bench.fresh_port(), longest);
            bench.inspect(udp_piece().where(Ipv4::total_length, fits, "at most " + std::to_string(mtu)), within(3s));
            bench.step("One octet more");
            // Where peers have MTUs of their own (RFC 4755, 4) the first datagrams may be what teaches the DUT this
            // one.
            constexpr int attempts = 3;
            bool is_seen = false;
            for (int i = 0; i < attempts && !is_seen; ++i) {
                bench.dut.sends(tester, bench.fresh_port(), longest + 1);
                is_seen = bench.happens(udp_piece().sent_anywhere(), within(2s));
            }
            bench.inspect(udp_piece().sent_anywhere().where(Ipv4::total_length, fits, "at most " + std::to_string(mtu)),
                          within(1s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case nothing_exceeds_the_link_mtu{
    .id = "IPOIB-4391-7-INV-001",
    .title = "An IP packet that is longer than the link's MTU is sent in fragments",
    .checks = {&rfc4391::frame_within_link_mtu},
    .pass_if =
        "of a datagram one octet longer than the MTU no packet is longer than the MTU; a DUT that refuses to send it "
        "keeps to that, too",
    .tags = {"mtu", "ipv4", "ipv6"},
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto& now = bench.situation();
            const auto longest = now.ip_mtu() - now.ip_header() - Udp::size;
            const auto tester = now.tester_address();
            const auto piece = udp_piece().with_ip_length_up_to(now.family, now.ip_mtu());

            bench.step("The longest datagram that fits");
            bench.control();
            bench.dut.sends(tester, bench.fresh_port(), longest);
            bench.inspect(piece, within(3s));
            bench.step("One octet more");
            // Where peers have MTUs of their own (RFC 4755, 4) the first datagrams may be what teaches the DUT this
            // one.
            constexpr int attempts = 3;
            bool is_seen = false, is_taken = false;
            for (int i = 0; i < attempts && !is_seen; ++i) {
                is_taken = bench.dut.tries_to_send(tester, bench.fresh_port(), longest + 1) || is_taken;
                is_seen = bench.happens(udp_piece().sent_anywhere(), within(2s));
            }
            if (!is_seen && !is_taken) {
                bench.require(true, "nothing longer");
                return bench.note("the DUT refuses to send what is longer than its MTU");
            }
            bench.inspect(piece.sent_anywhere(), within(1s));
        },
};

}  // namespace ipoib::conformance

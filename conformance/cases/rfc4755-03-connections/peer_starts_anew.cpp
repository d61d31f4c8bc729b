// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case peer_starts_anew{
    .id = "IPOIB-4755-3.2-INO-002",
    .title = "A peer that lost its connection, or has another queue pair, is reached again",
    .checks = {&rfc4755::cm_connection_record},
    .pass_if =
        "what the DUT sends comes over UD or a connection that it requests anew: of the same QPN within 60 s, of "
        "another one that the tester announces within 20 s",
    .tags = {"connected", "cm", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 140s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT requests a connection and gets it");
            bench.connection.dut_takes_part_and_sends();
            (void)bench.connection.taken_from_dut();
            bench.step("The tester forgets it without a word");
            bench.connection.forget_all();
            bench.require(bench.connection.dut_reaches_tester(60s, 0, 10s), "a datagram over UD or another connection");
            bench.step("It starts anew, with another queue pair, and announces that");
            constexpr std::uint32_t another = 0xa10000;
            bench.connection.forget_all();
            bench.tester.present(flag_rc, another | bench.fresh_port());
            bench.dut->flush_neighbours();
            bench.send_until(arp_request(), arp_reply(), within(1s));
            bench.send(announcement());
            bench.require(bench.connection.dut_reaches_tester(20s), "a datagram over UD or another connection");
        },
};

}  // namespace ipoib::conformance

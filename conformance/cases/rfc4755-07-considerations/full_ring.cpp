// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case full_ring_is_used_again{
    .id = "IPOIB-4755-7-VAL-003",
    .title = "A connection whose peer was slow to acknowledge is used again",
    .checks = {&rfc4755::cm_keeps_ud},
    .pass_if = "after 290 datagrams without acknowledgements, which come then, what the DUT sends arrives again",
    .tags = {"connected", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            // More than rings usually have, and few enough beyond that nobody takes the adapter for dead.
            constexpr int datagrams = 290;
            bench.step("The DUT requests a connection and gets it");
            bench.connection.dut_takes_part_and_sends();
            (void)bench.connection.taken_from_dut();
            bench.step("The DUT sends, and the tester acknowledges nothing");
            const auto tester = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            bench.connection.withhold_acknowledgements(true);
            for (int i = 0; i < datagrams; ++i) bench.dut.tries_to_send(tester, port);
            bench.connection.withhold_acknowledgements(false);
            bench.step("What it sends afterwards arrives");
            bench.require(bench.connection.dut_reaches_tester(40s), "a datagram over UD or a connection");
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case request_is_rejected{
    .id = "IPOIB-4755-3.1-INO-001",
    .title = "A peer that rejected a connection is reached all the same",
    .checks = {&rfc4755::cm_keeps_ud},
    .pass_if =
        "after the tester's REJ what the DUT sends comes over UD or a connection that it requests anew, within "
        "30 s",
    .tags = {"connected", "cm", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT requests a connection, which the tester rejects");
            bench.connection.dut_takes_part_and_sends();
            bench.connection.present_anew();
            const auto req = bench.connection.requested_by_dut();
            bench.send(cm_rej(req));
            bench.pass_time(1s);
            bench.step("What the DUT sends then arrives");
            bench.require(bench.connection.dut_reaches_tester(30s), "a datagram over UD or another connection");
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case request_is_not_answered{
    .id = "IPOIB-4755-3.1-INO-002",
    .title = "A peer that does not answer a REQ is reached all the same, in the end",
    .checks = {&rfc4755::cm_keeps_ud},
    .pass_if =
        "what the DUT sends comes over UD or a connection that it requests anew, within 150 s, and "
        "goes on coming",
    .tags = {"connected", "cm", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 220s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT requests a connection, and hears nothing");
            bench.connection.dut_takes_part_and_sends();
            bench.connection.present_anew();
            const auto req = bench.connection.requested_by_dut();
            bench.step("What the DUT sends arrives in the end");
            const auto unheard = req[CmReq::local_comm_id];
            constexpr auto words = "a datagram over UD or another connection";
            bench.require(bench.connection.dut_reaches_tester(150s, unheard), words);
            bench.step("It still does when nobody hopes for an answer any more");
            bench.pass_time(20s);
            bench.require(bench.connection.dut_reaches_tester(30s, unheard), words);
        },
};

}  // namespace ipoib::conformance

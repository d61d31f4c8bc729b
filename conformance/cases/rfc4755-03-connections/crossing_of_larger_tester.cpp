// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case crossing_of_larger_tester{
    .id = "IPOIB-4755-3.3-INO-002",
    .title = "Of crossing REQs the side with the smaller address accepts the other one",
    .checks = {&rfc4755::cm_crossing_requests},
    .pass_if = "while the DUT's REQ is open, a REQ from the larger address that it went to gets REP",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT takes a connection");
            bench.connection.dut_takes_part();
            bench.send(cm_dreq(bench.connection.establish()));
            bench.step("It requests one from an address that is larger than its own");
            bench.tester.present(flag_rc, 0xfffffe);
            (void)bench.connection.requested_by_dut();
            bench.step("A REQ from there crosses its own");
            bench.send(cm_req());
            bench.require(rep_of_dut(), within(2s));
        },
};

}  // namespace ipoib::conformance

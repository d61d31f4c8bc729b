// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case second_request_leaves_the_connection{
    .id = "IPOIB-4755-3.2-INO-001",
    .title = "A second REQ with the same Service-ID does not break the first connection",
    .checks = {&rfc4755::cm_connection_record},
    .pass_if =
        "the second REQ is answered by REP or REJ; the first connection still carries IP and its end is confirmed",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            bench.step("A connection that carries IP");
            bench.connection.dut_takes_part();
            const auto first = bench.connection.establish();
            bench.send(over_connection(echo_request(), first, 0));
            bench.precondition(echo_reply(), within(2s));
            bench.step("A second REQ is answered");
            bench.send(cm_req());
            bench.require(answer_to_req(), within(2s));
            if (bench.happens(rep_of_dut(), within(0s)))
                bench.send(cm_rtu(bench.obtain<CmRep>(rep_of_dut(), within(0s))));
            bench.pass_time(1s);
            bench.forbid_so_far(dreq_of_dut(first));
            bench.step("The first connection is still there");
            bench.send(over_connection(echo_request(), first, 1));
            bench.require(echo_reply(), within(2s));
            bench.send(cm_dreq(first));
            bench.require(drep_of_dut(first), within(2s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case connection_has_its_own_queue_pair{
    .id = "IPOIB-4755-2.2-VAL-001",
    .title = "A connection has a queue pair of its own beside the UD queue pair",
    .checks = {&rfc4755::cm_queue_pairs},
    .pass_if = "the QPN of the DUT's link-layer address takes datagrams; the QPN in its REP is another",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .steps =
        [](Bench& bench) {
            bench.step("The DUT goes to connected mode; its UD queue pair answers");
            bench.connection.dut_takes_part();
            bench.control();
            bench.step("It accepts a connection");
            bench.connection.request();
            bench.inspect(rep_of_dut().where(
                              CmRep::local_qpn,
                              [](auto qpn, const Situation& situation) { return qpn > 1 && qpn != situation.dut.qpn; },
                              "a queue pair other than the UD queue pair"),
                          within(1s));
        },
};

}  // namespace ipoib::conformance

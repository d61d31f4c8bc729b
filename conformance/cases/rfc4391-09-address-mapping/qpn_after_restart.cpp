// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case qpn_after_restart{
    .id = "IPOIB-4391-9.4-VAL-002",
    .title = "Whether the QPN stays the same over a restart",
    .checks = {&rfc4391::static_qpn_entries},
    .pass_if = "observed only: peers may keep a QPN for good where it never changes",
    .tags = {"arp"},
    .dut_can = {"restart"},
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto before = bench.situation().dut.qpn;
            bench.step("The DUT restarts");
            bench.dut->restart();
            bench.dut.comes_up();
            const auto after = bench.situation().dut.qpn;
            bench.require(true, "either");
            bench.note("the QPN was " + hex(before, 6) + " and is " + hex(after, 6) +
                       (before == after ? ": the same" : ": peers must not keep it for good"));
        },
};

}  // namespace ipoib::conformance

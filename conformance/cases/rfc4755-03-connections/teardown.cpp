// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case interface_ends_its_connections{
    .id = "IPOIB-4755-3.4-VAL-001",
    .title = "Connections end with their interface",
    .checks = {&rfc4755::cm_teardown},
    .pass_if = "when its interface goes down the DUT sends DREQ for its connection",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "down"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            bench.step("A connection");
            bench.connection.dut_takes_part();
            const auto connection = bench.connection.establish();
            bench.control();
            bench.step("The interface goes down");
            bench.dut->down();
            bench.require(dreq_of_dut(connection), within(5s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case private_data_reserved_ignored{
    .id = "IPOIB-4755-6-INV-001",
    .title = "A receiver ignores the Reserved octet in the private data of a REQ",
    .checks = {&rfc4755::cm_private_data_reserved_rx},
    .pass_if = "a REQ with the octet set is accepted as one without it",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint8_t all_bits = 0xff;
            bench.step("A REQ with the octet zero is accepted, and the connection ended");
            bench.connection.dut_takes_part();
            bench.send(cm_dreq(bench.connection.establish()));
            bench.step("A REQ with the octet set");
            bench.send(cm_req(all_bits));
            bench.require(rep_of_dut(), within(2s));
        },
};

}  // namespace ipoib::conformance

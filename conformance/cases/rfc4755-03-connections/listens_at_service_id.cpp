// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case listens_at_service_id{
    .id = "IPOIB-4755-3.5-VAL-002",
    .title = "An interface in connected mode takes REQs at the Service-ID of its UD queue pair",
    .checks = {&rfc4755::cm_service_id},
    .pass_if =
        "a REQ at Service-ID 01h, zeros, the DUT's UD QPN is not rejected as one for a service that is not there",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .steps =
        [](Bench& bench) {
            bench.step("The DUT is asked at the Service-ID of its UD queue pair");
            bench.connection.dut_takes_part();
            bench.send(cm_req());
            bench.precondition(answer_to_req(), within(2s));
            const auto refused = rej_of_dut().such_that("as of no service", [](const Packet& p, const Situation&) {
                constexpr std::uint16_t invalid_service_id = 8;
                return p.get<CmRej>()[CmRej::reason] == invalid_service_id;
            });
            bench.require(!bench.happens(refused, within(0s)), "REP, or REJ for another reason",
                          "REJ: invalid service ID");
        },
};

}  // namespace ipoib::conformance

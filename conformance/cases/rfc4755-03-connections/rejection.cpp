// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case rejection_names_the_ud_queue_pair{
    .id = "IPOIB-4755-3.2-INV-001",
    .title = "A REJ has the UD QPN of its sender in its private data",
    .checks = {&rfc4755::cm_reject_carries_ud_qpn},
    .pass_if =
        "where the DUT rejects a REQ for another transport service, the REJ has the QPN of its link-layer address",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT takes a connection");
            bench.connection.dut_takes_part();
            bench.send(cm_dreq(bench.connection.establish()));
            bench.step("A REQ for a transport service that no IPoIB interface has");
            constexpr std::uint8_t extended = 3;
            bench.send(cm_req().with(CmReq::transport_service_type, extended));
            // That nobody listens is what the adapter says, not the interface.
            const auto rejected = rej_of_dut().such_that("by the interface", [](const Packet& p, const Situation&) {
                constexpr std::uint16_t invalid_service_id = 8;
                return p.get<CmRej>()[CmRej::reason] != invalid_service_id;
            });
            if (!bench.happens(rejected, within(2s))) bench.not_applicable("the DUT does not reject it");
            bench.inspect(with_private_data(rejected, CmPrivateData::ud_qpn, bench.situation().dut.qpn), within(1s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case receive_mtu_observed{
    .id = "IPOIB-4755-5-VAL-002",
    .title = "The Receive MTU that an interface announces",
    .checks = {&rfc4755::cm_larger_mtu},
    .pass_if = "the DUT requests a connection; whether its Receive MTU is more than 2048 octets is noted",
    .tags = {"connected", "cm", "mtu"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT requests a connection");
            bench.connection.dut_takes_part();
            bench.tester.present(flag_rc);
            const auto req = bench.connection.requested_by_dut();
            const auto data = ipoib_private_data(View<CmReq>::at(req.octets));
            const auto mtu = data[CmPrivateData::receive_mtu];
            constexpr std::uint32_t usual = 2048;
            bench.require(true, "a REQ");
            bench.note("the DUT announces a Receive MTU of " + std::to_string(mtu) + " octets, " +
                       (mtu > usual ? "more than" : "not more than") + " that of UD");
        },
};

}  // namespace ipoib::conformance

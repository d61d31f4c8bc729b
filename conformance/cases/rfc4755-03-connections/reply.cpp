// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case reply_names_the_ud_queue_pair{
    .id = "IPOIB-4755-3.2-VAL-001",
    .title = "A REP has the UD QPN and the Receive MTU of its sender in its private data",
    .checks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format,
               &rfc4755::cm_private_data_reserved_tx},
    .pass_if =
        "the private data of the DUT's REP begin with a zero octet, the QPN of its link-layer address and an MTU",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .steps =
        [](Bench& bench) {
            constexpr auto is_mtu = [](const std::uint32_t& mtu) { return mtu != 0 && mtu <= 0x80000000; };
            bench.step("The DUT accepts a connection: the UD QPN", rfc4755::cm_setup_carries_ud_qpn,
                       rfc4755::cm_private_data_format);
            bench.connection.dut_takes_part();
            bench.connection.request();
            bench.inspect(with_private_data(rep_of_dut(), CmPrivateData::ud_qpn, bench.situation().dut.qpn),
                          within(1s));
            bench.same_step("The Receive MTU", rfc4755::cm_private_data_format);
            bench.inspect(with_private_data(rep_of_dut(), CmPrivateData::receive_mtu, +is_mtu, "1 to 2^31 octets"),
                          within(1s));
            bench.same_step("The Reserved octet", rfc4755::cm_private_data_reserved_tx);
            bench.inspect(with_private_data(rep_of_dut(), CmPrivateData::reserved, 0), within(1s));
        },
};

}  // namespace ipoib::conformance

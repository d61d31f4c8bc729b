// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case request_of_the_dut{
    .id = "IPOIB-4755-3.5-VAL-001",
    .title = "A REQ names the peer's UD queue pair in its Service-ID, and the sender's in its private data",
    .checks = {&rfc4755::cm_service_id, &rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_receive_mtu,
               &rfc4755::cm_private_data_format, &rfc4755::cm_private_data_reserved_tx},
    .pass_if =
        "the DUT's REQ has Service-ID 01h, zeros, the tester's UD QPN; its private data a zero octet, the DUT's UD QPN "
        "and an MTU; its RTU the UD QPN too",
    .tags = {"connected", "cm"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "send", "flush_neighbours"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            constexpr auto is_mtu = [](const std::uint32_t& mtu) { return mtu != 0 && mtu <= 0x80000000; };
            const auto qpn = bench.situation().dut.qpn;
            bench.step("The DUT requests a connection: the Service-ID", rfc4755::cm_service_id);
            bench.connection.dut_takes_part();
            bench.tester.present(flag_rc);
            const auto req = bench.connection.requested_by_dut();
            const auto service = std::uint64_t{IpoibServiceId::ietf} << 56 | bench.situation().tester.qpn;
            bench.inspect(req_of_dut().with(CmReq::service_id, service), within(1s));
            bench.same_step("The UD QPN", rfc4755::cm_setup_carries_ud_qpn, rfc4755::cm_private_data_format);
            bench.inspect(with_private_data(req_of_dut(), CmPrivateData::ud_qpn, qpn), within(1s));
            bench.same_step("The Receive MTU", rfc4755::cm_receive_mtu, rfc4755::cm_private_data_format);
            bench.inspect(with_private_data(req_of_dut(), CmPrivateData::receive_mtu, +is_mtu, "1 to 2^31 octets"),
                          within(1s));
            bench.same_step("The Reserved octet", rfc4755::cm_private_data_reserved_tx);
            bench.inspect(with_private_data(req_of_dut(), CmPrivateData::reserved, 0), within(1s));
            bench.step("The UD QPN in its RTU", rfc4755::cm_setup_carries_ud_qpn);
            bench.send(cm_rep(req));
            bench.inspect(with_private_data(rtu_of_dut(), CmPrivateData::ud_qpn, qpn), within(2s));
        },
};

}  // namespace ipoib::conformance

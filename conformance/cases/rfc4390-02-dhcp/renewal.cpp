// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case dhcp_client_renews{
    .id = "IPOIB-4390-2.2-VAL-001",
    .title = "A DHCP client that has its address asks for no broadcast",
    .checks = {&rfc4390::broadcast_flag_clear},
    .pass_if = "the DHCPREQUEST of a renewal, which has ciaddr, and that of a rebinding have the BROADCAST flag clear",
    .tags = {"dhcp"},
    .dut_can = {"dhcp"},
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            const Lease lease{.address = bench.free_address()};
            const auto with_ciaddr =
                dhcp_of_dut(DhcpType::request).such_that("with ciaddr", [](const Packet& p, const Situation&) {
                    return dhcp_of(p)[Dhcp::ciaddr] != 0;
                });
            const auto without_flag = with_dhcp(with_ciaddr, Dhcp::broadcast, false);
            bench.step("A client gets an address for a short time");
            bench.dut->dhcp(true);
            const auto discover = bench.obtain(dhcp_of_dut(DhcpType::discover), within(20s), dhcp_of);
            bench.send(dhcp_reply(DhcpType::offer, discover, lease));
            const auto request = bench.obtain(dhcp_of_dut(DhcpType::request), within(5s), dhcp_of);
            bench.send(dhcp_reply(DhcpType::ack, request, lease));
            bench.step("It renews its lease, and again after the ACK");
            const auto renewal = bench.obtain(with_ciaddr, stated(15s), dhcp_of);
            bench.inspect(without_flag, within(1s));
            bench.send(dhcp_reply(DhcpType::ack, renewal, lease));
            bench.inspect(without_flag, stated(15s));
        },
};

}  // namespace ipoib::conformance

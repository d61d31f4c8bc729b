// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4390-02-dhcp/client_message.hpp"

namespace ipoib::conformance {

const Case dhcp_client_renews{
    .id = "IPOIB-4390-2.2-VAL-001",
    .title = "A DHCP client that has its address asks for no broadcast",
    .checks = {&rfc4390::broadcast_flag_clear, &rfc4390::htype, &rfc4390::hlen, &rfc4390::chaddr_zero,
               &rfc4390::client_identifier_present, &rfc4390::client_identifier_format},
    .pass_if =
        "the DHCPREQUEST of a renewal and that of a rebinding, which have ciaddr, and the DHCPRELEASE have the "
        "BROADCAST flag clear, htype 32, hlen 0, chaddr zero and the client identifier of the DHCPDISCOVER",
    .tags = {"dhcp"},
    .dut_can = {"dhcp"},
    .lasts_at_most = 110s,
    .steps =
        [](Bench& bench) {
            const Lease lease{.address = bench.free_address(), .rebinding = 12};
            const auto with_ciaddr =
                dhcp_of_dut(DhcpType::request).such_that("with ciaddr", [](const Packet& p, const Situation&) {
                    return dhcp_of(p)[Dhcp::ciaddr] != 0;
                });
            const auto without_flag = with_dhcp(with_ciaddr, Dhcp::broadcast, false);
            bench.step("A client gets an address for a short time", rfc4390::broadcast_flag_clear);
            bench.dut->dhcp(true);
            const auto discover = bench.obtain(dhcp_of_dut(DhcpType::discover), within(20s), dhcp_of);
            const ClientName name(bench, dhcp_of_dut(DhcpType::discover), within(1s));
            bench.send(dhcp_reply(DhcpType::offer, discover, lease));
            const auto request = bench.obtain(dhcp_of_dut(DhcpType::request), within(5s), dhcp_of);
            bench.send(dhcp_reply(DhcpType::ack, request, lease));
            bench.step("It renews its lease, and again after the ACK", rfc4390::broadcast_flag_clear);
            const auto renewal = bench.obtain(with_ciaddr, stated(15s), dhcp_of);
            bench.inspect(without_flag, within(1s));
            bench.send(dhcp_reply(DhcpType::ack, renewal, lease));
            bench.inspect(without_flag, stated(15s));
            judge_client_message(bench, with_ciaddr, name);

            bench.step("Nobody answers: it asks any server", rfc4390::broadcast_flag_clear);
            // RFC 2131, 4.4.5: of one that has its address, and chooses no server.
            const auto rebinding =
                dhcp_of_dut(DhcpType::request)
                    .such_that("by broadcast, without an offer", [](const Packet& p, const Situation&) {
                        return p.ipv4[Ipv4::destination] == 0xffffffff &&
                               !dhcp_number(udp_payload(p), dhcp_option::requested_address);
                    });
            if (bench.happens(rebinding, stated(15s))) {
                bench.inspect(with_dhcp(rebinding, Dhcp::ciaddr, lease.address), within(0s));
                bench.inspect(with_dhcp(rebinding, Dhcp::broadcast, false), within(0s));
                judge_client_message(bench, rebinding, name);
            }
            bench.step("It gives its address back", rfc4390::broadcast_flag_clear);
            bench.dut->dhcp(false);
            const auto release = dhcp_of_dut(DhcpType::release);
            if (!bench.happens(release, within(3s))) return;
            bench.inspect(with_dhcp(release, Dhcp::broadcast, false), within(0s));
            judge_client_message(bench, release, name);
        },
};

}  // namespace ipoib::conformance

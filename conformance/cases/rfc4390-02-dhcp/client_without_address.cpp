// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4390-02-dhcp/client_message.hpp"

namespace ipoib::conformance {

const Case dhcp_client_without_address{
    .id = "IPOIB-4390-2.1-VAL-001",
    .title = "A DHCP client names itself by a client identifier, not by its hardware address, and asks for broadcasts",
    .checks = {&rfc4390::broadcast_reply_requested, &rfc4390::htype, &rfc4390::hlen, &rfc4390::chaddr_zero,
               &rfc4390::client_identifier_present, &rfc4390::client_identifier_format, &rfc4390::broadcast_flag_set},
    .pass_if =
        "DHCPDISCOVER and the DHCPREQUEST after an offer have htype 32, hlen 0, chaddr zero, an IAID and a DUID, the "
        "same in both, the BROADCAST flag, ciaddr 0",
    .tags = {"dhcp"},
    .dut_can = {"dhcp"},
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto judge = [&bench](DhcpType type, const ClientName& name) {
                const auto message = dhcp_of_dut(type);
                const auto soon = within(1s);
                judge_client_message(bench, message, name);
                bench.same_step("The BROADCAST flag", rfc4390::broadcast_reply_requested, rfc4390::broadcast_flag_set);
                bench.inspect(with_dhcp(message, Dhcp::broadcast, true), soon);
                bench.same_step("ciaddr", rfc4390::broadcast_flag_set);
                bench.inspect(with_dhcp(message, Dhcp::ciaddr, 0), soon);
            };
            bench.step("A client begins");
            bench.dut->dhcp(true);
            const auto discover = bench.obtain(dhcp_of_dut(DhcpType::discover), within(20s), dhcp_of);
            const ClientName name(bench, dhcp_of_dut(DhcpType::discover), within(1s));
            judge(DhcpType::discover, name);
            bench.step("It takes an offer");
            bench.send(dhcp_reply(DhcpType::offer, discover, {.address = bench.free_address()}));
            bench.precondition(dhcp_of_dut(DhcpType::request), within(5s));
            judge(DhcpType::request, name);
        },
};

}  // namespace ipoib::conformance

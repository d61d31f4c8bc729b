// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange dhcp{
    .id = "INTEROP-DHCP",
    .title = "One gets an address from the other by DHCP, and has it",
    .how = "each is server and client, as far as it can be; the address is then spoken to",
    .order = 90,
    .checks = joined(
        of_ipv4, std::array{&rfc4390::broadcast_flag_set, &rfc4390::client_identifier_format, &rfc4390::server_reply}),
    .dut_can = {"ping"},
    .steps =
        [](Meeting& meeting) {
            meeting.need(Family::ipv4);
            // RFC 2131, 2: what every client must take. A message has 300 octets and more.
            constexpr std::size_t least_mtu = 576;
            for (const auto side : both_sides)
                if (const auto mtu = meeting.peer(side).facts.mtu; mtu != 0 && mtu < least_mtu)
                    meeting.not_applicable(side, "takes packets of " + std::to_string(mtu) + " octets, DHCP has " +
                                                     std::to_string(least_mtu));
            bool is_possible = false;
            for (const auto way : both_ways) {
                if (!meeting.can(way.from, "dhcp_server") || !meeting.can(way.to, "dhcp")) continue;
                is_possible = true;
                meeting.lease(way);
            }
            if (!is_possible) meeting.not_applicable("neither is a DHCP server where the other is a client");
        },
};

}  // namespace ipoib::conformance::interop

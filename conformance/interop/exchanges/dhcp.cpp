// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange dhcp{
    .id = "INTEROP-DHCP",
    .title = "One gets an address from the other by DHCP, and has it",
    .how = "each is server and client, as far as it can be; the address is then spoken to",
    .order = 90,
    .checks = joined(of_ipv4, std::array{&rfc4390::broadcast_flag_set, &rfc4390::server_reply}),
    .dut_can = {"ping"},
    .steps =
        [](Meeting& meeting) {
            meeting.need(Family::ipv4);
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

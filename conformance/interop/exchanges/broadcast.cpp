// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange broadcast{
    .id = "INTEROP-BROADCAST",
    .title = "Each hears the other's broadcasts",
    .how = "a datagram to 255.255.255.255, both ways",
    .order = 40,
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::broadcast_group_carries_broadcasts,
               &rfc4391::encap_type_demultiplexing},
    .dut_can = {"send", "listen", "received"},
    .steps =
        [](Meeting& meeting) {
            meeting.need(Family::ipv4);
            for (const auto way : both_ways) meeting.datagram(way, wire::IpAddress::v4(0xffffffff));
        },
};

}  // namespace ipoib::conformance::interop

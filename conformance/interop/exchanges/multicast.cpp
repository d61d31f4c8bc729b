// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {
namespace {

/// Each is sender, receiver and creator of a group once.
void multicast_both_ways(Meeting& meeting, Family family) {
    meeting.need(family);
    for (const auto way : both_ways) {
        const auto of_receiver = meeting.fresh_group(family), of_sender = meeting.fresh_group(family);
        meeting.join(way.to, of_receiver);
        meeting.datagram(way, of_receiver);
        meeting.join(way.from, of_sender);
        meeting.join(way.to, of_sender);
        meeting.datagram(way, of_sender);
        // What the sender knows of the group is of no use any more: the next one of its MGID may have another MLID.
        meeting.leave(way.to, of_receiver);
        meeting.join(way.to, meeting.fresh_group(family));
        meeting.join(way.to, of_receiver);
        meeting.datagram(way, of_receiver);
    }
}

}  // namespace

const Exchange multicast_ipv4{
    .id = "INTEROP-MULTICAST-IPV4",
    .title = "Each is sender, receiver and creator of IPv4 groups with the other",
    .how = "the receiver creates the group, or the sender does; it ends, and is made again; both ways",
    .order = 50,
    .checks = joined(of_groups),
    .dut_can = {"join", "leave", "send", "listen", "received"},
    .steps = [](Meeting& meeting) { multicast_both_ways(meeting, Family::ipv4); },
};

const Exchange multicast_ipv6{
    .id = "INTEROP-MULTICAST-IPV6",
    .title = "Each is sender, receiver and creator of IPv6 groups with the other",
    .how = "the same with groups of IPv6",
    .order = 60,
    .checks = joined(of_groups),
    .dut_can = {"join", "leave", "send", "listen", "received"},
    .steps = [](Meeting& meeting) { multicast_both_ways(meeting, Family::ipv6); },
};

}  // namespace ipoib::conformance::interop

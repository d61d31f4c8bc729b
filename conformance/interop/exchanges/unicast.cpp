// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {
namespace {

void ping_both_ways(Meeting& meeting, Family family) {
    meeting.need(family);
    for (const auto way : both_ways) {
        // Whoever is asked knows who asks: without this the second way would need no resolution.
        meeting.forget_each_other();
        for (const auto size : meeting.sizes(family))
            if (!meeting.ping(way, family, size)) break;
    }
}

}  // namespace

const Exchange unicast_ipv4{
    .id = "INTEROP-UNICAST-IPV4",
    .title = "Each reaches the other by IPv4, with packets of all sizes",
    .how = "echo requests with 0, 56, as many octets as one packet takes, one more, and in many fragments; both ways",
    .order = 20,
    .checks = joined(of_ipv4),
    .dut_can = {"ping"},
    .steps = [](Meeting& meeting) { ping_both_ways(meeting, Family::ipv4); },
};

const Exchange unicast_ipv6{
    .id = "INTEROP-UNICAST-IPV6",
    .title = "Each reaches the other by IPv6, with packets of all sizes",
    .how = "the same between link-local addresses",
    .order = 30,
    .checks = joined(of_ipv6),
    .dut_can = {"ping"},
    .steps = [](Meeting& meeting) { ping_both_ways(meeting, Family::ipv6); },
};

}  // namespace ipoib::conformance::interop

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange new_queue_pair{
    .id = "INTEROP-NEW-QPN",
    .title = "One that has another queue pair after a restart is reached again",
    .how = "the two know each other; one restarts, speaks first, and is spoken to; then the other does",
    .order = 70,
    .checks = joined(of_ipv4, std::array{&rfc4391::broadcast_full_member_join}),
    .dut_can = {"ping", "restart"},
    .steps =
        [](Meeting& meeting) {
            constexpr std::size_t few = 56;
            meeting.need(Family::ipv4);
            for (const auto way : both_ways) {
                if (!meeting.ping(way, Family::ipv4, few)) continue;
                meeting.restart(way.from);
                static_cast<void>(meeting.ping(way, Family::ipv4, few));
                static_cast<void>(meeting.ping({way.to, way.from}, Family::ipv4, few));
            }
        },
    .lasts_at_most = 180s,
};

const Exchange manager_restarts{
    .id = "INTEROP-SM-RESTART",
    .title = "Both go on when the subnet manager has restarted and knows nothing",
    .how =
        "manager and administrator stop and start with an empty database; both join again, also a group of a program",
    .order = 100,
    .checks = joined(of_ipv4, of_groups, std::array{&rfc4391::broadcast_full_member_join}),
    .dut_can = {"ping", "join", "send", "listen", "received"},
    .steps =
        [](Meeting& meeting) {
            constexpr std::size_t few = 56;
            meeting.need(Family::ipv4);
            Each<wire::IpAddress> groups;
            for (const auto side : both_sides) meeting.join(side, groups[side] = meeting.fresh_group(Family::ipv4));
            meeting.step("The subnet manager restarts");
            meeting.restart_manager();
            for (const auto way : both_ways) {
                static_cast<void>(meeting.ping(way, Family::ipv4, few));
                meeting.datagram(way, groups[way.to]);
            }
        },
    .lasts_at_most = 200s,
};

}  // namespace ipoib::conformance::interop

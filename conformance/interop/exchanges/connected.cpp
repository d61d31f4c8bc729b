// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange connected_mode{
    .id = "INTEROP-CONNECTED",
    .title = "Connected mode works with datagram mode, and with itself",
    .how = "one is set to connected mode, then the other, then both; echo requests both ways each time",
    .order = 80,
    .checks = joined(of_ipv4, std::array{&rfc4755::cm_accepts_all_modes}),
    .dut_can = {"ping"},
    .steps =
        [](Meeting& meeting) {
            constexpr std::array<std::size_t, 3> sizes{0, 56, 1400};
            meeting.need(Family::ipv4);
            const auto talk = [&] {
                for (const auto way : both_ways)
                    for (const auto size : sizes)
                        if (!meeting.ping(way, Family::ipv4, size)) break;
            };
            Each<bool> is_able;
            for (const auto side : both_sides) {
                is_able[side] = meeting.set_mode(side, "connected");
                if (!is_able[side]) continue;
                talk();
                if (!meeting.set_mode(side, "datagram")) meeting.not_applicable(side, "does not go back to datagrams");
            }
            if (!is_able.dut && !is_able.against) meeting.not_applicable("neither has connected mode");
            if (!is_able.dut || !is_able.against) return;
            for (const auto side : both_sides) static_cast<void>(meeting.set_mode(side, "connected"));
            talk();
        },
    .lasts_at_most = 180s,
};

}  // namespace ipoib::conformance::interop

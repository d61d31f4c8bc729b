// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a link by its width and speed. IBTA Vol 1, 14.2.5.6 and 15.2.5.16.
#pragma once

#include "protocol/wire/port_info.hpp"

namespace ipoib::fabric::simulated {

/// The rate code of a port's link as its PortInfo tells it; 10 Gb/s where it tells nothing that is known.
[[nodiscard]] constexpr std::uint8_t rate_of(const wire::View<wire::PortInfo>& info) noexcept {
    struct Row {
        unsigned from, to;
    };
    constexpr std::array<Row, 5> lanes{{{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};
    // In tenths of Gb/s for each lane.
    constexpr std::array<Row, 3> speeds{{{1, 25}, {2, 50}, {4, 100}}};
    constexpr std::array<Row, 4> extended_speeds{{{1, 140}, {2, 250}, {4, 500}, {8, 1000}}};
    constexpr std::array<Row, 22> codes{{{25, 2},    {50, 5},    {100, 3},   {140, 11},  {200, 6},   {250, 15},
                                         {280, 19},  {300, 4},   {400, 7},   {500, 20},  {560, 12},  {600, 8},
                                         {800, 9},   {1000, 16}, {1120, 13}, {1200, 10}, {1680, 14}, {2000, 17},
                                         {3000, 18}, {4000, 21}, {6000, 22}, {8000, 23}}};
    constexpr auto find = [](const auto& rows, unsigned from) {
        for (const auto& row : rows)
            if (row.from == from) return row.to;
        return 0u;
    };
    const unsigned extended = info[wire::PortInfo::link_speed_ext_active];
    const auto speed =
        extended != 0 ? find(extended_speeds, extended) : find(speeds, info[wire::PortInfo::link_speed_active]);
    const auto code = find(codes, speed * find(lanes, info[wire::PortInfo::link_width_active]));
    constexpr std::uint8_t ten_gigabits = 3;
    return code != 0 ? static_cast<std::uint8_t>(code) : ten_gigabits;
}

}  // namespace ipoib::fabric::simulated

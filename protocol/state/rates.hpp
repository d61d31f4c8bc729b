// SPDX-License-Identifier: GPL-2.0-or-later
// Static rates and what a port's link carries. The codes are not in the order of the rates. IBTA Vol 1, 15.2.5.16.
#pragma once

#include <array>
#include <cstdint>

namespace ipoib::state {

/// Half Gb/s by rate code; 0 for a code that is none.
inline constexpr std::array<std::uint16_t, 26> half_gigabits{0,   0,   5,   20,  60,   10,   40,   80,  120,
                                                             160, 240, 28,  112, 224,  336,  50,   200, 400,
                                                             600, 56,  100, 800, 1200, 1600, 2400, 3200};

/// For comparing two rate codes; 0 for a code that is none.
constexpr unsigned rate_order(std::uint8_t code) noexcept {
    return code < half_gigabits.size() ? half_gigabits[code] : 0;
}

/// The rate code of so many half Gb/s; 0 when there is none.
constexpr std::uint8_t rate_code(unsigned halves) noexcept {
    for (std::uint8_t code = 2; halves != 0 && code < half_gigabits.size(); ++code)
        if (half_gigabits[code] == halves) return code;
    return 0;
}

/// Lanes of a LinkWidthActive code. IBTA Vol 1, 14.2.5.6.
constexpr unsigned lanes_of(std::uint8_t width) noexcept {
    return width == 1 ? 1 : width == 2 ? 4 : width == 4 ? 8 : width == 8 ? 12 : width == 16 ? 2 : 0;
}

/// Beyond the codes of LinkSpeedExtActive: XDR, which LinkSpeedExtActive2 tells, and what that tells by a code that is
/// not known here.
inline constexpr std::uint8_t lane_of_200 = 16, no_lane = 255;

/// The rate code of a link by PortInfo's LinkWidthActive, LinkSpeedActive and LinkSpeedExtActive, as the codes' names
/// round it; 0 for what is none of them.
constexpr std::uint8_t link_rate(std::uint8_t width, std::uint8_t speed, std::uint8_t extended) noexcept {
    unsigned lane = speed == 1 ? 5 : speed == 2 ? 10 : speed == 4 ? 20 : 0;
    if (extended != 0)
        lane = extended == 1             ? 28
               : extended == 2           ? 50
               : extended == 4           ? 100
               : extended == 8           ? 200
               : extended == lane_of_200 ? 400
                                         : 0;
    return rate_code(lanes_of(width) * lane);
}

}  // namespace ipoib::state

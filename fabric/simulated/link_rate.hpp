// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a link by its width and speed. IBTA Vol 1, 14.2.5.6 and 15.2.5.16.
#pragma once

#include "protocol/state/port_rate.hpp"

namespace ipoib::fabric::simulated {

/// The rate code of a port's link as its PortInfo tells it; 10 Gb/s where it tells nothing that is known.
[[nodiscard]] constexpr std::uint8_t rate_of(const wire::View<wire::PortInfo>& info) noexcept {
    const auto code = state::rate_of(info).code;
    constexpr std::uint8_t ten_gigabits = 3;
    return code != 0 ? code : ten_gigabits;
}

}  // namespace ipoib::fabric::simulated

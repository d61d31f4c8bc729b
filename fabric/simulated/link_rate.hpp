// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of a link by its width and speed. IBTA Vol 1, 14.2.5.6 and 15.2.5.16.
#pragma once

#include "protocol/state/rates.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::fabric::simulated {

/// The rate code of a port's link as its PortInfo tells it; 10 Gb/s where it tells nothing that is known.
[[nodiscard]] constexpr std::uint8_t rate_of(const wire::View<wire::PortInfo>& info) noexcept {
    using wire::PortInfo;
    const auto code = state::link_rate(info[PortInfo::link_width_active], info[PortInfo::link_speed_active],
                                       info[PortInfo::link_speed_ext_active]);
    constexpr std::uint8_t ten_gigabits = 3;
    return code != 0 ? code : ten_gigabits;
}

}  // namespace ipoib::fabric::simulated

// SPDX-License-Identifier: GPL-2.0-or-later
// What a port's link carries, as its PortInfo tells. IBTA Vol 1, 14.2.5.6.
#pragma once

#include "protocol/state/rates.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::state {

struct PortRate {
    std::uint8_t code = 0;    ///< 0: not told, or not known here
    bool is_unknown = false;  ///< told by a code that is not known here
};

[[nodiscard]] constexpr PortRate rate_of(const wire::View<wire::PortInfo>& info) noexcept {
    using wire::PortInfo;
    const bool has_second = (info[PortInfo::capability_mask] & PortInfo::is_capability_mask2_supported) != 0 &&
                            (info[PortInfo::capability_mask2] & PortInfo::is_extended_speeds2_supported) != 0;
    const auto second = has_second ? info[PortInfo::link_speed_ext_active2] : std::uint8_t{0};
    const auto width = info[PortInfo::link_width_active], speed = info[PortInfo::link_speed_active],
               extended = second == 0   ? info[PortInfo::link_speed_ext_active]
                          : second == 1 ? lane_of_200
                                        : no_lane;
    const auto code = link_rate(width, speed, extended);
    return {code, code == 0 && width != 0 && (speed != 0 || extended != 0)};
}

}  // namespace ipoib::state

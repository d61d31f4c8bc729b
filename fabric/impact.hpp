// SPDX-License-Identifier: GPL-2.0-or-later
// Who may notice what is sent on a fabric, and what is allowed of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ipoib::fabric {

/// Every case and every kind of traffic has one; each includes those before it.
enum class Impact : std::uint8_t {
    observe,  ///< nobody notices
    dut,      ///< whom the packets are for
    link,     ///< other nodes of the partition, too
    fabric,   ///< the subnet administrator, or nodes outside the partition
};
inline constexpr std::array impacts{Impact::observe, Impact::dut, Impact::link, Impact::fabric};

[[nodiscard]] constexpr std::string_view name(Impact impact) noexcept {
    constexpr std::array<std::string_view, impacts.size()> names{"observe", "dut", "link", "fabric"};
    return names[static_cast<std::size_t>(impact)];
}

[[nodiscard]] constexpr std::optional<Impact> find_impact(std::string_view text) noexcept {
    for (const auto impact : impacts)
        if (name(impact) == text) return impact;
    return std::nullopt;
}

}  // namespace ipoib::fabric

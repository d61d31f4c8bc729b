// SPDX-License-Identifier: GPL-2.0-or-later
// The two that meet: what --dut names, and what --against does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ipoib::conformance::interop {

enum class Side : std::uint8_t { dut, against };
inline constexpr std::array both_sides{Side::dut, Side::against};

/// "dut", "against": as options, evidence and reports call them.
[[nodiscard]] constexpr std::string_view name(Side side) noexcept { return side == Side::dut ? "dut" : "against"; }
[[nodiscard]] constexpr Side other(Side side) noexcept { return side == Side::dut ? Side::against : Side::dut; }

/// One of something for each.
template <class T>
struct Each {
    T dut{}, against{};
    [[nodiscard]] T& operator[](Side side) noexcept { return side == Side::dut ? dut : against; }
    [[nodiscard]] const T& operator[](Side side) const noexcept { return side == Side::dut ? dut : against; }
};

/// From one to the other.
struct Way {
    Side from, to;
};
inline constexpr std::array both_ways{Way{Side::dut, Side::against}, Way{Side::against, Side::dut}};

/// "dut to against".
[[nodiscard]] inline std::string text(Way way) {
    return std::string(name(way.from)) + " to " + std::string(name(way.to));
}

}  // namespace ipoib::conformance::interop

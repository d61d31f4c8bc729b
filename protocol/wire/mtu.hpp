// SPDX-License-Identifier: GPL-2.0-or-later
// MTU codes of InfiniBand. IBTA Vol 1, 14.2.5.6.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ipoib::wire {

/// Octets of an IB MTU by its code; 0 for a code that is none.
constexpr std::size_t mtu_octets(std::uint8_t code) noexcept {
    return code >= 1 && code <= 5 ? std::size_t{128} << code : 0;
}

}  // namespace ipoib::wire

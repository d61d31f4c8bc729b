// SPDX-License-Identifier: GPL-2.0-or-later
// MTUs and rates that a request asks for by selector. IBTA Vol 1, 15.2.5.16 and 15.2.5.17.
#pragma once

#include "protocol/wire/sa.hpp"

#include <optional>

namespace ipoib::fabric::sa {

/// A quantity that records hold as a code: MTU, or rate, whose codes are not in the order of speed. Ranks are: from 1
/// on, 0 for a code that means nothing.
struct Quantity {
    unsigned (*rank)(std::uint8_t code) noexcept;
    std::uint8_t (*code)(unsigned rank) noexcept;  ///< 0 for rank 0
};
extern const Quantity mtu_quantity, rate_quantity;

/// Whether `code` is what a selector and an asked code allow.
[[nodiscard]] bool fulfils(const Quantity& quantity, std::uint8_t selector, std::uint8_t asked,
                           std::uint8_t code) noexcept;
/// What a new group gets that is created by a port which is capable of `port`; nothing when that cannot be.
[[nodiscard]] std::optional<std::uint8_t> choose_for_group(const Quantity& quantity, std::uint8_t selector,
                                                           std::uint8_t asked, std::uint8_t port) noexcept;
/// What a path gets that is capable of `path`; nothing when that cannot be.
[[nodiscard]] std::optional<std::uint8_t> choose_for_path(const Quantity& quantity, std::uint8_t selector,
                                                          std::uint8_t asked, std::uint8_t path) noexcept;
/// The lesser of two codes.
[[nodiscard]] std::uint8_t lesser(const Quantity& quantity, std::uint8_t one, std::uint8_t other) noexcept;

}  // namespace ipoib::fabric::sa

// SPDX-License-Identifier: GPL-2.0-or-later
// The number that a payload begins with, by which a receiver knows what was lost, doubled or overtaken.
#pragma once

#include "protocol/wire/field.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace ipoib::traffic {

/// 16 octets: "IPoI", the run (32 bits) and the number (64 bits), which counts from 0 for each sender and receiver.
/// Most significant octet first.
struct Number {
    static constexpr std::size_t size = 16, at_count = 8;
    static constexpr std::array<std::uint8_t, 4> sign{'I', 'P', 'o', 'I'};

    std::uint32_t run = 0;
    std::uint64_t count = 0;

    /// `payload` has at least `size` octets.
    void write(wire::MutableOctets payload) const noexcept {
        std::copy(sign.begin(), sign.end(), payload.begin());
        for (unsigned i = 0; i < 4; ++i) payload[4 + i] = static_cast<std::uint8_t>(run >> (24 - 8 * i));
        for (unsigned i = 0; i < 8; ++i) payload[at_count + i] = static_cast<std::uint8_t>(count >> (56 - 8 * i));
    }
    [[nodiscard]] static std::optional<Number> read(wire::Octets payload) noexcept {
        if (payload.size() < size || !std::equal(sign.begin(), sign.end(), payload.begin())) return std::nullopt;
        Number number;
        for (unsigned i = 0; i < 4; ++i) number.run = number.run << 8 | payload[4 + i];
        for (unsigned i = 0; i < 8; ++i) number.count = number.count << 8 | payload[at_count + i];
        return number;
    }
};

}  // namespace ipoib::traffic

// SPDX-License-Identifier: GPL-2.0-or-later
// Captures made by hand, as a little-endian machine writes them.
#pragma once

#include "lab/guest/port/framing.hpp"

namespace ipoib::lab {

inline Octets operator+(Octets first, const Octets& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline Octets little_endian(std::uint32_t value) {
    Octets octets;
    for (int i = 0; i < 4; ++i) octets.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    return octets;
}

inline Octets capture_head() {
    Octets head;
    for (const std::uint32_t word : {0xa1b23c4du, 0x00040002u, 0u, 0u, 65535u, 197u}) head = head + little_endian(word);
    return head;
}

inline Octets record(const Octets& octets) {
    const auto length = static_cast<std::uint32_t>(octets.size());
    return little_endian(1) + little_endian(2) + little_endian(length) + little_endian(length) + octets;
}

/// An ERF record of type InfiniBand.
inline Octets erf(const Octets& frame) {
    const auto all = frame.size() + 16;
    const auto high = [](std::size_t value) { return static_cast<std::uint8_t>(value >> 8); };
    const auto low = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
    return Octets{0, 0, 0, 0, 0, 0, 0, 0, 21, 4, high(all), low(all), 0, 0, high(frame.size()), low(frame.size())} +
           frame;
}

}  // namespace ipoib::lab

// SPDX-License-Identifier: GPL-2.0-or-later
// Whether two frames of a queue pair may be one.
#pragma once

#include "protocol/wire/packet.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ipoib::state {

/// What two frames of one queue pair have in common only if they are one: not the whole, but enough to tell a doubled
/// frame from a PSN that does not count. `octets` are those of a frame that has its headers where the packet has them,
/// an LRH and a DETH among them. To be compared with others of this process only.
inline std::uint64_t likeness_of(const wire::Packet& packet, const std::uint8_t* octets) noexcept {
    using namespace wire;
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
    constexpr std::size_t most = 96, word = sizeof(std::uint64_t);
    const auto moved = [&]<class Header>(View<Header> view) {
        return View<Header>::at({octets + (view.data() - packet.octets.data()), Header::size});
    };
    const auto lrh = moved(packet.lrh);
    const auto bth = moved(packet.bth);
    const auto deth = moved(packet.deth);
    const auto* payload = packet.payload.empty() ? octets : octets + (packet.payload.data() - packet.octets.data());
    // In whatever order the machine has them.
    const auto word_at = [&](std::size_t at) {
        std::uint64_t value = 0;
        std::memcpy(&value, payload + at, word);
        return value;
    };
    std::uint64_t even =
        packet.payload_length ^ std::uint64_t{bth[Bth::p_key]} << 48 ^ std::uint64_t{deth[Deth::q_key]} << 16;
    std::uint64_t other = std::uint64_t{bth[Bth::dest_qp]} << 16 | lrh[Lrh::dlid];
    // In two strands, neither of which waits for the other.
    const auto end = std::min(most, packet.payload.size()) / word * word;
    std::size_t at = 0;
    for (; at + 2 * word <= end; at += 2 * word) {
        even = (even ^ word_at(at)) * odd;
        other = (other ^ word_at(at + word)) * odd;
    }
    if (at < end) even = (even ^ word_at(at)) * odd;
    return even ^ std::rotl(other * odd, 32);
}

}  // namespace ipoib::state

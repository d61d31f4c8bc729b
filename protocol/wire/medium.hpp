// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of each link type of captures: one row for each, which reading, judging, the generator, the plugin and
// the tests walk.
#pragma once

#include "protocol/wire/packet.hpp"

#include <array>

namespace ipoib::wire {

namespace detail {
class Decoder;
}

struct MediumSpec {
    /// What stands before the datagram fits into so many octets.
    static constexpr std::size_t most_head = 64;
    using Head = std::array<std::uint8_t, most_head>;

    Medium medium;
    std::uint16_t link_type;  ///< its number in a capture file (tcpdump.org/linktypes.html)
    std::string_view name;    ///< its name there, without LINKTYPE_
    std::string_view option;  ///< of ipoib-gen --link-type; empty: no such capture is made
    Parts shows;              ///< of packets; a rule that needs more is not asked
    void (*decode)(detail::Decoder& decoder) noexcept;
    /// Makes what stands before the datagram, of an InfiniBand packet; gives its length. Null: frames begin with the
    /// LRH, or are none of InfiniBand.
    std::size_t (*make_head)(const Packet& packet, Head& head) noexcept = nullptr;
    bool has_encap = false;  ///< the encapsulation header is part of the datagram
};

/// All of them, in the order of Medium.
[[nodiscard]] std::span<const MediumSpec, medium_count> media() noexcept;
[[nodiscard]] const MediumSpec& spec(Medium medium) noexcept;
/// Null for a link type that is none of them.
[[nodiscard]] const MediumSpec* find_medium(std::uint16_t link_type) noexcept;

}  // namespace ipoib::wire

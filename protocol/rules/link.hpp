// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a link when a packet is judged. RFC 4391, 4.1 and 5.
#pragma once

#include "protocol/wire/field.hpp"

#include <optional>

namespace ipoib::rules {

/// The broadcast group's parameters as its MCMemberRecord states them. RFC 4391, 4.1.
struct BroadcastGroup {
    wire::Gid mgid;
    std::uint32_t q_key = 0, flow_label = 0;
    std::uint16_t mlid = 0, p_key = 0;
    std::uint8_t mtu = 0;  ///< IB MTU code: 1 is 256 octets ... 5 is 4096
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0, rate = 0;
    friend bool operator==(const BroadcastGroup&, const BroadcastGroup&) = default;
};

/// A link: all ports of one partition that joined its broadcast group. A judge learns it as frames pass.
struct Link {
    std::uint16_t p_key = 0;                  ///< with the full-membership bit
    std::optional<BroadcastGroup> broadcast;  ///< from the SA
    std::optional<wire::Gid> broadcast_gid;   ///< from the SA, else from the first packet sent to it
    /// Two answers, or packets to two broadcast-GIDs, contradict each other: nothing is known any more.
    bool is_disputed = false;
};

/// Octets of an IB MTU code (IBTA Vol 1, 14.2.5.6); 0 for a code that is none.
constexpr std::size_t mtu_octets(std::uint8_t code) noexcept {
    return code >= 1 && code <= 5 ? std::size_t{128} << code : 0;
}

}  // namespace ipoib::rules

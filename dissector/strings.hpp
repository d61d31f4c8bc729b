// SPDX-License-Identifier: GPL-2.0-or-later
// Short descriptions of packets for the tree, the columns and the statistics. Free of Wireshark.
#pragma once

#include "protocol/wire/packet.hpp"

#include <string>

namespace ipoib::dissector {

/// What an IPoIB packet carries, what a management packet is about: "IPv4", "ARP", "Subnet administration", ...
[[nodiscard]] const char* kind_of(const wire::Packet& packet) noexcept;

/// What an answer of the SA does not say itself: it is known from the request.
struct Asked {
    const wire::Gid* group = nullptr;  ///< a refusal may hold none
    wire::Method method{};             ///< the same answer is given to Get and Set
};

/// A MAD about a group or a trap in a short string: "FullMember join of 239.1.2.3", "Join of 239.1.2.3 refused:
/// ERR_REQ_INVALID", "Group 239.1.2.3 created"; empty for others.
[[nodiscard]] std::string headline(const wire::Packet& packet, const Asked& asked = {});
/// A message that sets up an IPoIB connection: "REQ, IPoIB QPN 0x000042, receive MTU 65524"; empty for other messages.
[[nodiscard]] std::string connection_headline(const wire::Packet& packet);

/// A join or leave with its result, for counting: "FullMember join: done"; empty for other packets.
[[nodiscard]] std::string join_result(const wire::Packet& packet, const Asked& asked = {});

/// The IP group or MGID that a packet is sent to or its record is about; empty if none.
[[nodiscard]] std::string group_of(const wire::Packet& packet, const Asked& asked = {});

/// "MGID, PortGID, JoinState"
[[nodiscard]] std::string component_list(std::uint64_t component_mask);

}  // namespace ipoib::dissector

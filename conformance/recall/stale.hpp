// SPDX-License-Identifier: GPL-2.0-or-later
// What a packet breaks that has a value of before a change.
#pragma once

#include "conformance/recall/world.hpp"

#include <cstdint>
#include <string_view>

namespace ipoib::recall {

/// What a change gives another value.
enum class Field : std::uint8_t {
    receiver_qpn,
    receiver_lid,
    sender_qpn,
    sender_gid,
    link_address,  ///< of an IP address that is another interface's now
    mlid,
    q_key,
    sl,
    flow_label,
    traffic_class,
    hop_limit,
    mtu,
    p_key,
    receive_mtu,
};

/// What a packet is for.
enum class Talk : std::uint8_t {
    unicast,
    solicitation,  ///< an ARP request or a Neighbour Solicitation
    arp_reply,
    advertisement,
    to_group,
    request,  ///< CM REQ
    reply,    ///< CM REP
    over_connection,
};

[[nodiscard]] std::string_view name_of(Field field);
/// The statement that a packet breaks which has the former value of a field; empty: it may have it.
[[nodiscard]] Claim broken_by(Field field, Talk talk);
/// Whether no innocent sender sends the same.
[[nodiscard]] bool is_provable(Field field, Talk talk);

}  // namespace ipoib::recall

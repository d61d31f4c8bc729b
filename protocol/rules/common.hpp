// SPDX-License-Identifier: GPL-2.0-or-later
// Words that several rules use.
#pragma once

#include "protocol/rules/rule.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::rules {

using namespace wire;  // the rules speak of headers and fields all the time

/// Parts of an IPoIB packet that an InfiniBand capture shows.
inline constexpr Parts over_ib = parts(Part::ipoib, Part::bth);

/// The datagram is ARP or RARP, IPv4, IPv6 by its own octets (a wrong Type is another rule's finding).
inline bool carries(const Packet& p, EtherType type) { return p.content == type; }

/// The record that the SA returned for a broadcast group.
inline bool is_broadcast_record(const Packet& p) {
    if (!p.mc_member || p.mad[Mad::status] != 0) return false;
    const auto method = p.mad[Mad::method];
    return (method == Method::get_resp || method == Method::get_table_resp) &&
           is_broadcast_gid(p.mc_member[McMemberRecord::mgid]);
}

/// What is said of a value that a stack would also show by chance.
inline constexpr std::string_view usual_default =
    "the group's value is also the usual default, so these packets prove little";

}  // namespace ipoib::rules

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
    return p.mc_member && p.mad[Mad::method] == Method::get_resp && p.mad[Mad::status] == 0 &&
           is_broadcast_gid(p.mc_member[McMemberRecord::mgid]);
}

}  // namespace ipoib::rules

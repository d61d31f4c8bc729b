// SPDX-License-Identifier: GPL-2.0-or-later
// A DHCP message inside a packet. RFC 2131, 4.1.
#pragma once

#include "protocol/wire/dhcp.hpp"
#include "protocol/wire/packet.hpp"

#include <algorithm>

namespace ipoib::wire {

/// The payload of a UDP datagram, as far as it was captured; empty without one.
inline Octets udp_payload(const Packet& p) noexcept {
    if (!p.udp) return {};
    const auto datagram = p.ip_payload.first(std::min<std::size_t>(p.ip_payload.size(), p.udp[Udp::length]));
    return datagram.size() < Udp::size ? Octets{} : datagram.subspan(Udp::size);
}

/// The fixed part of the DHCP message that the datagram must be; absent where it is too short.
inline View<Dhcp> dhcp_of(const Packet& p) noexcept { return View<Dhcp>::at(udp_payload(p)); }

}  // namespace ipoib::wire

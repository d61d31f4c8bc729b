// SPDX-License-Identifier: GPL-2.0-or-later
// From datagrams to InfiniBand packets. RFC 4391, 6; RFC 4392, 4.2.
#pragma once

#include "protocol/build/packet_builder.hpp"
#include "stack/link.hpp"

namespace ipoib::stack {

class Interface;

/// Where a unicast packet goes: what the link-layer address told, and the path that the SA told. RFC 4391, 9.1.
struct Peer {
    wire::Gid gid;
    std::uint32_t qpn = 0;
};
struct Path {
    std::uint16_t lid = 0;
    std::uint8_t sl = 0, rate = 0, traffic_class = 0, hop_limit = 0;
    std::uint32_t flow_label = 0;
};

void send_multicast(Interface& interface, const Group& group, wire::EtherType protocol, wire::Octets datagram);
/// The packet that a datagram goes to a peer in, of whatever length.
[[nodiscard]] build::PacketBuilder unicast_packet(Interface& interface, const Peer& peer, const Path& path,
                                                  wire::EtherType protocol, wire::Octets datagram);
void send_unicast(Interface& interface, const Peer& peer, const Path& path, wire::EtherType protocol,
                  wire::Octets datagram);

}  // namespace ipoib::stack

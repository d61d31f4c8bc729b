// SPDX-License-Identifier: GPL-2.0-or-later
// IP of both versions over one interface: what goes to which link-layer service, fragments, what is for this node.
// RFC 791; RFC 8200; RFC 4391, 5 for broadcast.
#pragma once

#include "protocol/wire/packet.hpp"
#include "stack/link.hpp"
#include "stack/reassembly.hpp"

namespace ipoib::stack {

class Interface;

/// A datagram for this node: whole and checked.
struct IpDatagram {
    wire::IpAddress source, destination;
    wire::IpProtocol protocol{};
    std::uint8_t hop_limit = 0;
    wire::Octets payload;
    std::uint32_t source_qp = 0;  ///< of the packet it came in, of its last fragment
    std::uint16_t source_lid = 0;
    bool came_to_group = false;  ///< the packet's DGID is a group's
};

/// What a datagram to be sent says before its payload.
struct IpHead {
    wire::IpAddress source, destination;
    wire::IpProtocol protocol{};
    std::uint8_t hop_limit = 64;
    bool has_router_alert = false;  ///< RFC 2113, RFC 2711
};
/// Sets the checksum of an ICMP, IGMP, UDP or ICMPv6 message that is all zero in its place.
void set_checksum(const IpHead& head, wire::MutableOctets message) noexcept;
/// Whether the checksum of a message is right.
[[nodiscard]] bool has_right_checksum(const IpDatagram& datagram) noexcept;
/// The datagram in one piece.
[[nodiscard]] std::vector<std::uint8_t> ip_datagram(const IpHead& head, wire::Octets payload);

class InternetProtocol {
public:
    explicit InternetProtocol(Interface& interface) : interface_(interface) {}
    /// Sends a message; what is longer than the MTU goes in fragments. False when there is no way to the destination.
    bool send(const IpHead& head, wire::Octets message);
    /// Whether a message goes in one piece, as far as the MTU is concerned.
    [[nodiscard]] bool fits(const IpHead& head, wire::Octets message) const;
    /// A packet of IPv4 or IPv6.
    void receive_v4(const wire::Packet& packet);
    void receive_v6(const wire::Packet& packet);

private:
    enum class Way : std::uint8_t { none, self, broadcast, group, neighbour };
    [[nodiscard]] Way way_to(const wire::IpAddress& destination) const;
    [[nodiscard]] std::size_t mtu_of(Way way, const wire::IpAddress& destination) const;
    [[nodiscard]] bool is_for_us(const wire::IpAddress& destination) const;
    void emit(Way way, const wire::IpAddress& destination, wire::Octets datagram);
    void send_fragments(Way way, const IpHead& head, wire::Octets message, std::size_t mtu);
    void look_at_overlap(bool is_v4);
    void receive_fragment_v6(const wire::Packet& packet, IpDatagram& datagram);
    void deliver(const IpDatagram& datagram);

    Interface& interface_;
    Reassembly reassembly_;
    std::uint32_t next_identification_ = 1;
};

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Whole IPoIB packets by their purpose: each right by RFC 4391, each open to a lie through PacketBuilder::set.
#pragma once

#include "protocol/build/packet_builder.hpp"

namespace ipoib::build {

/// One IPoIB interface and its port.
struct Node {
    std::uint16_t lid = 0;
    wire::Gid gid;          ///< subnet prefix and port GUID
    std::uint32_t qpn = 0;  ///< the UD queue pair of its link-layer address
    std::uint32_t ipv4 = 0;
    wire::Gid ipv6;               ///< link-local
    std::uint8_t link_flags = 0;  ///< flags octet of its link-layer address

    [[nodiscard]] wire::Bytes<wire::LinkAddress> link_address() const noexcept;
};

/// The parameters of a link, as its broadcast group has them. RFC 4391, 4.1.
struct Link {
    std::uint16_t p_key = 0xffff;
    std::uint32_t q_key = 0x0b1b;
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0, scope = 2;
    std::uint32_t flow_label = 0;
    std::uint8_t mtu = 4;  ///< IB MTU code: 4 is 2048
    std::uint16_t broadcast_mlid = 0xc000;

    [[nodiscard]] wire::Gid broadcast_gid() const noexcept { return wire::broadcast_gid(p_key, scope); }
};

/// Headers up to the encapsulation header (its Type follows from what is added). A unicast packet has no GRH.
[[nodiscard]] PacketBuilder unicast(const Node& from, const Node& to, const Link& link);
[[nodiscard]] PacketBuilder unicast_with_grh(const Node& from, const Node& to, const Link& link);
[[nodiscard]] PacketBuilder multicast(const Node& from, const wire::Gid& mgid, std::uint16_t mlid, const Link& link);
[[nodiscard]] PacketBuilder broadcast(const Node& from, const Link& link);

/// ARP. RFC 4391, 9.2.
[[nodiscard]] PacketBuilder arp_request(const Node& from, std::uint32_t target, const Link& link);
[[nodiscard]] PacketBuilder arp_reply(const Node& from, const Node& to, const Link& link);

/// Neighbour Discovery with Link-layer Address options. RFC 4391, 9.3.
[[nodiscard]] PacketBuilder neighbour_solicitation(const Node& from, const wire::Gid& target, std::uint16_t mlid,
                                                   const Link& link);
[[nodiscard]] PacketBuilder neighbour_advertisement(const Node& from, const Node& to, const Link& link);

/// A payload: its octets count on from 0.
[[nodiscard]] std::vector<std::uint8_t> pattern(std::size_t size);
PacketBuilder& add_pattern(PacketBuilder& packet, std::size_t size);

/// ICMP echo; `size` octets of payload.
[[nodiscard]] PacketBuilder echo_request(const Node& from, const Node& to, const Link& link, std::uint16_t sequence,
                                         std::size_t size = 56);
[[nodiscard]] PacketBuilder echo_reply(const Node& from, const Node& to, const Link& link, std::uint16_t sequence,
                                       std::size_t size = 56);
[[nodiscard]] PacketBuilder echo_request6(const Node& from, const Node& to, const Link& link, std::uint16_t sequence,
                                          std::size_t size = 56);
/// UDP; the payload itself, or a pattern.
[[nodiscard]] PacketBuilder udp(const Node& from, const Node& to, const Link& link, Octets payload);
[[nodiscard]] PacketBuilder udp_to_group(const Node& from, std::uint32_t group, std::uint16_t mlid, const Link& link,
                                         Octets payload);
[[nodiscard]] PacketBuilder udp6_to_group(const Node& from, const wire::Gid& group, std::uint16_t mlid,
                                          const Link& link, Octets payload);
[[nodiscard]] PacketBuilder udp(const Node& from, const Node& to, const Link& link, std::size_t size);
[[nodiscard]] PacketBuilder udp_to_group(const Node& from, std::uint32_t group, std::uint16_t mlid, const Link& link,
                                         std::size_t size);
[[nodiscard]] PacketBuilder udp6_to_group(const Node& from, const wire::Gid& group, std::uint16_t mlid,
                                          const Link& link, std::size_t size);

/// A MAD of the SA about the broadcast group's or another group's MCMemberRecord. IBTA Vol 1, 15.2.5.17.
[[nodiscard]] PacketBuilder mc_member(const Node& from, const Node& to, wire::Method method, std::uint64_t transaction,
                                      const wire::Bytes<wire::McMemberRecord>& record, std::uint64_t component_mask);
/// The record that describes a link's broadcast group as a full member sees it.
[[nodiscard]] wire::Bytes<wire::McMemberRecord> broadcast_record(const Node& member, const Link& link);

}  // namespace ipoib::build

// SPDX-License-Identifier: GPL-2.0-or-later
// Whole IPoIB packets by their purpose.
#include "protocol/build/ipoib.hpp"

namespace ipoib::build {
using namespace wire;

namespace {

constexpr std::uint16_t udp_port = 9;  // discard

Bytes<Lrh> lrh(const Node& from, std::uint16_t dlid, std::uint8_t sl) {
    Bytes<Lrh> header;
    header.set(Lrh::sl, sl).set(Lrh::dlid, dlid).set(Lrh::slid, from.lid);
    return header;
}

Bytes<Grh> grh(const Node& from, const Gid& to, const Link& link) {
    Bytes<Grh> header;
    header.set(Grh::traffic_class, link.traffic_class)
        .set(Grh::flow_label, link.flow_label)
        .set(Grh::hop_limit, link.hop_limit)
        .set(Grh::sgid, from.gid)
        .set(Grh::dgid, to);
    return header;
}

PacketBuilder& transport(PacketBuilder& packet, const Node& from, std::uint32_t dest_qp, const Link& link) {
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::ud_send_only)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, link.p_key)
                   .set(Bth::dest_qp, dest_qp));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, link.q_key).set(Deth::src_qp, from.qpn));
    return packet.add<Encap>();
}

Bytes<Arp> arp(std::uint16_t operation) {
    Bytes<Arp> header;
    header.set(Arp::hardware, Arp::infiniband)
        .set(Arp::protocol, 0x0800)
        .set(Arp::hardware_length, LinkAddress::size)
        .set(Arp::protocol_length, 4)
        .set(Arp::operation, operation);
    return header;
}

Bytes<ArpAddresses> arp_sender(const Node& from) {
    Bytes<ArpAddresses> addresses;
    addresses.set(ArpAddresses::sha_flags, from.link_flags)
        .set(ArpAddresses::sha_qpn, from.qpn)
        .set(ArpAddresses::sha_gid, from.gid)
        .set(ArpAddresses::spa, from.ipv4);
    return addresses;
}

Bytes<Ipv4> ipv4(std::uint32_t from, std::uint32_t to) {
    Bytes<Ipv4> header;
    header.set(Ipv4::source, from).set(Ipv4::destination, to);
    return header;
}

Bytes<Ipv6> ipv6(const Gid& from, const Gid& to, std::uint8_t hop_limit = 64) {
    Bytes<Ipv6> header;
    header.set(Ipv6::source, from).set(Ipv6::destination, to).set(Ipv6::hop_limit, hop_limit);
    return header;
}

Bytes<Udp> udp_ports() {
    Bytes<Udp> header;
    header.set(Udp::source, udp_port).set(Udp::destination, udp_port);
    return header;
}

PacketBuilder icmp(const Node& from, const Node& to, const Link& link, std::uint8_t type, std::uint16_t sequence,
                   std::size_t size) {
    auto packet = unicast(from, to, link);
    packet.add(ipv4(from.ipv4, to.ipv4));
    packet.add(Bytes<Icmp>{}.set(Icmp::type, type).set(Icmp::identifier, 1).set(Icmp::sequence, sequence));
    return add_pattern(packet, size);
}

Bytes<LinkAddressOption> option(std::uint8_t type, const Node& node) {
    Bytes<LinkAddressOption> header;
    header.set(LinkAddressOption::type, type)
        .set(LinkAddressOption::length, LinkAddressOption::size / 8)
        .set(LinkAddressOption::flags, node.link_flags)
        .set(LinkAddressOption::qpn, node.qpn)
        .set(LinkAddressOption::gid, node.gid);
    return header;
}

}  // namespace

std::vector<std::uint8_t> pattern(std::size_t size) {
    std::vector<std::uint8_t> octets(size);
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(i);
    return octets;
}

PacketBuilder& add_pattern(PacketBuilder& packet, std::size_t size) {
    // Of whole rounds of an octet's values, and as much as an ordinary link carries.
    static const auto longest = pattern(4096);
    for (; size > longest.size(); size -= longest.size()) packet.add(Octets{longest});
    return packet.add(Octets{longest}.first(size));
}

Bytes<LinkAddress> Node::link_address() const noexcept {
    Bytes<LinkAddress> address;
    address.set(LinkAddress::flags, link_flags).set(LinkAddress::qpn, qpn).set(LinkAddress::gid, gid);
    return address;
}

PacketBuilder unicast(const Node& from, const Node& to, const Link& link) {
    PacketBuilder packet;
    packet.add(lrh(from, to.lid, link.sl));
    return transport(packet, from, to.qpn, link);
}

PacketBuilder unicast_with_grh(const Node& from, const Node& to, const Link& link) {
    PacketBuilder packet;
    packet.add(lrh(from, to.lid, link.sl)).add(grh(from, to.gid, link));
    return transport(packet, from, to.qpn, link);
}

PacketBuilder multicast(const Node& from, const Gid& mgid, std::uint16_t mlid, const Link& link) {
    PacketBuilder packet;
    packet.add(lrh(from, mlid, link.sl)).add(grh(from, mgid, link));
    return transport(packet, from, Bth::multicast_qp, link);
}

PacketBuilder broadcast(const Node& from, const Link& link) {
    return multicast(from, link.broadcast_gid(), link.broadcast_mlid, link);
}

PacketBuilder arp_request(const Node& from, std::uint32_t target, const Link& link) {
    auto packet = broadcast(from, link);
    return packet.add(arp(Arp::request)).add(arp_sender(from).set(ArpAddresses::tpa, target));
}

PacketBuilder arp_reply(const Node& from, const Node& to, const Link& link) {
    auto packet = unicast(from, to, link);
    return packet.add(arp(Arp::reply))
        .add(arp_sender(from)
                 .set(ArpAddresses::tha_flags, to.link_flags)
                 .set(ArpAddresses::tha_qpn, to.qpn)
                 .set(ArpAddresses::tha_gid, to.gid)
                 .set(ArpAddresses::tpa, to.ipv4));
}

PacketBuilder neighbour_solicitation(const Node& from, const Gid& target, std::uint16_t mlid, const Link& link) {
    constexpr std::uint8_t only_from_the_link = 255;
    const auto group = solicited_node_group(target);
    auto packet = multicast(from, mgid_for_ipv6(group, link.p_key, link.scope), mlid, link);
    return packet.add(ipv6(from.ipv6, group, only_from_the_link))
        .add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::neighbour_solicitation))
        .add(Bytes<NdTarget>{}.set(NdTarget::target, target))
        .add(option(LinkAddressOption::source, from));
}

PacketBuilder neighbour_advertisement(const Node& from, const Node& to, const Link& link) {
    constexpr std::uint8_t only_from_the_link = 255;
    constexpr std::uint32_t solicited_and_override = 0x60000000;
    auto packet = unicast(from, to, link);
    return packet.add(ipv6(from.ipv6, to.ipv6, only_from_the_link))
        .add(Bytes<Icmpv6>{}
                 .set(Icmpv6::type, Icmpv6Type::neighbour_advertisement)
                 .set(Icmpv6::body, solicited_and_override))
        .add(Bytes<NdTarget>{}.set(NdTarget::target, from.ipv6))
        .add(option(LinkAddressOption::target, from));
}

PacketBuilder echo_request(const Node& from, const Node& to, const Link& link, std::uint16_t sequence,
                           std::size_t size) {
    return icmp(from, to, link, Icmp::echo_request, sequence, size);
}

PacketBuilder echo_reply(const Node& from, const Node& to, const Link& link, std::uint16_t sequence, std::size_t size) {
    return icmp(from, to, link, Icmp::echo_reply, sequence, size);
}

PacketBuilder echo_request6(const Node& from, const Node& to, const Link& link, std::uint16_t sequence,
                            std::size_t size) {
    auto packet = unicast(from, to, link);
    packet.add(ipv6(from.ipv6, to.ipv6));
    packet.add(Bytes<Icmpv6>{}
                   .set(Icmpv6::type, Icmpv6Type::echo_request)
                   .set(Icmpv6::body, std::uint32_t{1} << 16 | sequence));
    return add_pattern(packet, size);
}

PacketBuilder udp(const Node& from, const Node& to, const Link& link, Octets payload) {
    auto packet = unicast(from, to, link);
    return packet.add(ipv4(from.ipv4, to.ipv4)).add(udp_ports()).add(payload);
}

PacketBuilder udp_to_group(const Node& from, std::uint32_t group, std::uint16_t mlid, const Link& link,
                           Octets payload) {
    auto packet = multicast(from, mgid_for_ipv4(group, link.p_key, link.scope), mlid, link);
    return packet.add(ipv4(from.ipv4, group)).add(udp_ports()).add(payload);
}

PacketBuilder udp6_to_group(const Node& from, const Gid& group, std::uint16_t mlid, const Link& link, Octets payload) {
    auto packet = multicast(from, mgid_for_ipv6(group, link.p_key, link.scope), mlid, link);
    return packet.add(ipv6(from.ipv6, group)).add(udp_ports()).add(payload);
}

PacketBuilder udp(const Node& from, const Node& to, const Link& link, std::size_t size) {
    auto packet = udp(from, to, link, Octets{});
    return add_pattern(packet, size);
}
PacketBuilder udp_to_group(const Node& from, std::uint32_t group, std::uint16_t mlid, const Link& link,
                           std::size_t size) {
    auto packet = udp_to_group(from, group, mlid, link, Octets{});
    return add_pattern(packet, size);
}
PacketBuilder udp6_to_group(const Node& from, const Gid& group, std::uint16_t mlid, const Link& link,
                            std::size_t size) {
    auto packet = udp6_to_group(from, group, mlid, link, Octets{});
    return add_pattern(packet, size);
}

PacketBuilder mc_member(const Node& from, const Node& to, Method method, std::uint64_t transaction,
                        const Bytes<McMemberRecord>& record, std::uint64_t component_mask) {
    constexpr std::uint32_t management_q_key = 0x80010000;
    constexpr std::uint8_t sa_class_version = 2;
    PacketBuilder packet;
    packet.add(lrh(from, to.lid, 0));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::ud_send_only)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, 0xffff)
                   .set(Bth::dest_qp, 1));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, management_q_key).set(Deth::src_qp, 1));
    packet.add(Bytes<Mad>{}
                   .set(Mad::base_version, 1)
                   .set(Mad::mgmt_class, MgmtClass::subn_adm)
                   .set(Mad::class_version, sa_class_version)
                   .set(Mad::method, method)
                   .set(Mad::transaction_id, transaction)
                   .set(Mad::attribute_id, attribute::mc_member_record));
    packet.add(Bytes<Rmpp>{}).add(Bytes<SaHeader>{}.set(SaHeader::component_mask, component_mask));
    const std::vector<std::uint8_t> rest(SaHeader::data_size - McMemberRecord::size);
    return packet.add(record).add(rest);
}

Bytes<McMemberRecord> broadcast_record(const Node& member, const Link& link) {
    constexpr std::uint8_t exactly = 2, ten_gigabit = 3;
    Bytes<McMemberRecord> record;
    record.set(McMemberRecord::mgid, link.broadcast_gid())
        .set(McMemberRecord::port_gid, member.gid)
        .set(McMemberRecord::q_key, link.q_key)
        .set(McMemberRecord::mlid, link.broadcast_mlid)
        .set(McMemberRecord::mtu_selector, exactly)
        .set(McMemberRecord::mtu, link.mtu)
        .set(McMemberRecord::traffic_class, link.traffic_class)
        .set(McMemberRecord::p_key, link.p_key)
        .set(McMemberRecord::rate_selector, exactly)
        .set(McMemberRecord::rate, ten_gigabit)
        .set(McMemberRecord::lifetime_selector, exactly)
        .set(McMemberRecord::sl, link.sl)
        .set(McMemberRecord::flow_label, link.flow_label)
        .set(McMemberRecord::hop_limit, link.hop_limit)
        .set(McMemberRecord::scope, link.scope)
        .set(McMemberRecord::join_state, join_state::full_member);
    return record;
}

}  // namespace ipoib::build

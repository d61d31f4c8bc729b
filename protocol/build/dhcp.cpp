// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP messages of client and server.
#include "protocol/build/dhcp.hpp"

namespace ipoib::build {
using namespace wire;

namespace {

constexpr std::uint32_t nobody = 0, everybody = 0xffffffff;

void add_type(PacketBuilder& packet, DhcpType type) {
    packet.add(std::array{dhcp_option::message_type, std::uint8_t{1}, static_cast<std::uint8_t>(type)});
}

void add_number(PacketBuilder& packet, std::uint8_t code, std::uint32_t number) {
    std::array<std::uint8_t, 6> option{code, 4};
    write_bits(option.data(), octet(2), 32, number);
    packet.add(option);
}

void add_end(PacketBuilder& packet) { packet.add(std::array{dhcp_option::end}); }

/// An identifier of the form that RFC 4361, 6.1 wants, with a DUID-UUID of the port's GID.
void add_identifier(PacketBuilder& packet, const Node& client) {
    constexpr std::uint16_t duid_uuid = 4;
    packet
        .add(std::array{dhcp_option::client_identifier,
                        static_cast<std::uint8_t>(DhcpClientId::size + client.gid.octets.size())})
        .add(Bytes<DhcpClientId>{}
                 .set(DhcpClientId::type, DhcpClientId::iaid_and_duid)
                 .set(DhcpClientId::iaid, 1)
                 .set(DhcpClientId::duid_type, duid_uuid))
        .add(client.gid.octets);
}

void add_addresses(PacketBuilder& packet, std::uint32_t from, std::uint32_t to, std::uint16_t from_port) {
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from).set(Ipv4::destination, to))
        .add(Bytes<Udp>{}
                 .set(Udp::source, from_port)
                 .set(Udp::destination, from_port == dhcp_client_port ? dhcp_server_port : dhcp_client_port));
}

/// What all messages of a client begin with; `ciaddr` is its address where it has one.
PacketBuilder of_client(PacketBuilder packet, const Node& client, DhcpType type, std::uint32_t xid,
                        std::uint32_t ciaddr, std::uint32_t to) {
    add_addresses(packet, ciaddr, to, dhcp_client_port);
    packet.add(Bytes<Dhcp>{}
                   .set(Dhcp::op, Dhcp::request)
                   .set(Dhcp::htype, Dhcp::infiniband)
                   .set(Dhcp::xid, xid)
                   .set(Dhcp::broadcast, ciaddr == nobody)
                   .set(Dhcp::ciaddr, ciaddr)
                   .set(Dhcp::cookie, Dhcp::magic));
    add_type(packet, type);
    add_identifier(packet, client);
    return packet;
}

PacketBuilder ended(PacketBuilder packet) {
    add_end(packet);
    return packet;
}

}  // namespace

PacketBuilder dhcp_discover(const Node& client, const Link& link, std::uint32_t xid) {
    return ended(of_client(broadcast(client, link), client, DhcpType::discover, xid, nobody, everybody));
}

PacketBuilder dhcp_request(const Node& client, const Link& link, std::uint32_t xid, std::uint32_t address,
                           std::uint32_t server) {
    auto packet = of_client(broadcast(client, link), client, DhcpType::request, xid, nobody, everybody);
    add_number(packet, dhcp_option::requested_address, address);
    add_number(packet, dhcp_option::server_identifier, server);
    return ended(std::move(packet));
}

PacketBuilder dhcp_renewal(const Node& client, const Node& server, const Link& link, std::uint32_t xid,
                           std::uint32_t address) {
    return ended(of_client(unicast(client, server, link), client, DhcpType::request, xid, address, server.ipv4));
}

PacketBuilder dhcp_rebinding(const Node& client, const Link& link, std::uint32_t xid, std::uint32_t address) {
    return ended(of_client(broadcast(client, link), client, DhcpType::request, xid, address, everybody));
}

PacketBuilder dhcp_release(const Node& client, const Node& server, const Link& link, std::uint32_t xid,
                           std::uint32_t address) {
    auto packet = of_client(unicast(client, server, link), client, DhcpType::release, xid, address, server.ipv4);
    add_number(packet, dhcp_option::server_identifier, server.ipv4);
    return ended(std::move(packet));
}

PacketBuilder dhcp_reply(const Node& server, const Node& client, const Link& link, DhcpType type, View<Dhcp> to,
                         const Lease& lease) {
    const bool is_broadcast = to[Dhcp::broadcast] || to[Dhcp::ciaddr] == nobody;
    auto packet = is_broadcast ? broadcast(server, link) : unicast(server, client, link);
    add_addresses(packet, server.ipv4, is_broadcast ? everybody : to[Dhcp::ciaddr], dhcp_server_port);
    packet.add(Bytes<Dhcp>{}
                   .set(Dhcp::op, Dhcp::reply)
                   .set(Dhcp::htype, Dhcp::infiniband)
                   .set(Dhcp::xid, to[Dhcp::xid])
                   .set(Dhcp::broadcast, to[Dhcp::broadcast])
                   .set(Dhcp::ciaddr, to[Dhcp::ciaddr])
                   .set(Dhcp::yiaddr, lease.address)
                   .set(Dhcp::cookie, Dhcp::magic));
    add_type(packet, type);
    add_number(packet, dhcp_option::server_identifier, server.ipv4);
    add_number(packet, dhcp_option::lease_time, lease.end);
    add_number(packet, dhcp_option::renewal_time, lease.renewal);
    add_number(packet, dhcp_option::rebinding_time, lease.rebinding);
    add_number(packet, dhcp_option::subnet_mask, lease.mask);
    return ended(std::move(packet));
}

}  // namespace ipoib::build

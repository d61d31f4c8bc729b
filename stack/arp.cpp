// SPDX-License-Identifier: GPL-2.0-or-later
// Address resolution in IPv4.
#include "stack/arp.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

namespace {

/// RFC 4391, 9.2: what a packet must say to be ARP of this link at all.
bool is_arp_of_infiniband(View<Arp> arp) noexcept {
    return arp[Arp::hardware] == Arp::infiniband && arp[Arp::protocol] == static_cast<std::uint16_t>(EtherType::ipv4) &&
           arp[Arp::hardware_length] == LinkAddress::size && arp[Arp::protocol_length] == 4;
}

HardwareAddress sender_of(View<ArpAddresses> addresses) noexcept {
    HardwareAddress sender;
    sender.set(LinkAddress::flags, addresses[ArpAddresses::sha_flags])
        .set(LinkAddress::qpn, addresses[ArpAddresses::sha_qpn])
        .set(LinkAddress::gid, addresses[ArpAddresses::sha_gid]);
    return sender;
}

}  // namespace

std::vector<std::uint8_t> AddressResolution::message(std::uint16_t operation, std::uint32_t sender,
                                                     const HardwareAddress& target_hardware,
                                                     std::uint32_t target) const {
    const auto& policy = interface_.policy();
    Bytes<Arp> head;
    head.set(Arp::hardware, policy.arp_hardware)
        .set(Arp::protocol, policy.arp_protocol)
        .set(Arp::hardware_length, policy.arp_hardware_length(policy.arp_address_size))
        .set(Arp::protocol_length, policy.arp_protocol_length)
        .set(Arp::operation, operation);
    const auto own = interface_.hardware_address();
    Bytes<ArpAddresses> addresses;
    addresses.set(ArpAddresses::spa, sender).set(ArpAddresses::tpa, target);
    const auto protocol_address = [&](const auto& field) {
        return Octets{addresses.octets}.subspan(field.at.bit / 8, 4);
    };
    const auto size = std::min<std::size_t>(policy.arp_address_size, own.octets.size());
    auto octets = octets_of(head);
    append(octets, Octets{own.octets}.first(size));
    append(octets, protocol_address(ArpAddresses::spa));
    append(octets, Octets{target_hardware.octets}.first(size));
    append(octets, protocol_address(ArpAddresses::tpa));
    return octets;
}

void AddressResolution::request(std::uint32_t target, const Peer* peer) {
    const auto source = interface_.asks_from(IpAddress::v4(target), peer != nullptr);
    if (!source) return;
    const auto octets = message(Arp::request, source->v4(), {}, target);
    if (peer) return interface_.paths().send(*peer, EtherType::arp, octets);
    if (const auto* group = interface_.groups().use(interface_.policy().arp_request_group(interface_.link())))
        send_multicast(interface_, *group, EtherType::arp, octets);
}

/// RFC 826, packet reception: what is known is updated; who asked for this node is noted and answered. Most packets are
/// about others, so that is found out first.
void AddressResolution::receive(const Packet& packet) {
    const auto addresses = packet.arp_addresses;
    if (!addresses) return;
    const auto target = addresses[ArpAddresses::tpa], sender_ip = addresses[ArpAddresses::spa];
    const auto sender_address = IpAddress::v4(sender_ip);
    const bool is_for_us = interface_.policy().answers_for(interface_.answers_at(IpAddress::v4(target)));
    if (!is_for_us && !interface_.neighbours().knows(sender_address)) return;
    if (!is_arp_of_infiniband(packet.arp) || interface_.has_address(sender_address)) return;
    const auto operation = packet.arp[Arp::operation];
    if (operation != Arp::request && operation != Arp::reply) return;
    if (operation == Arp::reply && packet.is_multicast && !interface_.policy().heeds_answers_to_all) return;
    const auto sender = sender_of(addresses);
    const auto source_qp = packet.deth[Deth::src_qp];
    // A sender without an address only probes whether its own is free: RFC 5227, 2.1.1.
    if (sender_ip != 0)
        interface_.neighbours().heard({.address = sender_address,
                                       .link_address = sender,
                                       .source_qp = source_qp,
                                       .source_lid = packet.lrh[Lrh::slid],
                                       .is_answer = operation == Arp::reply && is_for_us,
                                       .is_for_us = is_for_us});
    if (is_for_us && operation == Arp::request) reply(sender, sender_ip, target, source_qp);
}

/// RFC 4391, 9.1.1: to the QPN of the requester's link-layer address.
void AddressResolution::reply(const HardwareAddress& requester, std::uint32_t requester_ip, std::uint32_t asked_for,
                              std::uint32_t source_qp) {
    const auto& policy = interface_.policy();
    const auto flags = requester[LinkAddress::flags];
    if (!policy.answers_arp || !policy.accepts_flags(flags)) return;
    auto known = requester;
    known.set(LinkAddress::flags, policy.kept_flags(flags, interface_.is_connected_mode()));
    const auto octets = message(Arp::reply, asked_for, known, requester_ip);
    if (policy.arp_reply_is_unicast) {
        const Peer peer{requester[LinkAddress::gid], policy.arp_reply_qpn(requester, source_qp)};
        interface_.paths().send(peer, EtherType::arp, octets);
    } else if (const auto* group = interface_.groups().use(interface_.link().broadcast_gid())) {
        send_multicast(interface_, *group, EtherType::arp, octets);
    }
}

}  // namespace ipoib::stack

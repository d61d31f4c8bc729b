// SPDX-License-Identifier: GPL-2.0-or-later
// Address resolution in IPv6.
#include "stack/neighbour_discovery.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {

constexpr std::uint8_t only_from_the_link = 255;
/// Flags of an advertisement. RFC 4861, 4.4.
constexpr std::uint32_t solicited_flag = 0x40000000, override_flag = 0x20000000;

HardwareAddress address_of(View<LinkAddressOption> option) noexcept {
    HardwareAddress address;
    address.set(LinkAddress::flags, option[LinkAddressOption::flags])
        .set(LinkAddress::qpn, option[LinkAddressOption::qpn])
        .set(LinkAddress::gid, option[LinkAddressOption::gid]);
    return address;
}

struct Options {
    View<LinkAddressOption> source, target;
    bool are_whole = false, has_unknown = false;
};

/// RFC 4391, 9.3: only options of length 3 hold a link-layer address of InfiniBand.
Options options_of(Octets octets) noexcept {
    Options found;
    const auto rest = for_each_nd_option(octets, [&](Octets option) {
        constexpr std::uint8_t highest_of_rfc4861 = 5;
        found.has_unknown = found.has_unknown || option.front() > highest_of_rfc4861;
        if (option.size() != LinkAddressOption::size) return;
        const auto view = View<LinkAddressOption>::at(option);
        const auto type = view[LinkAddressOption::type];
        if (type == LinkAddressOption::source) found.source = view;
        if (type == LinkAddressOption::target) found.target = view;
    });
    found.are_whole = rest.empty();
    return found;
}

}  // namespace

std::vector<std::uint8_t> NeighbourDiscovery::message(Icmpv6Type type, std::uint32_t flags, const Gid& target,
                                                      std::optional<std::uint8_t> option_type) const {
    const auto head = Bytes<Icmpv6>{}.set(Icmpv6::type, type).set(Icmpv6::body, flags);
    auto octets = octets_of(head);
    append(octets, target.octets);
    if (option_type)
        append(octets,
               interface_.policy(Family::ipv6).nd_option(*option_type, interface_.hardware_address(Family::ipv6)));
    return octets;
}

void NeighbourDiscovery::solicit(const Gid& target, const Peer* peer) {
    const auto source = interface_.asks_from(IpAddress::v6(target), peer != nullptr);
    if (!source) return;
    const auto& policy = interface_.policy(Family::ipv6);
    const IpHead head{.source = *source,
                      .destination = IpAddress::v6(peer ? target : policy.solicitation_group(target)),
                      .protocol = IpProtocol::icmpv6,
                      .hop_limit = policy.solicited_hop_limit};
    const auto option = policy.sends_nd_option(false) ? std::optional{policy.nd_source} : std::nullopt;
    auto octets = message(Icmpv6Type::neighbour_solicitation, 0, target, option);
    set_checksum(head, octets);
    const auto datagram = ip_datagram(head, octets);
    if (peer)
        interface_.paths().send(*peer, EtherType::ipv6, datagram);
    else
        interface_.egress().send(head.destination, EtherType::ipv6, datagram);
}

void NeighbourDiscovery::receive(const IpDatagram& datagram) {
    constexpr auto before_options = Icmpv6::size + NdTarget::size;
    const auto head = View<Icmpv6>::at(datagram.payload);
    const auto& policy = interface_.policy(Family::ipv6);
    const bool is_of_link = datagram.hop_limit == only_from_the_link || !policy.demands_link_local_discovery;
    if (!is_of_link || datagram.payload.size() < before_options || head[Icmpv6::code] != 0) return;
    const auto target = View<NdTarget>::at(datagram.payload.subspan(Icmpv6::size))[NdTarget::target];
    const auto options = options_of(datagram.payload.subspan(before_options));
    if (!options.are_whole || (options.has_unknown && !policy.ignores_unknown_options) || target.is_multicast() ||
        IpAddress::v6(target).is_v4())
        return;
    if (head[Icmpv6::type] == Icmpv6Type::neighbour_solicitation) solicited(datagram, target, options.source);
    if (head[Icmpv6::type] == Icmpv6Type::neighbour_advertisement) advertised(datagram, target, options.target);
}

void NeighbourDiscovery::solicited(const IpDatagram& datagram, const Gid& target, View<LinkAddressOption> source) {
    const auto& policy = interface_.policy(Family::ipv6);
    if (!policy.answers_for(interface_.answers_at(IpAddress::v6(target))) || !policy.answers_solicitations) return;
    const auto& from = datagram.source;
    if (from.octets.is_zero() && !policy.defends_address) return;
    // RFC 4862: who asks without an address tries whether the target is free. All nodes hear the answer.
    if (from.octets.is_zero()) return advertise(target, all_nodes(false), datagram.destination, nullptr);
    if (from.is_multicast()) return;
    if (!source) return advertise(target, from, datagram.destination, nullptr);
    const auto hardware = address_of(source);
    if (!policy.accepts_flags(hardware[LinkAddress::flags])) return;
    interface_.neighbours().heard({.address = from,
                                   .link_address = hardware,
                                   .source_qp = datagram.source_qp,
                                   .source_lid = datagram.source_lid,
                                   .is_for_us = true});
    const Peer peer{hardware[LinkAddress::gid], policy.peer_qpn(hardware, datagram.source_qp)};
    advertise(target, from, datagram.destination, &peer);
}

void NeighbourDiscovery::advertised(const IpDatagram& datagram, const Gid& target, View<LinkAddressOption> option) {
    const auto flags = View<Icmpv6>::at(datagram.payload)[Icmpv6::body];
    const auto address = IpAddress::v6(target);
    if (datagram.came_to_group && !interface_.policy(Family::ipv6).heeds_answers_to_all) return;
    if (!option || !interface_.neighbours().knows(address) || interface_.has_address(address)) return;
    interface_.neighbours().heard({.address = address,
                                   .link_address = address_of(option),
                                   .source_qp = datagram.source_qp,
                                   .source_lid = datagram.source_lid,
                                   .is_answer = (flags & solicited_flag) != 0});
}

void NeighbourDiscovery::advertise(const Gid& target, const IpAddress& to, const IpAddress& asked_at,
                                   const Peer* peer) {
    const auto& policy = interface_.policy(Family::ipv6);
    const auto flags = override_flag | (to.is_multicast() || !policy.says_solicited ? 0 : solicited_flag);
    const IpHead head{.source = IpAddress::v6(target),
                      .destination = to,
                      .protocol = IpProtocol::icmpv6,
                      .hop_limit = policy.advertised_hop_limit};
    const auto option =
        policy.sends_nd_option(!asked_at.is_multicast()) ? std::optional{policy.nd_target} : std::nullopt;
    auto octets = message(Icmpv6Type::neighbour_advertisement, flags, target, option);
    set_checksum(head, octets);
    const auto datagram = ip_datagram(head, octets);
    if (to.is_multicast())
        interface_.egress().send(to, EtherType::ipv6, datagram);
    else if (peer)
        interface_.paths().send(*peer, EtherType::ipv6, datagram);
    else
        interface_.neighbours().send(to, EtherType::ipv6, datagram);
}

}  // namespace ipoib::stack

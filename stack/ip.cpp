// SPDX-License-Identifier: GPL-2.0-or-later
// IP of both versions over one interface.
#include "stack/ip.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

namespace {

constexpr std::size_t fragment_unit = 8, longest_datagram = 65535;
constexpr std::uint8_t more_fragments = 1;

/// Fragments carry the octets of the message one after the other; the head's alert option stays out of them.
IpHead fragment_head(const IpHead& head) {
    auto fragment = head;
    fragment.has_router_alert = false;
    return fragment;
}

}  // namespace

/// RFC 4391, 5: limited and directed broadcasts go to the broadcast group.
InternetProtocol::Way InternetProtocol::way_to(const IpAddress& destination) const {
    if (interface_.has_address(destination)) return Way::self;
    if (destination.is_limited_broadcast() || interface_.is_directed_broadcast(destination)) return Way::broadcast;
    if (destination.is_multicast()) return is_interface_local(destination) ? Way::none : Way::group;
    return interface_.is_on_link(destination) ? Way::neighbour : Way::none;
}

std::size_t InternetProtocol::mtu_of(Way way, const IpAddress& destination) const {
    const auto family = family_of(destination);
    return interface_.policy(family).longest_sent(way == Way::neighbour ? interface_.mtu_to(destination)
                                                                        : interface_.datagram_mtu(family));
}

bool InternetProtocol::fits(const IpHead& head, Octets message) const {
    const auto way = way_to(head.destination);
    return way == Way::self || ip_datagram(head, message).size() <= mtu_of(way, head.destination);
}

bool InternetProtocol::send(const IpHead& head, Octets message) {
    const auto way = way_to(head.destination);
    const auto header = head.destination.is_v4() ? Ipv4::size : Ipv6::size;
    if (!interface_.is_running() || way == Way::none || header + message.size() > longest_datagram) return false;
    if (way == Way::self) {
        deliver({.source = head.source,
                 .destination = head.destination,
                 .protocol = head.protocol,
                 .hop_limit = head.hop_limit,
                 .payload = message});
        return true;
    }
    const auto datagram = ip_datagram(head, message);
    const auto mtu = mtu_of(way, head.destination);
    if (datagram.size() <= mtu)
        emit(way, head.destination, datagram);
    else
        send_fragments(way, head, message, mtu);
    return true;
}

void InternetProtocol::emit(Way way, const IpAddress& destination, Octets datagram) {
    const auto protocol = destination.is_v4() ? EtherType::ipv4 : EtherType::ipv6;
    if (way == Way::neighbour) return interface_.neighbours().send(destination, protocol, datagram);
    if (way == Way::group) return interface_.egress().send(destination, protocol, datagram);
    const auto mgid = destination.is_limited_broadcast() ? mgid_for(interface_.policy(), interface_.link(), destination)
                                                         : interface_.link().broadcast_gid();
    if (const auto* group = interface_.groups().use(mgid)) send_multicast(interface_, *group, protocol, datagram);
}

void InternetProtocol::send_fragments(Way way, const IpHead& head, Octets message, std::size_t mtu) {
    const bool is_v4 = head.destination.is_v4();
    const auto before = is_v4 ? Ipv4::size : Ipv6::size + FragmentHeader::size;
    if (mtu < before + fragment_unit) return;
    const auto most = (mtu - before) / fragment_unit * fragment_unit;
    const auto identification = next_identification_++;
    for (std::size_t done = 0; done < message.size(); done += most) {
        const auto piece = message.subspan(done, std::min(most, message.size() - done));
        const bool has_more = done + piece.size() < message.size();
        const auto offset = static_cast<std::uint16_t>(done / fragment_unit);
        auto fragment = fragment_head(head);
        if (is_v4) {
            auto octets = ip_datagram(fragment, piece);
            set_field(octets, Ipv4::identification, static_cast<std::uint16_t>(identification));
            set_field(octets, Ipv4::flags, has_more ? more_fragments : std::uint8_t{0});
            set_field(octets, Ipv4::fragment_offset, offset);
            set_field(octets, Ipv4::checksum, 0);
            set_field(octets, Ipv4::checksum, internet_checksum(Octets{octets}.first(Ipv4::size)));
            emit(way, head.destination, octets);
        } else {
            const auto extension = Bytes<FragmentHeader>{}
                                       .set(FragmentHeader::next_header, head.protocol)
                                       .set(FragmentHeader::offset, offset)
                                       .set(FragmentHeader::more, has_more)
                                       .set(FragmentHeader::identification, identification);
            auto payload = octets_of(extension);
            append(payload, piece);
            fragment.protocol = IpProtocol::fragment;
            emit(way, head.destination, ip_datagram(fragment, payload));
        }
    }
}

bool InternetProtocol::is_for_us(const IpAddress& destination) const {
    if (interface_.answers_at(destination) || destination.is_limited_broadcast()) return true;
    if (destination.is_multicast())
        return interface_.router().is_enabled() || interface_.membership().is_member(destination);
    return interface_.is_directed_broadcast(destination);
}

void InternetProtocol::receive_v4(const Packet& packet) {
    const auto ip = packet.ipv4;
    if (packet.stop || ip[Ipv4::version] != 4) return;
    const auto header = ip[Ipv4::header_words] * std::size_t{4};
    const bool is_right = internet_checksum({ip.data(), header}) == 0;
    if ((!is_right && interface_.policy(Family::ipv4).checks_checksums) ||
        packet.ip_payload.size() + header != ip[Ipv4::total_length])
        return;
    IpDatagram datagram{.source = IpAddress::v4(ip[Ipv4::source]),
                        .destination = IpAddress::v4(ip[Ipv4::destination]),
                        .protocol = ip[Ipv4::protocol],
                        .hop_limit = ip[Ipv4::ttl],
                        .payload = packet.ip_payload,
                        .source_qp = packet.deth ? packet.deth[Deth::src_qp] : 0,
                        .source_lid = packet.lrh[Lrh::slid],
                        .came_to_group = packet.grh && packet.grh[Grh::dgid].is_multicast()};
    if (!is_for_us(datagram.destination)) return;
    if (packet.is_fragment)
        datagram.payload =
            reassembly_.add({datagram.source, datagram.destination, ip[Ipv4::identification], datagram.protocol},
                            ip[Ipv4::fragment_offset] * fragment_unit, (ip[Ipv4::flags] & more_fragments) != 0,
                            datagram.payload, interface_.loop().now());
    if (packet.is_fragment) look_at_overlap(true);
    if (!datagram.payload.empty()) deliver(datagram);
}

void InternetProtocol::receive_v6(const Packet& packet) {
    const auto ip = packet.ipv6;
    if (packet.stop || ip[Ipv6::version] != 6) return;
    IpDatagram datagram{.source = IpAddress::v6(ip[Ipv6::source]),
                        .destination = IpAddress::v6(ip[Ipv6::destination]),
                        .protocol = packet.ip_protocol,
                        .hop_limit = ip[Ipv6::hop_limit],
                        .payload = packet.ip_payload,
                        .source_qp = packet.deth ? packet.deth[Deth::src_qp] : 0,
                        .source_lid = packet.lrh[Lrh::slid],
                        .came_to_group = packet.grh && packet.grh[Grh::dgid].is_multicast()};
    // An IPv4-mapped address never stands in a packet, and here means IPv4.
    if (datagram.source.is_v4() || datagram.destination.is_v4() || datagram.source.is_multicast()) return;
    if (!is_for_us(datagram.destination)) return;
    if (packet.is_fragment) receive_fragment_v6(packet, datagram);
    if (!datagram.payload.empty()) deliver(datagram);
}

/// Only a fragment header right behind the IPv6 header, as every usual host sends it.
void InternetProtocol::receive_fragment_v6(const Packet& packet, IpDatagram& datagram) {
    const auto behind = packet.payload.subspan(packet.offset_of(packet.ipv6.data() + Ipv6::size) -
                                               packet.offset_of(packet.payload.data()));
    const auto fragment = View<FragmentHeader>::at(behind);
    const std::size_t length = packet.ipv6[Ipv6::payload_length];
    datagram.payload = {};
    if (packet.ipv6[Ipv6::next_header] != IpProtocol::fragment || !fragment || length > behind.size() ||
        length < FragmentHeader::size)
        return;
    datagram.protocol = fragment[FragmentHeader::next_header];
    datagram.payload =
        reassembly_.add({datagram.source, datagram.destination, fragment[FragmentHeader::identification], {}},
                        fragment[FragmentHeader::offset] * fragment_unit, fragment[FragmentHeader::more],
                        behind.subspan(FragmentHeader::size, length - FragmentHeader::size), interface_.loop().now());
    look_at_overlap(false);
}

void InternetProtocol::look_at_overlap(bool is_v4) {
    if (reassembly_.has_overlapped() && !interface_.policy(is_v4 ? Family::ipv4 : Family::ipv6).survives_overlap(is_v4))
        interface_.stall("a fragment that overlaps another");
}

void InternetProtocol::deliver(const IpDatagram& datagram) {
    const bool is_v4 = datagram.destination.is_v4();
    if (!has_right_checksum(datagram) && interface_.policy(family_of(datagram.destination)).checks_checksums) return;
    if (datagram.protocol == IpProtocol::udp && !interface_.sockets().receive(datagram))
        interface_.echo().refuse_port(datagram);
    if (is_v4 && datagram.protocol == IpProtocol::udp) {
        interface_.dhcp().receive(datagram);
        interface_.dhcp_server().receive(datagram);
    }
    if (is_v4 && datagram.protocol == IpProtocol::icmp) interface_.echo().receive_v4(datagram);
    if (is_v4 && datagram.protocol == IpProtocol::igmp) interface_.membership().receive_query(datagram);
    if (is_v4 || datagram.protocol != IpProtocol::icmpv6) return;
    const auto head = View<Icmpv6>::at(datagram.payload);
    if (!head) return;
    switch (head[Icmpv6::type]) {
        case Icmpv6Type::echo_request:
        case Icmpv6Type::echo_reply:
            return interface_.echo().receive_v6(datagram);
        case Icmpv6Type::neighbour_solicitation:
        case Icmpv6Type::neighbour_advertisement:
            return interface_.neighbour_discovery().receive(datagram);
        case Icmpv6Type::mld_query:
            return interface_.membership().receive_query(datagram);
        default:
            return;
    }
}

}  // namespace ipoib::stack

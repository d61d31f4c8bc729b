// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams in one piece, and the checksums of what they carry. RFC 791; RFC 8200, 8.1; RFC 768; RFC 792; RFC 4443.
#include "protocol/wire/igmp.hpp"
#include "stack/ip.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {

/// RFC 2113; RFC 2711 with padding behind the next header and the length.
constexpr std::array<std::uint8_t, 4> ipv4_router_alert{148, 4, 0, 0};
constexpr std::array<std::uint8_t, 6> ipv6_router_alert{5, 2, 0, 0, 1, 0};

std::uint32_t words_of(const IpAddress& address) noexcept {
    const auto& octets = address.octets.octets;
    std::uint32_t sum = 0;
    for (std::size_t i = address.is_v4() ? 12 : 0; i < octets.size(); i += 2)
        sum += static_cast<std::uint32_t>(octets[i] << 8 | octets[i + 1]);
    return sum;
}

/// The checksum over a message with what counts in beside it; zero for a right one.
std::uint16_t sum_of(const IpAddress& source, const IpAddress& destination, IpProtocol protocol,
                     Octets message) noexcept {
    const bool has_pseudo_header = protocol == IpProtocol::udp || protocol == IpProtocol::icmpv6;
    const auto length = static_cast<std::uint32_t>(message.size());
    const auto pseudo_header = words_of(source) + words_of(destination) + static_cast<std::uint32_t>(protocol) + length;
    return internet_checksum(message, has_pseudo_header ? pseudo_header : 0);
}

std::vector<std::uint8_t> ipv4_datagram(const IpHead& head, Octets payload) {
    const std::size_t length = Ipv4::size + (head.has_router_alert ? ipv4_router_alert.size() : 0);
    Bytes<Ipv4> ip;
    ip.set(Ipv4::version, 4)
        .set(Ipv4::header_words, static_cast<std::uint8_t>(length / 4))
        .set(Ipv4::total_length, static_cast<std::uint16_t>(length + payload.size()))
        .set(Ipv4::ttl, head.hop_limit)
        .set(Ipv4::protocol, head.protocol)
        .set(Ipv4::source, head.source.v4())
        .set(Ipv4::destination, head.destination.v4());
    auto octets = octets_of(ip);
    if (head.has_router_alert) append(octets, ipv4_router_alert);
    set_field(octets, Ipv4::checksum, internet_checksum(octets));
    append(octets, payload);
    return octets;
}

std::vector<std::uint8_t> ipv6_datagram(const IpHead& head, Octets payload) {
    const std::size_t extension = head.has_router_alert ? ipv6_router_alert.size() + 2 : 0;
    Bytes<Ipv6> ip;
    ip.set(Ipv6::version, 6)
        .set(Ipv6::payload_length, static_cast<std::uint16_t>(extension + payload.size()))
        .set(Ipv6::next_header, head.has_router_alert ? IpProtocol::hop_by_hop : head.protocol)
        .set(Ipv6::hop_limit, head.hop_limit)
        .set(Ipv6::source, head.source.octets)
        .set(Ipv6::destination, head.destination.octets);
    auto octets = octets_of(ip);
    if (head.has_router_alert) {
        octets.push_back(static_cast<std::uint8_t>(head.protocol));
        octets.push_back(0);
        append(octets, ipv6_router_alert);
    }
    append(octets, payload);
    return octets;
}

}  // namespace

void set_checksum(const IpHead& head, MutableOctets message) noexcept {
    const auto sum = sum_of(head.source, head.destination, head.protocol, message);
    if (head.protocol == IpProtocol::udp) set_field(message, Udp::checksum, sum == 0 ? std::uint16_t{0xffff} : sum);
    if (head.protocol == IpProtocol::icmp) set_field(message, Icmp::checksum, sum);
    if (head.protocol == IpProtocol::icmpv6) set_field(message, Icmpv6::checksum, sum);
    if (head.protocol == IpProtocol::igmp) set_field(message, Igmp::checksum, sum);
}

bool has_right_checksum(const IpDatagram& datagram) noexcept {
    if (datagram.protocol == IpProtocol::udp && datagram.source.is_v4()) {
        const auto udp = View<Udp>::at(datagram.payload);
        if (udp && udp[Udp::checksum] == 0) return true;
    }
    return sum_of(datagram.source, datagram.destination, datagram.protocol, datagram.payload) == 0;
}

std::vector<std::uint8_t> ip_datagram(const IpHead& head, Octets payload) {
    return head.destination.is_v4() ? ipv4_datagram(head, payload) : ipv6_datagram(head, payload);
}

}  // namespace ipoib::stack

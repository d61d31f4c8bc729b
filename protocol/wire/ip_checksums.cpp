// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/ip_checksums.hpp"

namespace ipoib::wire {
namespace {

/// Of the header with its options. RFC 791, 3.1.
bool has_right_header(const Packet& packet) {
    const auto from = packet.octets.subspan(packet.offset_of(packet.ipv4.data()));
    const auto size = packet.ipv4[Ipv4::header_words] * std::size_t{4};
    return from.size() < size || internet_checksum(from.first(size)) == 0;
}

bool is_whole(const Packet& packet) {
    if (packet.is_fragment || packet.ip_payload.empty()) return false;
    const auto* ip = packet.ipv4 ? packet.ipv4.data() : packet.ipv6.data();
    return packet.offset_of(packet.ip_payload.data()) + packet.ip_payload.size() ==
           packet.offset_of(ip) + packet.ip_length();
}

/// The sum of addresses, length and protocol. RFC 768; RFC 8200, 8.1.
std::uint32_t pseudo_header(const Packet& packet) {
    auto sum = static_cast<std::uint32_t>(packet.ip_payload.size()) + static_cast<std::uint32_t>(packet.ip_protocol);
    const auto add = [&](Octets addresses) {
        for (std::size_t i = 0; i + 1 < addresses.size(); i += 2)
            sum += static_cast<std::uint32_t>(addresses[i] << 8 | addresses[i + 1]);
    };
    if (packet.ipv4)
        add(packet.ipv4.octets().subspan(Ipv4::source.at.bit / 8, 8));
    else
        add(packet.ipv6.octets().subspan(Ipv6::source.at.bit / 8, 32));
    return sum;
}

}  // namespace

bool has_right_checksums(const Packet& packet) noexcept {
    if (!packet.ipv4 && !packet.ipv6) return true;
    if (packet.ipv4 && !has_right_header(packet)) return false;
    if (!is_whole(packet)) return true;
    switch (packet.ip_protocol) {
        case IpProtocol::udp:
            if (packet.udp && packet.udp[Udp::checksum] == 0) return static_cast<bool>(packet.ipv4);
            [[fallthrough]];
        case IpProtocol::tcp:
        case IpProtocol::icmpv6:
            return internet_checksum(packet.ip_payload, pseudo_header(packet)) == 0;
        case IpProtocol::icmp:
        case IpProtocol::igmp:
            return internet_checksum(packet.ip_payload) == 0;
        default:
            return true;
    }
}

}  // namespace ipoib::wire

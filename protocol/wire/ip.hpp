// SPDX-License-Identifier: GPL-2.0-or-later
// IPv4, IPv6, UDP and ICMP headers, as far as IPoIB judges or builds them. RFC 791, 8200, 768, 792.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

enum class IpProtocol : std::uint8_t {
    hop_by_hop = 0,
    icmp = 1,
    igmp = 2,
    tcp = 6,
    udp = 17,
    routing = 43,
    fragment = 44,
    icmpv6 = 58,
    none = 59,
    destination_options = 60,
};
inline constexpr std::array<Named, 10> ip_protocol_names{{{0, "Hop-by-Hop Options"},
                                                          {1, "ICMP"},
                                                          {2, "IGMP"},
                                                          {6, "TCP"},
                                                          {17, "UDP"},
                                                          {43, "Routing"},
                                                          {44, "Fragment"},
                                                          {58, "ICMPv6"},
                                                          {59, "No Next Header"},
                                                          {60, "Destination Options"}}};

/// IPv4 header without options. RFC 791, 3.1.
struct Ipv4 {
    static constexpr std::string_view key = "ipv4", name = "IPv4", title = "Internet Protocol version 4";
    static constexpr std::size_t size = 20;
    template <class T>
    using F = Field<Ipv4, T>;

    static constexpr F<std::uint8_t> version{"Version", octet(0), 4, Show::dec, "Always 4"};
    static constexpr F<std::uint8_t> header_words{"IHL", octet(0, 4), 4, Show::dec, "Header length in 4-octet words"};
    static constexpr F<std::uint8_t> tos{"TOS", octet(1), 8, Show::hex, "Type of service"};
    static constexpr F<std::uint16_t> total_length{"TotalLength", octet(2), 16, Show::dec,
                                                   "Header and data, in octets"};
    static constexpr F<std::uint16_t> identification{"Identification", octet(4), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> flags{"Flags", octet(6), 3, Show::hex, "Reserved, DF, MF"};
    static constexpr F<std::uint16_t> fragment_offset{"FragmentOffset", octet(6, 3), 13, Show::dec, "In 8-octet units"};
    static constexpr F<std::uint8_t> ttl{"TTL", octet(8), 8, Show::dec, "Time to live"};
    static constexpr F<IpProtocol> protocol{"Protocol", octet(9), 8, Show::dec, "", ip_protocol_names};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(10), 16, Show::hex, "Of the header"};
    static constexpr F<std::uint32_t> source{"Source", octet(12), 32, Show::ipv4, ""};
    static constexpr F<std::uint32_t> destination{"Destination", octet(16), 32, Show::ipv4, ""};
    static constexpr auto fields = table(version, header_words, tos, total_length, identification, flags,
                                         fragment_offset, ttl, protocol, checksum, source, destination);
};
static_assert(tiles(Ipv4::fields, Ipv4::size));

/// IPv6 header. RFC 8200, 3.
struct Ipv6 {
    static constexpr std::string_view key = "ipv6", name = "IPv6", title = "Internet Protocol version 6";
    static constexpr std::size_t size = 40;
    template <class T>
    using F = Field<Ipv6, T>;

    static constexpr F<std::uint8_t> version{"Version", octet(0), 4, Show::dec, "Always 6"};
    static constexpr F<std::uint8_t> traffic_class{"TrafficClass", octet(0, 4), 8, Show::hex, ""};
    static constexpr F<std::uint32_t> flow_label{"FlowLabel", octet(1, 4), 20, Show::hex, ""};
    static constexpr F<std::uint16_t> payload_length{"PayloadLength", octet(4), 16, Show::dec,
                                                     "Octets after the header"};
    static constexpr F<IpProtocol> next_header{"NextHeader", octet(6), 8, Show::dec, "", ip_protocol_names};
    static constexpr F<std::uint8_t> hop_limit{"HopLimit", octet(7), 8, Show::dec, ""};
    static constexpr F<Gid> source{"Source", octet(8), 128, Show::ipv6, ""};
    static constexpr F<Gid> destination{"Destination", octet(24), 128, Show::ipv6, ""};
    static constexpr auto fields =
        table(version, traffic_class, flow_label, payload_length, next_header, hop_limit, source, destination);
};
static_assert(tiles(Ipv6::fields, Ipv6::size));

/// UDP header. RFC 768.
struct Udp {
    static constexpr std::string_view key = "udp", name = "UDP", title = "User Datagram Protocol";
    static constexpr std::size_t size = 8;
    static constexpr Field<Udp, std::uint16_t> source{"SourcePort", octet(0), 16, Show::dec, ""};
    static constexpr Field<Udp, std::uint16_t> destination{"DestinationPort", octet(2), 16, Show::dec, ""};
    static constexpr Field<Udp, std::uint16_t> length{"Length", octet(4), 16, Show::dec, "Header and data, in octets"};
    static constexpr Field<Udp, std::uint16_t> checksum{"Checksum", octet(6), 16, Show::hex, ""};
    static constexpr auto fields = table(source, destination, length, checksum);
};
static_assert(tiles(Udp::fields, Udp::size));

/// ICMP echo request or reply, or the head of any other ICMP message. RFC 792.
struct Icmp {
    static constexpr std::string_view key = "icmp", name = "ICMP", title = "Internet Control Message Protocol";
    static constexpr std::size_t size = 8;
    static constexpr std::uint8_t echo_reply = 0, echo_request = 8;
    static constexpr std::array<Named, 2> type_names{{{echo_reply, "echo reply"}, {echo_request, "echo request"}}};
    static constexpr Field<Icmp, std::uint8_t> type{"Type", octet(0), 8, Show::dec, "", type_names};
    static constexpr Field<Icmp, std::uint8_t> code{"Code", octet(1), 8, Show::dec, ""};
    static constexpr Field<Icmp, std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, ""};
    static constexpr Field<Icmp, std::uint16_t> identifier{"Identifier", octet(4), 16, Show::hex, ""};
    static constexpr Field<Icmp, std::uint16_t> sequence{"Sequence", octet(6), 16, Show::dec, ""};
    static constexpr auto fields = table(type, code, checksum, identifier, sequence);
};
static_assert(tiles(Icmp::fields, Icmp::size));

namespace detail {
/// The sum of the pairs of octets in front, of which there are so many as it finds good; and how many octets these are.
struct PairSum {
    std::uint64_t sum;
    std::size_t octets;
};
[[nodiscard]] PairSum sum_of_pairs(Octets octets) noexcept;
}  // namespace detail

/// The Internet checksum of the octets, with a pseudo-header's sum as start. RFC 1071.
constexpr std::uint16_t internet_checksum(Octets octets, std::uint32_t start = 0) noexcept {
    std::uint64_t sum = start;
    std::size_t i = 0;
    constexpr std::size_t worth_a_call = 16;
    if (!std::is_constant_evaluated() && octets.size() >= worth_a_call) {
        const auto front = detail::sum_of_pairs(octets);
        sum += front.sum;
        i = front.octets;
    }
    for (; i + 1 < octets.size(); i += 2) sum += static_cast<unsigned>(octets[i] << 8 | octets[i + 1]);
    if (i < octets.size()) sum += static_cast<unsigned>(octets[i] << 8);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace ipoib::wire

// SPDX-License-Identifier: GPL-2.0-or-later
// What stands between the header of IP and what it carries. RFC 791, 3.1; RFC 8200, 4.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

using IpExtension = std::vector<std::uint8_t>;

inline build::PacketBuilder with_echo_behind(build::PacketBuilder packet, const Situation& s,
                                             const IpExtension& extension) {
    constexpr auto first_number = 1;
    if (s.is_ipv6())
        packet.add(Bytes<Icmpv6>{}
                       .set(Icmpv6::type, Icmpv6Type::echo_request)
                       .set(Icmpv6::body, std::uint32_t{s.nonce} << 16 | first_number));
    else
        packet.set(Ipv4::header_words, static_cast<std::uint8_t>((Ipv4::size + extension.size()) / 4))
            .add(Bytes<Icmp>{}
                     .set(Icmp::type, Icmp::echo_request)
                     .set(Icmp::identifier, s.nonce)
                     .set(Icmp::sequence, first_number));
    return packet.add(payload_of(s.nonce, 56));
}

/// An echo request with options of IPv4, or behind an extension header of IPv6 of this kind.
inline Message echo_request_behind(std::string what, const IpExtension& extension, IpProtocol kind = IpProtocol::icmp) {
    return {std::move(what), [=](const Situation& s) {
                constexpr std::uint8_t usual_hop_limit = 64;
                auto packet = build::unicast(s.tester, s.dut, s.link);
                if (s.is_ipv6())
                    packet.add(Bytes<Ipv6>{}
                                   .set(Ipv6::source, s.tester.ipv6)
                                   .set(Ipv6::destination, s.dut.ipv6)
                                   .set(Ipv6::next_header, kind)
                                   .set(Ipv6::hop_limit, usual_hop_limit));
                else
                    packet.add(Bytes<Ipv4>{}
                                   .set(Ipv4::source, s.tester.ipv4)
                                   .set(Ipv4::destination, s.dut.ipv4)
                                   .set(Ipv4::protocol, IpProtocol::icmp));
                packet.add(extension);
                return with_echo_behind(std::move(packet), s, extension);
            }};
}

/// Echo requests with options of IPv4, or with extension headers of IPv6, by the family of the situation. They are
/// padding, which every host has to pass over (RFC 1122, 3.2.1.8; RFC 8200, 4.2), and in IPv6 no more than Linux takes:
/// options of routes, and what routers look at, are dropped by careful hosts (RFC 7126).
inline std::vector<Message> echo_requests_with_options(const Situation& situation) {
    if (!situation.is_ipv6()) {
        const IpExtension most(40, std::uint8_t{1});
        return {echo_request_behind("echo request with an option of 4 octets", {1, 1, 1, 0}),
                echo_request_behind("echo request with 40 octets of options", most)};
    }
    constexpr std::uint8_t icmpv6 = 58, pad_n = 1;
    constexpr auto destination_options = static_cast<IpProtocol>(60);
    return {echo_request_behind("echo request with Destination Options", {icmpv6, 0, pad_n, 4, 0, 0, 0, 0},
                                destination_options)};
}

}  // namespace ipoib::conformance

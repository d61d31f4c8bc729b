// SPDX-License-Identifier: GPL-2.0-or-later
// Address Resolution Protocol and its reverse, over InfiniBand. RFC 826, RFC 903; RFC 4391, 9.2.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

inline constexpr std::array<Named, 4> arp_operation_names{
    {{1, "request"}, {2, "reply"}, {3, "reverse request"}, {4, "reverse reply"}}};

/// The fixed part, before the addresses. RFC 826.
struct Arp {
    static constexpr std::string_view key = "arp", name = "ARP", title = "Address Resolution Protocol";
    static constexpr std::size_t size = 8;
    static constexpr std::uint16_t infiniband = 32, request = 1, reply = 2, reverse_request = 3, reverse_reply = 4;
    static constexpr std::array<Named, 2> hardware_names{{{1, "Ethernet"}, {infiniband, "InfiniBand"}}};
    template <class T>
    using F = Field<Arp, T>;

    static constexpr F<std::uint16_t> hardware{"ar$hrd", octet(0), 16, Show::dec, "Hardware type", hardware_names};
    static constexpr F<std::uint16_t> protocol{"ar$pro", octet(2), 16, Show::hex, "Protocol type"};
    static constexpr F<std::uint8_t> hardware_length{"ar$hln", octet(4), 8, Show::dec, "Octets of a hardware address"};
    static constexpr F<std::uint8_t> protocol_length{"ar$pln", octet(5), 8, Show::dec, "Octets of a protocol address"};
    static constexpr F<std::uint16_t> operation{"ar$op", octet(6), 16, Show::dec, "Operation", arp_operation_names};
    static constexpr auto fields = table(hardware, protocol, hardware_length, protocol_length, operation);
};
static_assert(tiles(Arp::fields, Arp::size));

/// The addresses of an ARP packet with 20-octet hardware and 4-octet protocol addresses. RFC 4391, 9.2.
struct ArpAddresses {
    static constexpr std::string_view key = "arp_addresses", name = "ARP", title = "ARP addresses";
    static constexpr std::size_t size = 48;
    template <class T>
    using F = Field<ArpAddresses, T>;

    static constexpr F<std::uint8_t> sha_flags{"SHA.Flags", octet(0), 8, Show::hex, "Sender's flags octet"};
    static constexpr F<std::uint32_t> sha_qpn{"SHA.QPN", octet(1), 24, Show::hex, "Sender's QPN"};
    static constexpr F<Gid> sha_gid{"SHA.GID", octet(4), 128, Show::gid, "Sender's GID"};
    static constexpr F<std::uint32_t> spa{"SPA", octet(20), 32, Show::ipv4, "Sender's IPv4 address"};
    static constexpr F<std::uint8_t> tha_flags{"THA.Flags", octet(24), 8, Show::hex, "Target's flags octet"};
    static constexpr F<std::uint32_t> tha_qpn{"THA.QPN", octet(25), 24, Show::hex, "Target's QPN"};
    static constexpr F<Gid> tha_gid{"THA.GID", octet(28), 128, Show::gid, "Target's GID"};
    static constexpr F<std::uint32_t> tpa{"TPA", octet(44), 32, Show::ipv4, "Target's IPv4 address"};
    static constexpr auto fields = table(sha_flags, sha_qpn, sha_gid, spa, tha_flags, tha_qpn, tha_gid, tpa);
};
static_assert(tiles(ArpAddresses::fields, ArpAddresses::size));

}  // namespace ipoib::wire

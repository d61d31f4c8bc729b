// SPDX-License-Identifier: GPL-2.0-or-later
// The 4-octet encapsulation header before every IP, ARP or RARP datagram. RFC 4391, 6.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Protocols of the encapsulation header, by their Ethernet type. RFC 4391, 6, table 1.
enum class EtherType : std::uint16_t { ipv4 = 0x0800, arp = 0x0806, rarp = 0x8035, ipv6 = 0x86dd };

inline constexpr std::array<Named, 4> ether_type_names{
    {{0x0800, "IPv4"}, {0x0806, "ARP"}, {0x8035, "RARP"}, {0x86dd, "IPv6"}}};

/// Encapsulation header. RFC 4391, 6, figure 3.
struct Encap {
    static constexpr std::string_view key = "encap", name = "Encap", title = "IPoIB encapsulation header";
    static constexpr std::size_t size = 4;
    template <class T>
    using F = Field<Encap, T>;

    static constexpr F<EtherType> type{"Type", octet(0), 16, Show::hex, "Encapsulated protocol", ether_type_names};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(2), 16, Show::reserved,
                                               "Zero on send, ignored on receive"};
    static constexpr auto fields = table(type, reserved);
};
static_assert(tiles(Encap::fields, Encap::size));

}  // namespace ipoib::wire

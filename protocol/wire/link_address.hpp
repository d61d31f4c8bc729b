// SPDX-License-Identifier: GPL-2.0-or-later
// The 20-octet IPoIB link-layer address, in ARP and in Neighbour Discovery options. RFC 4391, 9.1.1 and 9.3; RFC
// 4755, 3.1.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// The two flags that RFC 4755 section 3.1 takes out of the reserved octet.
inline constexpr std::uint8_t flag_rc = 0x80, flag_uc = 0x40;

/// Link-layer address: flags, QPN and GID. RFC 4391, 9.1.1, figure 5.
struct LinkAddress {
    static constexpr std::string_view key = "link_address", name = "LinkAddress", title = "IPoIB link-layer address";
    static constexpr std::size_t size = 20;
    template <class T>
    using F = Field<LinkAddress, T>;

    static constexpr F<std::uint8_t> flags{"Flags", octet(0), 8, Show::hex,
                                           "Reserved in RFC 4391; RFC 4755 has RC 0x80 and UC 0x40"};
    static constexpr F<std::uint32_t> qpn{"QPN", octet(1), 24, Show::hex,
                                          "Queue pair that receives the interface's IP"};
    static constexpr F<Gid> gid{"GID", octet(4), 128, Show::gid, "A GID of the interface's port"};
    static constexpr auto fields = table(flags, qpn, gid);
};
static_assert(tiles(LinkAddress::fields, LinkAddress::size));

/// Source or Target Link-layer Address option of Neighbour Discovery. RFC 4391, 9.3.
struct LinkAddressOption {
    static constexpr std::string_view key = "lla_option", name = "LinkAddressOption",
                                      title = "Link-layer Address option";
    static constexpr std::size_t size = 24;
    static constexpr std::uint8_t source = 1, target = 2;
    static constexpr std::array<Named, 2> type_names{
        {{source, "Source Link-layer Address"}, {target, "Target Link-layer Address"}}};
    template <class T>
    using F = Field<LinkAddressOption, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::dec, "Option type", type_names};
    static constexpr F<std::uint8_t> length{"Length", octet(1), 8, Show::dec, "In 8-octet units: 3 on InfiniBand"};
    static constexpr F<std::uint16_t> padding{"Padding", octet(2), 16, Show::hex, "Two zero octets before the address"};
    static constexpr F<std::uint8_t> flags{"Flags", octet(4), 8, Show::hex, "As in LinkAddress"};
    static constexpr F<std::uint32_t> qpn{"QPN", octet(5), 24, Show::hex, "As in LinkAddress"};
    static constexpr F<Gid> gid{"GID", octet(8), 128, Show::gid, "As in LinkAddress"};
    static constexpr auto fields = table(type, length, padding, flags, qpn, gid);
};
static_assert(tiles(LinkAddressOption::fields, LinkAddressOption::size));

}  // namespace ipoib::wire

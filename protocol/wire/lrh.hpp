// SPDX-License-Identifier: GPL-2.0-or-later
// Local Route Header. IBTA Vol 1, 7.7.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// What follows the LRH (link next header).
enum class Lnh : std::uint8_t { raw = 0, ipv6 = 1, local = 2, global = 3 };

/// Local Route Header: first header of every InfiniBand packet. IBTA Vol 1, 7.7.
struct Lrh {
    static constexpr std::string_view key = "lrh", name = "LRH", title = "Local Route Header";
    static constexpr std::size_t size = 8;
    static constexpr std::array<Named, 4> lnh_names{
        {{0, "raw packet"}, {1, "raw IPv6"}, {2, "IBA local"}, {3, "IBA global (GRH follows)"}}};
    template <class T>
    using F = Field<Lrh, T>;

    static constexpr F<std::uint8_t> vl{"VL", octet(0), 4, Show::dec, "Virtual lane"};
    static constexpr F<std::uint8_t> version{"LVer", octet(0, 4), 4, Show::dec, "Link version"};
    static constexpr F<std::uint8_t> sl{"SL", octet(1), 4, Show::dec, "Service level"};
    static constexpr F<std::uint8_t> reserved1{"Reserved1", octet(1, 4), 2, Show::reserved, ""};
    static constexpr F<Lnh> lnh{"LNH", octet(1, 6), 2, Show::dec, "Link next header", lnh_names};
    static constexpr F<std::uint16_t> dlid{"DLID", octet(2), 16, Show::hex, "Destination LID"};
    static constexpr F<std::uint8_t> reserved2{"Reserved2", octet(4), 5, Show::reserved, ""};
    static constexpr F<std::uint16_t> packet_length{"PktLen", octet(4, 5), 11, Show::dec,
                                                    "4-octet words from the LRH to the ICRC"};
    static constexpr F<std::uint16_t> slid{"SLID", octet(6), 16, Show::hex, "Source LID"};
    static constexpr auto fields = table(vl, version, sl, reserved1, lnh, dlid, reserved2, packet_length, slid);
};
static_assert(tiles(Lrh::fields, Lrh::size));

/// Whether a LID is one of a multicast group (MLID). IBTA Vol 1, 4.1.3.
constexpr bool is_multicast_lid(std::uint16_t lid) noexcept { return lid >= 0xc000 && lid <= 0xfffe; }

}  // namespace ipoib::wire

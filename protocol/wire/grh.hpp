// SPDX-License-Identifier: GPL-2.0-or-later
// Global Route Header. IBTA Vol 1, 8.3.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Global Route Header: on every multicast packet and between IB subnets. IBTA Vol 1, 8.3; RFC 4391, 6.
struct Grh {
    static constexpr std::string_view key = "grh", name = "GRH", title = "Global Route Header";
    static constexpr std::size_t size = 40;
    /// The only NxtHdr that an IBA transport packet carries.
    static constexpr std::uint8_t iba_transport = 0x1b;
    static constexpr std::array<Named, 1> next_header_names{{{iba_transport, "IBA transport"}}};
    template <class T>
    using F = Field<Grh, T>;

    static constexpr F<std::uint8_t> version{"IPVer", octet(0), 4, Show::dec, "Always 6"};
    static constexpr F<std::uint8_t> traffic_class{"TClass", octet(0, 4), 8, Show::hex, "Traffic class"};
    static constexpr F<std::uint32_t> flow_label{"FlowLabel", octet(1, 4), 20, Show::hex, "Flow label"};
    static constexpr F<std::uint16_t> payload_length{"PayLen", octet(4), 16, Show::dec,
                                                     "Octets after the GRH, ICRC included"};
    static constexpr F<std::uint8_t> next_header{"NxtHdr", octet(6), 8, Show::hex, "Next header", next_header_names};
    static constexpr F<std::uint8_t> hop_limit{"HopLimit", octet(7), 8, Show::dec, "Hop limit"};
    static constexpr F<Gid> sgid{"SGID", octet(8), 128, Show::gid, "Source GID"};
    static constexpr F<Gid> dgid{"DGID", octet(24), 128, Show::gid, "Destination GID, the MGID of a multicast packet"};
    static constexpr auto fields =
        table(version, traffic_class, flow_label, payload_length, next_header, hop_limit, sgid, dgid);
};
static_assert(tiles(Grh::fields, Grh::size));

}  // namespace ipoib::wire

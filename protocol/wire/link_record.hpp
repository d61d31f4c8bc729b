// SPDX-License-Identifier: GPL-2.0-or-later
// LinkRecord: the two ends of a link, as the subnet administrator tells them. IBTA Vol 1, 15.2.5.13.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

struct LinkRecord {
    static constexpr std::string_view key = "link_record", name = "LinkRecord", title = "Link Record";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<LinkRecord, T>;

    static constexpr F<std::uint16_t> from_lid{"FromLID", octet(0), 16, Show::hex, "Of one end"};
    static constexpr F<std::uint8_t> from_port{"FromPort", octet(2), 8, Show::dec, "Of its node"};
    static constexpr F<std::uint8_t> to_port{"ToPort", octet(3), 8, Show::dec, "Of the other end's node"};
    static constexpr F<std::uint16_t> to_lid{"ToLID", octet(4), 16, Show::hex, "Of the other end"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(6), 16, Show::reserved, ""};
    static constexpr auto fields = table(from_lid, from_port, to_port, to_lid, reserved);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t from_lid = 1u << 0, from_port = 1u << 1, to_port = 1u << 2, to_lid = 1u << 3;
    };
};
static_assert(tiles(LinkRecord::fields, LinkRecord::size));

}  // namespace ipoib::wire

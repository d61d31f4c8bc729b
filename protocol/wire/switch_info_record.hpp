// SPDX-License-Identifier: GPL-2.0-or-later
// SwitchInfoRecord: what a switch can hold, as the subnet administrator tells it. IBTA Vol 1, 14.2.5.4 and 15.2.5.4.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// With the first of the SwitchInfo's rows; the others are octets.
struct SwitchInfoRecord {
    static constexpr std::string_view key = "switch_info_record", name = "SwitchInfoRecord",
                                      title = "Switch Info Record";
    static constexpr std::size_t size = 24;
    template <class T>
    using F = Field<SwitchInfoRecord, T>;

    static constexpr F<std::uint16_t> lid{"LID", octet(0), 16, Show::hex, "Of the switch"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(2), 16, Show::reserved, ""};
    static constexpr F<std::uint16_t> linear_cap{"LinearFDBCap", octet(4), 16, Show::dec, "Entries"};
    static constexpr F<std::uint16_t> random_cap{"RandomFDBCap", octet(6), 16, Show::dec, "Entries"};
    static constexpr F<std::uint16_t> multicast_cap{"MulticastFDBCap", octet(8), 16, Show::dec, "Entries"};
    static constexpr F<OctetArray<14>> rest{"SwitchInfoRest", octet(10), 112, Show::octets, "LinearFDBTop and more"};
    static constexpr auto fields = table(lid, reserved, linear_cap, random_cap, multicast_cap, rest);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t lid = 1u << 0;
    };
};
static_assert(tiles(SwitchInfoRecord::fields, SwitchInfoRecord::size));

}  // namespace ipoib::wire

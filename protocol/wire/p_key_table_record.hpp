// SPDX-License-Identifier: GPL-2.0-or-later
// P_KeyTableRecord: a block of a port's partition table, as the subnet administrator tells it. IBTA Vol 1, 15.2.5.11.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

struct PKeyTableRecord {
    static constexpr std::string_view key = "p_key_table_record", name = "P_KeyTableRecord",
                                      title = "P_Key Table Record";
    static constexpr std::size_t size = 72;
    static constexpr std::size_t entries = 32;  ///< P_Keys in a block
    template <class T>
    using F = Field<PKeyTableRecord, T>;

    static constexpr F<std::uint16_t> lid{"LID", octet(0), 16, Show::hex, "Of the port"};
    static constexpr F<std::uint16_t> block{"BlockNum", octet(2), 16, Show::dec, "Of 32 P_Keys"};
    static constexpr F<std::uint8_t> port_num{"PortNum", octet(4), 8, Show::dec, "Of a switch"};
    static constexpr F<std::uint32_t> reserved{"Reserved", octet(5), 24, Show::reserved, ""};
    static constexpr F<OctetArray<2 * entries>> p_keys{"P_KeyTable", octet(8), 512, Show::octets, "Zero: no entry"};
    static constexpr auto fields = table(lid, block, port_num, reserved, p_keys);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t lid = 1u << 0, block = 1u << 1, port_num = 1u << 2;
    };
};
static_assert(tiles(PKeyTableRecord::fields, PKeyTableRecord::size));

/// Entry `index` of the block; 0 where there is none.
constexpr std::uint16_t p_key_in(const View<PKeyTableRecord>& record, std::size_t index) noexcept {
    const auto octets = record[PKeyTableRecord::p_keys];
    return static_cast<std::uint16_t>(octets[2 * index] << 8 | octets[2 * index + 1]);
}

}  // namespace ipoib::wire

// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes of switches that are tables cut into blocks. IBTA Vol 1, 14.2.5.
#pragma once

#include "protocol/wire/smp.hpp"
#include "protocol/wire/switch_info_record.hpp"

namespace ipoib::fabric::simulated {
using wire::SwitchInfo;

/// One block of a table, which fills the SMP's data with entries of `bits` bits.
template <class Entry, unsigned bits>
struct TableBlock {
    static constexpr std::size_t entries = wire::LidSmp::data.width / bits;
    static Entry read(wire::Octets data, std::size_t entry) noexcept {
        return static_cast<Entry>(wire::read_bits(data.data(), at(entry), bits));
    }
    static void write(wire::MutableOctets data, std::size_t entry, Entry value) noexcept {
        wire::write_bits(data.data(), at(entry), bits, value);
    }

private:
    static constexpr wire::At at(std::size_t entry) noexcept { return {static_cast<std::uint16_t>(entry * bits)}; }
};
/// P_KeyTable. IBTA Vol 1, 14.2.5.7.
using PKeyBlock = TableBlock<std::uint16_t, 16>;
/// GUIDInfo. IBTA Vol 1, 14.2.5.5.
using GuidBlock = TableBlock<std::uint64_t, 64>;
/// LinearForwardingTable: the port of each LID. IBTA Vol 1, 14.2.5.10.
using LinearBlock = TableBlock<std::uint8_t, 8>;
/// MulticastForwardingTable: for each MLID a mask of sixteen ports. IBTA Vol 1, 14.2.5.12.
using MulticastBlock = TableBlock<std::uint16_t, 16>;

/// Which block of a multicast forwarding table: the MLIDs' and the ports'. IBTA Vol 1, 14.2.5.12.
struct MulticastModifier {
    static constexpr unsigned ports = 16;
    std::uint16_t block = 0;
    std::uint8_t position = 0;

    [[nodiscard]] static constexpr MulticastModifier of(std::uint32_t modifier) noexcept {
        return {static_cast<std::uint16_t>(modifier & 0x1ff), static_cast<std::uint8_t>(modifier >> 28)};
    }
    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return std::uint32_t{position} << 28 | block; }
};

/// An LFT entry that leads nowhere. IBTA Vol 1, 14.2.5.10.
inline constexpr std::uint8_t no_port = 0xff;
/// The first MLID, the first entry of a multicast forwarding table. IBTA Vol 1, 4.1.3.
inline constexpr std::uint16_t first_multicast_lid = 0xc000;
inline constexpr std::size_t unicast_lids = 0xc000, multicast_lids = 0x3fff;

}  // namespace ipoib::fabric::simulated

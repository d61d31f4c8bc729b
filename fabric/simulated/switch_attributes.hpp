// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes that switches have, and those that are tables cut into blocks. IBTA Vol 1, 14.2.5.
#pragma once

#include "protocol/wire/smp.hpp"

namespace ipoib::fabric::simulated {
using wire::octet;
using wire::Show;

/// SwitchInfo. IBTA Vol 1, 14.2.5.4.
struct SwitchInfo {
    static constexpr std::string_view key = "switch_info", name = "SwitchInfo", title = "Switch Info";
    static constexpr std::size_t size = 20;
    template <class T>
    using F = wire::Field<SwitchInfo, T>;

    static constexpr F<std::uint16_t> linear_cap{"LinearFDBCap", octet(0), 16, Show::dec, "Entries"};
    static constexpr F<std::uint16_t> random_cap{"RandomFDBCap", octet(2), 16, Show::dec, "Entries"};
    static constexpr F<std::uint16_t> multicast_cap{"MulticastFDBCap", octet(4), 16, Show::dec, "Entries"};
    static constexpr F<std::uint16_t> linear_top{"LinearFDBTop", octet(6), 16, Show::hex, "Last LID forwarded"};
    static constexpr F<std::uint8_t> default_port{"DefaultPort", octet(8), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> primary_port{"DefaultMulticastPrimaryPort", octet(9), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> other_port{"DefaultMulticastNotPrimaryPort", octet(10), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> life_time{"LifeTimeValue", octet(11), 5, Show::dec, "4.096 us * 2^value"};
    static constexpr F<bool> port_state_change{"PortStateChange", octet(11, 5), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> optimized_sl_to_vl{"OptimizedSLtoVLMappingProgramming", octet(11, 6), 2, Show::dec,
                                                        ""};
    static constexpr F<std::uint16_t> lids_per_port{"LIDsPerPort", octet(12), 16, Show::dec, ""};
    static constexpr F<std::uint16_t> enforcement_cap{"PartitionEnforcementCap", octet(14), 16, Show::dec, "Entries"};
    static constexpr F<bool> inbound_cap{"InboundEnforcementCap", octet(16), 1, Show::flag, ""};
    static constexpr F<bool> outbound_cap{"OutboundEnforcementCap", octet(16, 1), 1, Show::flag, ""};
    static constexpr F<bool> filter_raw_inbound_cap{"FilterRawInboundCap", octet(16, 2), 1, Show::flag, ""};
    static constexpr F<bool> filter_raw_outbound_cap{"FilterRawOutboundCap", octet(16, 3), 1, Show::flag, ""};
    static constexpr F<bool> enhanced_port_0{"EnhancedPort0", octet(16, 4), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> reserved3{"Reserved3", octet(16, 5), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(17), 8, Show::reserved, ""};
    static constexpr F<std::uint16_t> multicast_top{"MulticastFDBTop", octet(18), 16, Show::hex, ""};
    static constexpr auto fields = wire::table(
        linear_cap, random_cap, multicast_cap, linear_top, default_port, primary_port, other_port, life_time,
        port_state_change, optimized_sl_to_vl, lids_per_port, enforcement_cap, inbound_cap, outbound_cap,
        filter_raw_inbound_cap, filter_raw_outbound_cap, enhanced_port_0, reserved3, reserved8, multicast_top);
};
static_assert(wire::tiles(SwitchInfo::fields, SwitchInfo::size));

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

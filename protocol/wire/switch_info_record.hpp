// SPDX-License-Identifier: GPL-2.0-or-later
// SwitchInfo: what a switch can hold and do; and the SA's SwitchInfoRecord, which holds it. IBTA Vol 1, 14.2.5.4 and
// 15.2.5.4.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// SwitchInfo. IBTA Vol 1, 14.2.5.4.
struct SwitchInfo {
    static constexpr std::string_view key = "switch_info", name = "SwitchInfo", title = "Switch Info";
    static constexpr std::size_t size = 20;
    template <class T>
    using F = Field<SwitchInfo, T>;

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
    static constexpr auto fields =
        table(linear_cap, random_cap, multicast_cap, linear_top, default_port, primary_port, other_port, life_time,
              port_state_change, optimized_sl_to_vl, lids_per_port, enforcement_cap, inbound_cap, outbound_cap,
              filter_raw_inbound_cap, filter_raw_outbound_cap, enhanced_port_0, reserved3, reserved8, multicast_top);
};
static_assert(tiles(SwitchInfo::fields, SwitchInfo::size));

/// SwitchInfoRecord without the rows of the SwitchInfo in it. IBTA Vol 1, 15.2.5.4.
struct SwitchInfoRecord {
    static constexpr std::string_view key = "switch_info_record", name = "SwitchInfoRecord",
                                      title = "Switch Info Record";
    static constexpr std::size_t size = 24;
    template <class T>
    using F = Field<SwitchInfoRecord, T>;

    static constexpr F<std::uint16_t> lid{"LID", octet(0), 16, Show::hex, "Of the switch"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(2), 16, Show::reserved, ""};
    static constexpr F<OctetArray<SwitchInfo::size>> switch_info{"SwitchInfo", octet(4), 160, Show::octets, ""};
    static constexpr auto fields = table(lid, reserved, switch_info);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t lid = 1u << 0;
    };
};
static_assert(tiles(SwitchInfoRecord::fields, SwitchInfoRecord::size));

/// The SwitchInfo inside a SwitchInfoRecord.
constexpr View<SwitchInfo> switch_info(const View<SwitchInfoRecord>& record) noexcept {
    if (!record) return {};
    return View<SwitchInfo>::at(record.octets().subspan(SwitchInfoRecord::switch_info.at.bit / 8));
}

}  // namespace ipoib::wire

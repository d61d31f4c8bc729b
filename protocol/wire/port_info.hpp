// SPDX-License-Identifier: GPL-2.0-or-later
// PortInfo and the head of the SA's PortInfoRecord, which holds it. IBTA Vol 1, 14.2.5.6 and 15.2.5.3.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// PortInfo:PortState. IBTA Vol 1, 14.2.5.6.
enum class PortState : std::uint8_t { no_change = 0, down = 1, initialize = 2, armed = 3, active = 4 };
inline constexpr std::array<Named, 5> port_state_names{
    {{0, "no change"}, {1, "Down"}, {2, "Initialize"}, {3, "Armed"}, {4, "Active"}}};

/// PortInfo:PortPhysicalState. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 8> port_physical_state_names{{{0, "no change"},
                                                                 {1, "Sleep"},
                                                                 {2, "Polling"},
                                                                 {3, "Disabled"},
                                                                 {4, "PortConfigurationTraining"},
                                                                 {5, "LinkUp"},
                                                                 {6, "LinkErrorRecovery"},
                                                                 {7, "Phy Test"}}};
/// PortInfo:LinkWidthActive. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 5> link_width_names{{{1, "1x"}, {2, "4x"}, {4, "8x"}, {8, "12x"}, {16, "2x"}}};
/// PortInfo:LinkSpeedActive. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 4> link_speed_names{
    {{0, "extended"}, {1, "2.5 Gb/s"}, {2, "5 Gb/s"}, {4, "10 Gb/s"}}};
/// PortInfo:LinkSpeedExtActive. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 5> link_speed_ext_names{
    {{0, "none"}, {1, "14.0625 Gb/s"}, {2, "25.78125 Gb/s"}, {4, "53.125 Gb/s"}, {8, "106.25 Gb/s"}}};
/// PortInfo:LinkSpeedExtActive2, which only ports have whose CapabilityMask2 says so. The places of the three fields
/// are those of rdma-core (libibmad/fields.c) and of Linux (drivers/infiniband/hw/mlx5/mad.c).
inline constexpr std::array<Named, 2> link_speed_ext2_names{{{0, "none"}, {1, "212.5 Gb/s"}}};
/// PortInfo:VLCap and OperationalVLs. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 5> vl_names{{{1, "VL0"}, {2, "VL0-1"}, {3, "VL0-3"}, {4, "VL0-7"}, {5, "VL0-14"}}};

/// PortInfo. IBTA Vol 1, 14.2.5.6.
struct PortInfo {
    static constexpr std::string_view key = "port_info", name = "PortInfo", title = "Port Info";
    static constexpr std::size_t size = 64;
    /// Bits of CapabilityMask. IBTA Vol 1, 14.2.5.6.
    static constexpr std::uint32_t is_sm = 1u << 1, is_notice_supported = 1u << 2, is_trap_supported = 1u << 3,
                                   is_sm_disabled = 1u << 10, is_cm_supported = 1u << 16,
                                   is_capability_mask2_supported = 1u << 15,
                                   is_client_reregistration_supported = 1u << 25;
    /// Of CapabilityMask2: speeds of 200 Gb/s a lane and more are told elsewhere.
    static constexpr std::uint16_t is_extended_speeds2_supported = 1u << 11;
    template <class T>
    using F = Field<PortInfo, T>;

    static constexpr F<std::uint64_t> m_key{"M_Key", octet(0), 64, Show::hex, "Management key"};
    static constexpr F<std::uint64_t> gid_prefix{"GidPrefix", octet(8), 64, Show::hex, "Subnet prefix"};
    static constexpr F<std::uint16_t> lid{"LID", octet(16), 16, Show::hex, "Base LID"};
    static constexpr F<std::uint16_t> master_sm_lid{"MasterSMLID", octet(18), 16, Show::hex, ""};
    static constexpr F<std::uint32_t> capability_mask{"CapabilityMask", octet(20), 32, Show::hex, ""};
    static constexpr F<std::uint16_t> diag_code{"DiagCode", octet(24), 16, Show::hex, ""};
    static constexpr F<std::uint16_t> m_key_lease_period{"M_KeyLeasePeriod", octet(26), 16, Show::dec, "Seconds"};
    static constexpr F<std::uint8_t> local_port_num{"LocalPortNum", octet(28), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> link_width_enabled{"LinkWidthEnabled", octet(29), 8, Show::hex, "Bit mask"};
    static constexpr F<std::uint8_t> link_width_supported{"LinkWidthSupported", octet(30), 8, Show::hex, "Bit mask"};
    static constexpr F<std::uint8_t> link_width_active{"LinkWidthActive", octet(31), 8,
                                                       Show::dec,         "",        link_width_names};
    static constexpr F<std::uint8_t> link_speed_supported{"LinkSpeedSupported", octet(32), 4, Show::hex, "Bit mask"};
    static constexpr F<PortState> port_state{"PortState", octet(32, 4), 4, Show::dec, "", port_state_names};
    static constexpr F<std::uint8_t> port_physical_state{"PortPhysicalState", octet(33), 4,
                                                         Show::dec,           "",        port_physical_state_names};
    static constexpr F<std::uint8_t> link_down_default_state{"LinkDownDefaultState",   octet(33, 4), 4, Show::dec, "",
                                                             port_physical_state_names};
    static constexpr F<std::uint8_t> m_key_protect_bits{"M_KeyProtectBits", octet(34), 2, Show::dec, ""};
    static constexpr F<std::uint8_t> reserved3a{"Reserved3a", octet(34, 2), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> lmc{"LMC", octet(34, 5), 3, Show::dec, "LID mask control"};
    static constexpr F<std::uint8_t> link_speed_active{"LinkSpeedActive", octet(35), 4,
                                                       Show::dec,         "",        link_speed_names};
    static constexpr F<std::uint8_t> link_speed_enabled{"LinkSpeedEnabled", octet(35, 4), 4, Show::hex, "Bit mask"};
    static constexpr F<std::uint8_t> neighbor_mtu{"NeighborMTU",         octet(36), 4, Show::dec,
                                                  "Largest MTU to send", mtu_names};
    static constexpr F<std::uint8_t> master_sm_sl{"MasterSMSL", octet(36, 4), 4, Show::dec, ""};
    static constexpr F<std::uint8_t> vl_cap{"VLCap", octet(37), 4, Show::dec, "", vl_names};
    static constexpr F<std::uint8_t> init_type{"InitType", octet(37, 4), 4, Show::hex, ""};
    static constexpr F<std::uint8_t> vl_high_limit{"VLHighLimit", octet(38), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> vl_arbitration_high_cap{"VLArbitrationHighCap", octet(39), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> vl_arbitration_low_cap{"VLArbitrationLowCap", octet(40), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> init_type_reply{"InitTypeReply", octet(41), 4, Show::hex, ""};
    static constexpr F<std::uint8_t> mtu_cap{"MTUCap", octet(41, 4), 4, Show::dec, "Largest MTU supported", mtu_names};
    static constexpr F<std::uint8_t> vl_stall_count{"VLStallCount", octet(42), 3, Show::dec, ""};
    static constexpr F<std::uint8_t> hoq_life{"HOQLife", octet(42, 3), 5, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> operational_vls{"OperationalVLs", octet(43), 4, Show::dec, "", vl_names};
    static constexpr F<bool> partition_enforcement_in{"PartitionEnforcementInbound", octet(43, 4), 1, Show::flag, ""};
    static constexpr F<bool> partition_enforcement_out{"PartitionEnforcementOutbound", octet(43, 5), 1, Show::flag, ""};
    static constexpr F<bool> filter_raw_in{"FilterRawInbound", octet(43, 6), 1, Show::flag, ""};
    static constexpr F<bool> filter_raw_out{"FilterRawOutbound", octet(43, 7), 1, Show::flag, ""};
    static constexpr F<std::uint16_t> m_key_violations{"M_KeyViolations", octet(44), 16, Show::dec, ""};
    static constexpr F<std::uint16_t> p_key_violations{"P_KeyViolations", octet(46), 16, Show::dec, ""};
    static constexpr F<std::uint16_t> q_key_violations{"Q_KeyViolations", octet(48), 16, Show::dec, ""};
    static constexpr F<std::uint8_t> guid_cap{"GUIDCap", octet(50), 8, Show::dec, "GUID table entries"};
    static constexpr F<bool> client_reregister{"ClientReregister", octet(51), 1, Show::flag,
                                               "Subscriptions and memberships must be renewed"};
    static constexpr F<bool> multicast_p_key_trap_suppression{"MulticastPKeyTrapSuppressionEnabled", octet(51, 1), 1,
                                                              Show::flag, ""};
    static constexpr F<bool> reserved1{"Reserved1", octet(51, 2), 1, Show::reserved, ""};
    static constexpr F<std::uint8_t> subnet_timeout{"SubnetTimeOut", octet(51, 3), 5, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> reserved3b{"Reserved3b", octet(52), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> resp_time_value{"RespTimeValue", octet(52, 3), 5, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> local_phy_errors{"LocalPhyErrors", octet(53), 4, Show::dec, "Threshold"};
    static constexpr F<std::uint8_t> overrun_errors{"OverrunErrors", octet(53, 4), 4, Show::dec, "Threshold"};
    static constexpr F<std::uint16_t> max_credit_hint{"MaxCreditHint", octet(54), 16, Show::dec, ""};
    static constexpr F<std::uint8_t> link_speed_ext_active2{"LinkSpeedExtActive2", octet(56), 3, Show::dec, "",
                                                            link_speed_ext2_names};
    static constexpr F<std::uint8_t> link_speed_ext_supported2{"LinkSpeedExtSupported2", octet(56, 3), 2, Show::hex,
                                                               "Bit mask"};
    static constexpr F<std::uint8_t> link_speed_ext_enabled2{"LinkSpeedExtEnabled2", octet(56, 5), 3, Show::hex,
                                                             "Bit mask"};
    static constexpr F<std::uint32_t> link_round_trip_latency{"LinkRoundTripLatency", octet(57), 24, Show::dec, ""};
    static constexpr F<std::uint16_t> capability_mask2{"CapabilityMask2", octet(60), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> link_speed_ext_active{"LinkSpeedExtActive", octet(62), 4, Show::dec, "",
                                                           link_speed_ext_names};
    static constexpr F<std::uint8_t> link_speed_ext_supported{"LinkSpeedExtSupported", octet(62, 4), 4, Show::hex,
                                                              "Bit mask"};
    static constexpr F<std::uint8_t> reserved3c{"Reserved3c", octet(63), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> link_speed_ext_enabled{"LinkSpeedExtEnabled", octet(63, 3), 5, Show::hex,
                                                            "Bit mask"};
    static constexpr auto fields =
        table(m_key, gid_prefix, lid, master_sm_lid, capability_mask, diag_code, m_key_lease_period, local_port_num,
              link_width_enabled, link_width_supported, link_width_active, link_speed_supported, port_state,
              port_physical_state, link_down_default_state, m_key_protect_bits, reserved3a, lmc, link_speed_active,
              link_speed_enabled, neighbor_mtu, master_sm_sl, vl_cap, init_type, vl_high_limit, vl_arbitration_high_cap,
              vl_arbitration_low_cap, init_type_reply, mtu_cap, vl_stall_count, hoq_life, operational_vls,
              partition_enforcement_in, partition_enforcement_out, filter_raw_in, filter_raw_out, m_key_violations,
              p_key_violations, q_key_violations, guid_cap, client_reregister, multicast_p_key_trap_suppression,
              reserved1, subnet_timeout, reserved3b, resp_time_value, local_phy_errors, overrun_errors, max_credit_hint,
              link_speed_ext_active2, link_speed_ext_supported2, link_speed_ext_enabled2, link_round_trip_latency,
              capability_mask2, link_speed_ext_active, link_speed_ext_supported, reserved3c, link_speed_ext_enabled);
};
static_assert(tiles(PortInfo::fields, PortInfo::size));

/// PortInfoRecord without the rows of the PortInfo in it. IBTA Vol 1, 15.2.5.3.
struct PortInfoRecord {
    static constexpr std::string_view key = "port_info_record", name = "PortInfoRecord", title = "Port Info Record";
    static constexpr std::size_t size = 68;
    template <class T>
    using F = Field<PortInfoRecord, T>;

    static constexpr F<std::uint16_t> endport_lid{"EndportLID", octet(0), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> port_num{"PortNum", octet(2), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> reserved{"Reserved", octet(3), 8, Show::reserved, "Options, where supported"};
    static constexpr F<OctetArray<PortInfo::size>> port_info{"PortInfo", octet(4), 512, Show::octets, ""};
    static constexpr auto fields = table(endport_lid, port_num, reserved, port_info);

    /// Bits of SA.ComponentMask for this record, as far as IPoIB asks for them.
    struct component {
        static constexpr std::uint64_t endport_lid = 1u << 0, port_num = 1u << 1, gid_prefix = 1u << 4, lid = 1u << 5,
                                       master_sm_lid = 1u << 6, capability_mask = 1u << 7;
    };
};
static_assert(tiles(PortInfoRecord::fields, PortInfoRecord::size));

/// The PortInfo inside a PortInfoRecord.
constexpr View<PortInfo> port_info(const View<PortInfoRecord>& record) noexcept {
    if (!record) return {};
    return View<PortInfo>::at(record.octets().subspan(PortInfoRecord::port_info.at.bit / 8));
}

}  // namespace ipoib::wire

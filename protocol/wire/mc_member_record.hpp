// SPDX-License-Identifier: GPL-2.0-or-later
// MCMemberRecord: a multicast group and one port's part in it. IBTA Vol 1, 15.2.5.17.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// Bits of MCMemberRecord:JoinState. IBTA Vol 1, 15.2.5.17; the last from release 1.3 on.
namespace join_state {
inline constexpr std::uint8_t full_member = 1, non_member = 2, send_only_non_member = 4, send_only_full_member = 8;
}  // namespace join_state
inline constexpr std::array<Named, 16> join_state_names{
    {{0, "none"},
     {1, "FullMember"},
     {2, "NonMember"},
     {3, "FullMember, NonMember"},
     {4, "SendOnlyNonMember"},
     {5, "FullMember, SendOnlyNonMember"},
     {6, "NonMember, SendOnlyNonMember"},
     {7, "FullMember, NonMember, SendOnlyNonMember"},
     {8, "SendOnlyFullMember"},
     {9, "FullMember, SendOnlyFullMember"},
     {10, "NonMember, SendOnlyFullMember"},
     {11, "FullMember, NonMember, SendOnlyFullMember"},
     {12, "SendOnlyNonMember, SendOnlyFullMember"},
     {13, "FullMember, SendOnlyNonMember, SendOnlyFullMember"},
     {14, "NonMember, SendOnlyNonMember, SendOnlyFullMember"},
     {15, "FullMember, NonMember, SendOnlyNonMember, SendOnlyFullMember"}}};

/// MCMemberRecord. IBTA Vol 1, 15.2.5.17.
struct McMemberRecord {
    static constexpr std::string_view key = "mc_member_record", name = "MCMemberRecord",
                                      title = "Multicast Member Record";
    static constexpr std::size_t size = 52;
    template <class T>
    using F = Field<McMemberRecord, T>;

    static constexpr F<Gid> mgid{"MGID", octet(0), 128, Show::gid, "The group"};
    static constexpr F<Gid> port_gid{"PortGID", octet(16), 128, Show::gid, "The member"};
    static constexpr F<std::uint32_t> q_key{"Q_Key", octet(32), 32, Show::hex, "Queue key of the group"};
    static constexpr F<std::uint16_t> mlid{"MLID", octet(36), 16, Show::hex, "LID of the group"};
    static constexpr F<std::uint8_t> mtu_selector{"MTUSelector", octet(38), 2, Show::dec, "", selector_names};
    static constexpr F<std::uint8_t> mtu{"MTU", octet(38, 2), 6, Show::dec, "Code of the IB MTU", mtu_names};
    static constexpr F<std::uint8_t> traffic_class{"TClass", octet(39), 8, Show::hex, "GRH.TClass"};
    static constexpr F<std::uint16_t> p_key{"P_Key", octet(40), 16, Show::hex, "Partition of the group"};
    static constexpr F<std::uint8_t> rate_selector{"RateSelector", octet(42), 2, Show::dec, "", selector_names};
    static constexpr F<std::uint8_t> rate{"Rate", octet(42, 2), 6, Show::dec, "Code of the static rate", rate_names};
    static constexpr F<std::uint8_t> lifetime_selector{"PacketLifeTimeSelector", octet(43), 2, Show::dec, "",
                                                       lifetime_selector_names};
    static constexpr F<std::uint8_t> lifetime{"PacketLifeTime", octet(43, 2), 6, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> sl{"SL", octet(44), 4, Show::dec, "Service level"};
    static constexpr F<std::uint32_t> flow_label{"FlowLabel", octet(44, 4), 20, Show::hex, "GRH.FlowLabel"};
    static constexpr F<std::uint8_t> hop_limit{"HopLimit", octet(47), 8, Show::dec, "GRH.HopLmt"};
    static constexpr F<std::uint8_t> scope{"Scope", octet(48), 4, Show::hex, "Scope of the MGID"};
    static constexpr F<std::uint8_t> join_state{"JoinState",     octet(48, 4), 4, Show::hex, "How the port is a member",
                                                join_state_names};
    static constexpr F<bool> proxy_join{"ProxyJoin", octet(49), 1, Show::flag, "Joined by another port"};
    static constexpr F<std::uint32_t> reserved{"Reserved", octet(49, 1), 23, Show::reserved, ""};
    static constexpr auto fields =
        table(mgid, port_gid, q_key, mlid, mtu_selector, mtu, traffic_class, p_key, rate_selector, rate,
              lifetime_selector, lifetime, sl, flow_label, hop_limit, scope, join_state, proxy_join, reserved);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t mgid = 1u << 0, port_gid = 1u << 1, q_key = 1u << 2, mlid = 1u << 3,
                                       mtu_selector = 1u << 4, mtu = 1u << 5, traffic_class = 1u << 6, p_key = 1u << 7,
                                       rate_selector = 1u << 8, rate = 1u << 9, lifetime_selector = 1u << 10,
                                       lifetime = 1u << 11, sl = 1u << 12, flow_label = 1u << 13, hop_limit = 1u << 14,
                                       scope = 1u << 15, join_state = 1u << 16, proxy_join = 1u << 17;
        /// What a request to join or leave a group gives. IBTA Vol 1, 15.2.5.17.2.
        static constexpr std::uint64_t join = mgid | port_gid | join_state;
        /// What a request that creates a group gives at least. IBTA Vol 1, 15.2.5.17.2.
        static constexpr std::uint64_t create = join | q_key | traffic_class | p_key | sl | flow_label;
    };
};
static_assert(tiles(McMemberRecord::fields, McMemberRecord::size));

/// The components of a MCMemberRecord, by their bit.
inline constexpr std::array<Named, 18> mc_member_component_names{
    {{McMemberRecord::component::mgid, "MGID"},
     {McMemberRecord::component::port_gid, "PortGID"},
     {McMemberRecord::component::q_key, "Q_Key"},
     {McMemberRecord::component::mlid, "MLID"},
     {McMemberRecord::component::mtu_selector, "MTUSelector"},
     {McMemberRecord::component::mtu, "MTU"},
     {McMemberRecord::component::traffic_class, "TClass"},
     {McMemberRecord::component::p_key, "P_Key"},
     {McMemberRecord::component::rate_selector, "RateSelector"},
     {McMemberRecord::component::rate, "Rate"},
     {McMemberRecord::component::lifetime_selector, "PacketLifeTimeSelector"},
     {McMemberRecord::component::lifetime, "PacketLifeTime"},
     {McMemberRecord::component::sl, "SL"},
     {McMemberRecord::component::flow_label, "FlowLabel"},
     {McMemberRecord::component::hop_limit, "HopLimit"},
     {McMemberRecord::component::scope, "Scope"},
     {McMemberRecord::component::join_state, "JoinState"},
     {McMemberRecord::component::proxy_join, "ProxyJoin"}}};

}  // namespace ipoib::wire

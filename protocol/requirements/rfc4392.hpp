// SPDX-License-Identifier: GPL-2.0-or-later
// The requirements of RFC 4392, IP over InfiniBand Architecture.
#pragma once

#include <array>

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4392 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement limited_members_kept_apart{
    .id = "RFC4392-1.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa | Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement =
        "Two limited members of a partition cannot communicate: the packet or the port has a full-membership P_Key",
    .part_of = {"RFC4391-9.1-05"}};
inline constexpr Requirement controlled_qkey_from_qp{
    .id = "RFC4392-1.2-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A packet posted with a controlled Q_Key goes out with the Q_Key of the sending queue pair's context"};
inline constexpr Requirement explicit_join_to_receive{
    .id = "RFC4392-1.2-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "A port asks the SM to join a group before it receives the packets of that group",
    .part_of = {"RFC4391-10-15"}};
inline constexpr Requirement mgid_reserved_flags{.id = "RFC4392-1.2.1.2-01",
                                                 .level = "must",
                                                 .strength = Strength::must,
                                                 .binds = Binds::interface,
                                                 .seen = Seen::wire | Seen::sa,
                                                 .test = Test::passive,
                                                 .statement = "The three flag bits above T are zero in every MGID",
                                                 .part_of = {"RFC4391-4-01"}};
inline constexpr Requirement mgid_scope_values{
    .id = "RFC4392-1.2.1.2-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::sa,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive,
    .statement =
        "The scope of an MGID is 2 link-local, 5 site-local, 8 organization-local or E global; 0 and F are reserved",
    .note = "Unassigned values pass with a note; only 0 and F violate."};
inline constexpr Requirement mgid_identifies_one_group{
    .id = "RFC4392-1.2.1.2-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "An MGID stands for one group only, with one MLID and one set of parameters"};
inline constexpr Requirement join_checks_mtu_and_reach{
    .id = "RFC4392-1.3-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "On a join the SM verifies that the port supports the group's MTU and can reach the other members",
    .same_as = {"RFC4391-5-05", "UDMC-09"}};
inline constexpr Requirement multi_subnet_mtu{
    .id = "RFC4392-1.3-02",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "A group that spans IB subnets has the same MTU in each of them"};
inline constexpr Requirement multi_subnet_pkey{
    .id = "RFC4392-1.3-03",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "A group that spans IB subnets has the same P_Key in each of them"};
inline constexpr Requirement record_scope{
    .id = "RFC4392-1.3.1-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa | Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "The Scope component of an MCMemberRecord equals the scope bits of its MGID"};
inline constexpr Requirement full_member_routing{
    .id = "RFC4392-1.3.1.1-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa | Seen::wire,
    .test = Test::active,
    .statement = "Packets of a group are routed to and from a port that joined it as a FullMember",
    .part_of = {"RFC4391-10-19"}};
inline constexpr Requirement non_member_routing{
    .id = "RFC4392-1.3.1.1-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa | Seen::wire,
    .test = Test::active,
    .statement =
        "Packets of a group are routed to and from a NonMember port, which does not count for creation or deletion",
    .same_as = {"RFC4391-11-05"}};
inline constexpr Requirement send_only_member_routing{.id = "RFC4392-1.3.1.1-03",
                                                      .level = "stmt",
                                                      .strength = Strength::must,
                                                      .binds = Binds::sa,
                                                      .seen = Seen::sa | Seen::wire,
                                                      .test = Test::active,
                                                      .statement =
                                                          "Packets are routed from a SendOnlyNonMember port but not to "
                                                          "it, and it does not count for creation or deletion",
                                                      .same_as = {"RFC4391-10-10"}};
inline constexpr Requirement join_state_union{
    .id = "RFC4392-1.3.1.1-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The JoinState of a port is the union of its joins, and the port can leave each part separately"};
inline constexpr Requirement join_and_leave_methods{
    .id = "RFC4392-1.3.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "A port joins a group with SubnAdmSet and leaves it with SubnAdmDelete of an MCMemberRecord"};
inline constexpr Requirement creation_needs_full_member{
    .id = "RFC4392-1.3.2.1-01",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Only a join with the FullMember bit creates a group"};
inline constexpr Requirement creator_supplies_parameters{
    .id = "RFC4392-1.3.2.1-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "The creator of a group supplies its Q_Key, MTU, P_Key, SL, FlowLabel, TClass and Scope"};
inline constexpr Requirement mlid_assigned_by_sm{.id = "RFC4392-1.3.2.1-03",
                                                 .level = "stmt",
                                                 .strength = Strength::must,
                                                 .binds = Binds::sa,
                                                 .seen = Seen::sa,
                                                 .test = Test::passive,
                                                 .statement = "The SM, not the creator of a group, chooses its MLID"};
inline constexpr Requirement deletion_after_last_full_member{
    .id = "RFC4392-1.3.2.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "When the last FullMember leaves, the SM is free to delete the group and to release its resources",
    .same_as = {"RFC4391-10-21", "UDMC-13"}};
inline constexpr Requirement group_trap_reports{.id = "RFC4392-1.3.2.3-01",
                                                .level = "stmt",
                                                .strength = Strength::must,
                                                .binds = Binds::sa,
                                                .seen = Seen::sa,
                                                .test = Test::active,
                                                .statement =
                                                    "The SA reports group creations by trap 66 and deletions by trap "
                                                    "67, for one MGID or for all, to ports that ask"};
inline constexpr Requirement deleted_group_mlid{
    .id = "RFC4392-1.3.2.3-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A port stops using the MLID of a group once that group is deleted"};
inline constexpr Requirement fabric_multicast_capable{
    .id = "RFC4392-3.2-01",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "IPoIB subnets are set up only on fabrics whose switches support multicast",
    .same_as = {"RFC4391-2-02"}};
inline constexpr Requirement transient_flag_always_set{
    .id = "RFC4392-3.2.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "Every multicast GID related to IPoIB has the transient flag set",
    .same_as = {"RFC4391-4-02"}};
inline constexpr Requirement unicast_keys_of_broadcast_group{
    .id = "RFC4392-4-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "Unicast packets carry the P_Key and Q_Key of the broadcast group"};
inline constexpr Requirement failed_join_keeps_off_subnet{
    .id = "RFC4392-4-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement = "A port whose join of the broadcast group fails takes no part in the IP subnet"};
inline constexpr Requirement pkey_and_scope_known{
    .id = "RFC4392-4-03",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "An interface knows the P_Key and the scope of the broadcast group before it joins"};
inline constexpr Requirement one_pkey_per_subnet{.id = "RFC4392-4.1-01",
                                                 .level = "stmt",
                                                 .strength = Strength::must,
                                                 .binds = Binds::administrator,
                                                 .seen = Seen::wire,
                                                 .test = Test::passive,
                                                 .statement = "An IP subnet has one P_Key, common to all its members",
                                                 .note = "The membership bit may differ."};
inline constexpr Requirement multicast_packet_headers{
    .id = "RFC4392-4.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A UD multicast packet has LRH, GRH, BTH and DETH, the LRH with the MLID and the GRH with the MGID"};
inline constexpr Requirement pure_sender_join_state{
    .id = "RFC4392-4.2.1-01",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement =
        "A pure sender may join a group as FullMember, or as SendOnlyNonMember with or without asking for deletion "
        "reports",
    .note = "RFC 4391 section 10 says SendOnlyNonMember: FullMember by a pure sender is WARN there."};
inline constexpr Requirement missing_group_fallback{
    .id = "RFC4392-4.2.1-02",
    .level = "recommended",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A sender whose group is missing sends to the all-router group or else the broadcast group",
    .note = "RFC 4391 section 10 words this as a must and wins."};
inline constexpr Requirement receiver_joins{
    .id = "RFC4392-4.2.2-01",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "An IP host joins the IB group of every multicast address that it listens to",
    .same_as = {"RFC4391-10-15"}};
inline constexpr Requirement receiver_leaves{
    .id = "RFC4392-4.2.2-02",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A receiver leaves the IB group as soon as IP no longer listens to the address",
    .part_of = {"RFC4391-10-20"},
    .note = "RFC 4391 section 10 words this as a SHOULD and wins; an IPv4 host that still sends may stay for a while."};
inline constexpr Requirement router_follows_creations{
    .id = "RFC4392-4.2.3-01",
    .level = "need",
    .strength = Strength::must,
    .binds = Binds::router,
    .seen = Seen::sa,
    .test = Test::active,
    .statement =
        "A router asks the SM to report all group creations and joins as a NonMember unless it is a receiver itself",
    .note = "Deletion reports are ideal, not needed; a FullMember join for a local application is right."};
inline constexpr Requirement sender_leaves_in_time{
    .id = "RFC4392-4.2.5-01",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A port that joined a group only to send leaves it some time after it stops sending",
    .note = "Not for the broadcast and all-hosts groups; the time is the implementation's choice."};
inline constexpr Requirement stays_in_broadcast_group{
    .id = "RFC4392-4.2.5-02",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive,
    .statement = "An IPv4 host stays a member of the broadcast group as long as it is up",
    .note = "Leaving and rejoining all groups after an SM change or ClientReregister is right."};
inline constexpr Requirement cached_mlid_needs_deletion_reports{
    .id = "RFC4392-4.2.5-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A NonMember or SendOnlyNonMember port that caches an MLID subscribes to reports of group deletion",
    .part_of = {"RFC4391-10-12"},
    .note = "A router that takes creation reports for all groups is exempt."};
inline constexpr Requirement invariant_qpn_for_static_entries{
    .id = "RFC4392-4.4-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement =
        "Static ARP and RARP entries are used only with interfaces that keep their QPN over resets and reboots",
    .part_of = {"RFC4391-9.4-01"}};

/// Every requirement of the document, in its order.
inline constexpr std::array all = {&limited_members_kept_apart,
                                   &controlled_qkey_from_qp,
                                   &explicit_join_to_receive,
                                   &mgid_reserved_flags,
                                   &mgid_scope_values,
                                   &mgid_identifies_one_group,
                                   &join_checks_mtu_and_reach,
                                   &multi_subnet_mtu,
                                   &multi_subnet_pkey,
                                   &record_scope,
                                   &full_member_routing,
                                   &non_member_routing,
                                   &send_only_member_routing,
                                   &join_state_union,
                                   &join_and_leave_methods,
                                   &creation_needs_full_member,
                                   &creator_supplies_parameters,
                                   &mlid_assigned_by_sm,
                                   &deletion_after_last_full_member,
                                   &group_trap_reports,
                                   &deleted_group_mlid,
                                   &fabric_multicast_capable,
                                   &transient_flag_always_set,
                                   &unicast_keys_of_broadcast_group,
                                   &failed_join_keeps_off_subnet,
                                   &pkey_and_scope_known,
                                   &one_pkey_per_subnet,
                                   &multicast_packet_headers,
                                   &pure_sender_join_state,
                                   &missing_group_fallback,
                                   &receiver_joins,
                                   &receiver_leaves,
                                   &router_follows_creations,
                                   &sender_leaves_in_time,
                                   &stays_in_broadcast_group,
                                   &cached_mlid_needs_deletion_reports,
                                   &invariant_qpn_for_static_entries};

}  // namespace ipoib::rfc4392

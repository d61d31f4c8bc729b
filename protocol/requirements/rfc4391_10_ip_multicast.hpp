// SPDX-License-Identifier: GPL-2.0-or-later
// Sending to and receiving from IP multicast groups. RFC 4391, section 10.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement group_created_before_use{
    .id = "RFC4391-10-01",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A multicast group is created through the SA before anyone uses it"};
inline constexpr Requirement sender_checks_group{
    .id = "RFC4391-10-02",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement =
        "Before it sends to an IP multicast group, an interface asks the SA for an MCMemberRecord with that MGID",
    .note = "Shows first on MLD (ff02::16) and IGMPv3 (224.0.0.22) reports, whose senders are no members."};
inline constexpr Requirement mlid_as_dlid{.id = "RFC4391-10-03",
                                          .level = "stmt",
                                          .strength = Strength::must,
                                          .binds = Binds::interface,
                                          .seen = Seen::wire,
                                          .test = Test::passive,
                                          .statement = "A multicast packet has the MLID of its group as DLID",
                                          .same_as = {"UDMC-04"}};
inline constexpr Requirement fallback_to_routers{
    .id = "RFC4391-10-04",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement =
        "If a group wider than link-local does not exist, its packets go to the all-router group or the broadcast "
        "group",
    .part_of = {"RFC4392-4.2.1-02"},
    .note = "No all-router group: a drop is right too. Never right: a new group or a changed IP destination."};
inline constexpr Requirement fallback_prefers_all_router{
    .id = "RFC4391-10-05",
    .level = "preferred",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An interface that falls back uses the all-router group rather than the broadcast group",
    .note = "With an all-router group: all-router PASS, broadcast WARN."};
inline constexpr Requirement fallback_drop{
    .id = "RFC4391-10-06",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An interface may drop a packet if neither the target group nor the all-router group exists",
    .note = "Broadcast is right too; the code snippet knows the drop only."};
inline constexpr Requirement link_local_drop{
    .id = "RFC4391-10-07",
    .level = "stmt(code)",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement = "An interface drops a link-local multicast packet whose group does not exist",
    .note =
        "Only the code of a typical implementation has it: advice. Covers the MLD and IGMPv3 reports of a lone host "
        "as well."};
inline constexpr Requirement sender_joins_first{
    .id = "RFC4391-10-08",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A sender joins the target group before its packets go out"};
inline constexpr Requirement send_only_join{
    .id = "RFC4391-10-09",
    .level = "stmt(code)",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A sender joins an existing group as SendOnlyNonMember and then sends",
    .note =
        "Only the code of a typical implementation names the JoinState: advice. RFC 4392, 4.2.1 allows FullMember."};
inline constexpr Requirement send_only_member_semantics{
    .id = "RFC4391-10-10",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa | Seen::wire,
    .test = Test::active,
    .statement =
        "A SendOnlyNonMember port can send to a group, receives nothing from it and does not keep it in existence",
    .same_as = {"RFC4392-1.3.1.1-03"}};
inline constexpr Requirement group_attributes_cached{
    .id = "RFC4391-10-11",
    .level = "should",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement =
        "An interface caches that a group exists, its MLID and its attributes, and spares an SA call for each packet"};
inline constexpr Requirement group_trap_subscription{
    .id = "RFC4391-10-12",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A multicast sender subscribes to the SA's reports of group creation and deletion, traps 66 and 67",
    .note = "RFC 4392 4.2.1 says might; the MUST here wins."};
inline constexpr Requirement fallback_ends_with_group{
    .id = "RFC4391-10-13",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement = "Packets redirected for want of a group go to the right group once it is created"};
inline constexpr Requirement joiner_maps_address{
    .id = "RFC4391-10-14",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that joins an IP multicast group forms the MGID by the mapping of section 4"};
inline constexpr Requirement receiver_full_member_join{
    .id = "RFC4391-10-15",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that joins an IP multicast group joins its IB group at the SA as a FullMember",
    .same_as = {"RFC4392-4.2.2-01"}};
inline constexpr Requirement new_group_link_mtu{
    .id = "RFC4391-10-16",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that creates a missing group gives it the IPoIB link MTU",
    .part_of = {"RFC4391-10-17"}};
inline constexpr Requirement new_group_broadcast_parameters{
    .id = "RFC4391-10-17",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that creates a group gives it the P_Key, Q_Key, SL, MTU and HopLimit of the broadcast group",
    .note =
        "Disputed: is the P_Key's membership bit meant? The text says MGID: read group. Proves nothing where the "
        "parameters are the defaults."};
inline constexpr Requirement new_group_other_attributes{
    .id = "RFC4391-10-18",
    .level = "SHOULD",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that creates a group takes its remaining attributes from the broadcast group too"};
inline constexpr Requirement join_takes_effect{
    .id = "RFC4391-10-19",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa | Seen::wire,
    .test = Test::active,
    .statement = "A join adds the port to the group, and the SM programs switches and routers to forward to it"};
inline constexpr Requirement leaves_group{
    .id = "RFC4391-10-20",
    .level = "SHOULD",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A node that leaves an IP multicast group gives up its FullMember membership at the SA",
    .note = "RFC 4392 4.2.2 says must; the SHOULD here wins."};
inline constexpr Requirement last_full_member_leaves{
    .id = "RFC4391-10-21",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "Once the last FullMember has left a group, the SA is free to delete it and to reuse its MLID",
    .same_as = {"RFC4392-1.3.2.2-01", "UDMC-13"},
    .note = "Trap 67 for a group set up in advance by the SM does not mean that it is gone."};

}  // namespace ipoib::rfc4391

// SPDX-License-Identifier: GPL-2.0-or-later
// How an IPoIB link is set up. RFC 4391, section 5.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement broadcast_group_exists{
    .id = "RFC4391-5-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The broadcast group exists before an IPoIB subnet forms on it"};
inline constexpr Requirement broadcast_full_member_join{
    .id = "RFC4391-5-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every IPoIB interface joins the broadcast group as a FullMember",
    .note = "A stack may retry with growing delays: allow 30 s after link up."};
inline constexpr Requirement adopts_broadcast_parameters{
    .id = "RFC4391-5-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::local,
    .test = Test::passive | Test::active,
    .statement = "An interface adopts the MTU, Q_Key and other parameters that its join of the broadcast group returns",
    .note = "Proves nothing on a fabric whose parameters are the defaults."};
inline constexpr Requirement broadcast_group_carries_broadcasts{
    .id = "RFC4391-5-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement =
        "An interface sends broadcast ARP, limited broadcasts and directed broadcasts of all kinds to the broadcast "
        "group"};
inline constexpr Requirement join_needs_group_mtu{
    .id = "RFC4391-5-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SM accepts a join only from a port that can support the MTU of the group",
    .same_as = {"RFC4392-1.3-01", "UDMC-09"}};
inline constexpr Requirement members_reach_each_other{
    .id = "RFC4391-5-06",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement =
        "The SM gives joined nodes unicast paths to each other and a multicast tree that reaches every member"};
inline constexpr Requirement pkey_known_beforehand{
    .id = "RFC4391-5-07",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "The administrator configures the P_Key before the broadcast-GID is formed"};
inline constexpr Requirement pkey_assigned_to_port{
    .id = "RFC4391-5-08",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The SM assigns the P_Key to a port of the node before the node can join the partition"};
inline constexpr Requirement broadcast_group_creation{
    .id = "RFC4391-5-09",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface | Binds::administrator,
    .seen = Seen::sa,
    .test = Test::active,
    .statement =
        "The first node to come up may create the broadcast group, or the administrator may create it ahead of time"};
inline constexpr Requirement broadcast_group_under_administration{
    .id = "RFC4391-5-10",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The administrator controls when the broadcast group is created and deleted"};

}  // namespace ipoib::rfc4391

// SPDX-License-Identifier: GPL-2.0-or-later
// What IPoIB takes for granted of the subnet administrator: statements of the InfiniBand Architecture Specification,
// Volume 1, which the RFCs build on without repeating them. Not among the statements of the RFCs; these are our own.
#pragma once

#include <array>

#include "protocol/requirements/requirement.hpp"

namespace ipoib::iba {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement table_is_complete{
    .id = "IBA-13.6-01",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A table that does not fit into one MAD reaches who asked for it in segments, each record once"};
inline constexpr Requirement creation_components{
    .id = "IBA-15.2.5.17-01",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join creates a group only if it gives Q_Key, P_Key, SL, FlowLabel and TClass beside MGID and port"};
inline constexpr Requirement join_without_state{
    .id = "IBA-15.2.5.17-02",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join whose JoinState has no bit set makes nobody a member"};
inline constexpr Requirement join_with_other_p_key{
    .id = "IBA-15.2.5.17-03",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join that gives another P_Key than the group has makes nobody a member"};
inline constexpr Requirement join_with_other_q_key{
    .id = "IBA-15.2.5.17-04",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join that gives another Q_Key than the group has makes nobody a member"};
inline constexpr Requirement join_with_other_sl{
    .id = "IBA-15.2.5.17-05",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join that gives another SL than the group has makes nobody a member"};
inline constexpr Requirement join_with_other_flow{
    .id = "IBA-15.2.5.17-06",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join that gives another TClass, FlowLabel or HopLimit than the group has makes nobody a member"};
inline constexpr Requirement join_with_other_rate{
    .id = "IBA-15.2.5.17-07",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A join that asks for a rate which the group does not have makes nobody a member"};
inline constexpr Requirement leave_of_what_is_not_held{
    .id = "IBA-15.2.5.17-08",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A leave is refused that names a join state which the port has not, and changes nothing"};
inline constexpr Requirement own_membership_protected{
    .id = "IBA-15.2.5.17-09",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A membership that a port has asked for itself is neither changed nor ended by another port"};
inline constexpr Requirement no_room_for_group{
    .id = "IBA-15.2.5.17-10",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "An SA without room for another group refuses to create it, and keeps those that there are"};
inline constexpr Requirement partitions_hidden{
    .id = "IBA-15.4.1.2-01",
    .level = "shall",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "An SA tells nobody of the groups of a partition that the requester's port is not in"};

/// Every requirement, in the order of the sections.
inline constexpr std::array all = {&table_is_complete,        &creation_components,   &join_without_state,
                                   &join_with_other_p_key,    &join_with_other_q_key, &join_with_other_sl,
                                   &join_with_other_flow,     &join_with_other_rate,  &leave_of_what_is_not_held,
                                   &own_membership_protected, &no_room_for_group,     &partitions_hidden};

}  // namespace ipoib::iba

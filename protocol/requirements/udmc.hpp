// SPDX-License-Identifier: GPL-2.0-or-later
// The requirements of the chapter on UD multicasting, numbered in its order; it has no sections.
#pragma once

#include <array>

#include "protocol/requirements/requirement.hpp"

namespace ipoib::udmc {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement grh_on_every_multicast{.id = "UDMC-01",
                                                    .level = "stmt",
                                                    .strength = Strength::must,
                                                    .binds = Binds::interface,
                                                    .seen = Seen::wire,
                                                    .test = Test::passive,
                                                    .statement = "Every UD multicast packet has a GRH besides its LRH",
                                                    .same_as = {"RFC4391-6-07"},
                                                    .part_of = {"RFC4392-4.2-01"}};
inline constexpr Requirement multicast_destqp{
    .id = "UDMC-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::hca,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "A multicast packet has DestQP FFFFFF, and a receiver discards one with any other DestQP"};
inline constexpr Requirement unregistered_mgid_discarded{
    .id = "UDMC-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::hca,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A channel adapter discards a multicast packet whose MGID is not in its group table"};
inline constexpr Requirement multicast_destination{
    .id = "UDMC-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A multicast packet has the MLID of its group as DLID and the MGID as DGID",
    .same_as = {"RFC4391-10-03"}};
inline constexpr Requirement multicast_loopback{
    .id = "UDMC-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::hca,
    .seen = Seen::wire | Seen::local,
    .test = Test::active,
    .statement =
        "A channel adapter delivers its own multicast packets to its other queue pairs attached to the group too",
    .note = "A capture at the sender may show its own multicast once or twice."};
inline constexpr Requirement delivery_to_all_attached_qps{
    .id = "UDMC-06",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::hca,
    .seen = Seen::local,
    .test = Test::active,
    .statement = "A channel adapter delivers a multicast packet to every queue pair attached to the group"};
inline constexpr Requirement qp_in_group_partition{
    .id = "UDMC-07",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "A queue pair attached to a group belongs to the partition of the group's packets"};
inline constexpr Requirement sa_validates_mgid{
    .id = "UDMC-08",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SA checks the MGID of a request and refuses one that is not valid"};
inline constexpr Requirement join_checks_path_mtu{
    .id = "UDMC-09",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SA checks the path MTU of a joining queue pair and fails the join if it does not suit the group",
    .same_as = {"RFC4391-5-05", "RFC4392-1.3-01"},
    .note = "The chapter states the inequality reversed: a port whose MTU is below that of the group is refused."};
inline constexpr Requirement switch_multicast_capability{
    .id = "UDMC-10",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "Every switch on the way to a member is capable of multicast",
    .part_of = {"RFC4391-2-02"}};
inline constexpr Requirement leave_after_last_detach{
    .id = "UDMC-11",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A port leaves a group at the SA only when the last of its queue pairs has been detached from it"};
inline constexpr Requirement attach_limit{
    .id = "UDMC-12",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::hca,
    .seen = Seen::local,
    .test = Test::active,
    .statement =
        "A channel adapter returns an error at once when more queue pairs than it can hold are to be attached"};
inline constexpr Requirement memberless_group_deleted{
    .id = "UDMC-13",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SA may delete a group once no port has a member queue pair left in it",
    .same_as = {"RFC4391-10-21", "RFC4392-1.3.2.2-01"}};
inline constexpr Requirement pruning{
    .id = "UDMC-14",
    .level = "should",
    .strength = Strength::should,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SA checks from time to time that members still take part, and prunes those that do not"};
inline constexpr Requirement one_port_per_qp{
    .id = "UDMC-15",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "A queue pair sends and receives multicast through one port of its adapter only"};

/// Every requirement of the document, in its order.
inline constexpr std::array all = {&grh_on_every_multicast,
                                   &multicast_destqp,
                                   &unregistered_mgid_discarded,
                                   &multicast_destination,
                                   &multicast_loopback,
                                   &delivery_to_all_attached_qps,
                                   &qp_in_group_partition,
                                   &sa_validates_mgid,
                                   &join_checks_path_mtu,
                                   &switch_multicast_capability,
                                   &leave_after_last_detach,
                                   &attach_limit,
                                   &memberless_group_deleted,
                                   &pruning,
                                   &one_port_per_qp};

}  // namespace ipoib::udmc

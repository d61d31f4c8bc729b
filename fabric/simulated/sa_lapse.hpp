// SPDX-License-Identifier: GPL-2.0-or-later
// Mistakes of an administrator that is right as long as one thing is asked of it at a time.
#pragma once

#include <cstdint>

namespace ipoib::fabric {

/// What it does wrong, once the history is such. IBTA Vol 1, 13.4.9 and 15.2.5.17.
enum class SaLapse : std::uint8_t {
    none,
    // MLIDs that are not given back.
    union_keeps_mlid,  ///< of a group whose port joined as FullMember and SendOnlyFullMember, and left the first
    vanished_port_keeps_mlid,     ///< of a group that ends with a port that vanished
    proxy_leave_keeps_mlid,       ///< of a group that ends with a leave for another port
    other_members_keep_mlid,      ///< of a group that ends while it has other members
    refused_creation_keeps_mlid,  ///< of a group that its creator's P_Key does not allow
    restart_keeps_mlids,          ///< of the groups before
    refused_leave_frees_mlid,     ///< of a group that lives on
    send_only_full_keeps_mlid,    ///< of a group whose last leave is a SendOnlyFullMember's
    own_mgid_keeps_mlid,          ///< of groups whose MGID the administrator chose
    rejoin_moves_mlid,            ///< to a lower one that is free
    doubled_creation_takes_two,   ///< MLIDs, when the request comes twice
    // Who is a member as what.
    rejoin_counts_again,           ///< of a port that is both, so that the group outlives its members
    part_of_union_uncounts,        ///< a member beside others that goes on as such, so that the group ends
    third_join_replaces,           ///< the lowest join state
    union_of_three_ends,           ///< when one of them is left
    vanished_states_return,        ///< with the port's next join
    vanish_leaves_one_group,       ///< the other groups of the port keep it
    restart_keeps_broadcast,       ///< the members of the administrator's groups
    recreated_group_has_members,   ///< those that did not hold it when it ended
    recreated_group_is_as_before,  ///< whatever its creator gives
    leave_keeps_proxy,             ///< the port's next join is taken for another port's
    proxy_opens_group,             ///< to leaves for all its members
    own_mgid_again,                ///< the MGID that the administrator chose last, though that group may live
    creator_ends_group,            ///< when it leaves, though others hold the group
    count_stops,                   ///< at two members that hold a group
    refused_join_adds_states,      ///< to those of a member
    vanish_keeps_proxies,          ///< the memberships that others asked for
    rejoin_drops_others,           ///< than those that hold the group, when a port asks for what it has
    limited_leave_leaves_all,      ///< groups of the port, which is a limited member
    refused_mtu_lowers_group,      ///< to the MTU of the port that was refused for it
    restart_resets_broadcast,      ///< its HopLimit is another
    lid_change_ends_membership,    ///< with the next request about it
    lid_change_opens_membership,   ///< to requests of all ports
    doubled_leave_takes_more,      ///< than was asked for, when the request comes twice
    wide_leave_leaves_all,         ///< join states, when the leave gives the P_Key
    leave_without_state_leaves,    ///< with all join states
    refused_proxy_opens_member,    ///< to requests of all ports
    // Room.
    room_shrinks,         ///< by a group, once it had refused two
    room_is_one_less,     ///< than it has
    one_subscriber_more,  ///< than it has room for
    full_stays_full,      ///< until two groups have ended
    // Reports.
    recreation_unreported,       ///< of a group that was there before
    vanish_unreported,           ///< the end of a group by a port that vanished
    second_subscriber_first,     ///< a new subscription to the same trap takes the place of another port's
    subscription_again_doubles,  ///< the reports
    end_of_all_ends_each,        ///< subscription of the port to one trap
    end_of_one_ends_others,      ///< the same subscription of other ports
    vanished_port_subscribes,    ///< again when it is back
    restart_keeps_subscriptions,
    other_members_report_twice,  ///< the end of a group that has them
    subscription_replays_last,   ///< report to who has subscribed afterwards
    end_swallows_next_report,    ///< to the port whose subscription ends
};

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// The list.
#include "conformance/mutants/lapse.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance {
namespace {

using L = fabric::SaLapse;

constexpr std::array<Lapse, 52> lapses{
    {{L::union_keeps_mlid, "union-keeps-mlid",
      "ends the membership of a FullMember and SendOnlyFullMember that leaves as FullMember, and keeps the group's "
      "MLID"},
     {L::vanished_port_keeps_mlid, "vanished-port-keeps-mlid",
      "keeps the MLID of a group that ends with a port that vanished"},
     {L::proxy_leave_keeps_mlid, "proxy-leave-keeps-mlid",
      "keeps the MLID of a group that ends with a leave for another port"},
     {L::other_members_keep_mlid, "other-members-keep-mlid",
      "keeps the MLID of a group that ends while others than FullMembers are in it"},
     {L::refused_creation_keeps_mlid, "refused-creation-keeps-mlid", "takes an MLID for a group that it then refuses"},
     {L::restart_keeps_mlids, "restart-keeps-mlids",
      "has the MLIDs of its groups still in use after a restart without them"},
     {L::refused_leave_frees_mlid, "refused-leave-frees-mlid",
      "gives the MLID of a group away when a leave is refused"},
     {L::rejoin_counts_again, "rejoin-counts-again",
      "counts a FullMember and SendOnlyFullMember that joins again as one more"},
     {L::part_of_union_uncounts, "part-of-union-uncounts",
      "does not count a member beside others any more that leaves as FullMember or SendOnlyFullMember, and is still "
      "the "
      "other"},
     {L::third_join_replaces, "third-join-replaces",
      "forgets a join state when a port that has two joins with a third"},
     {L::union_of_three_ends, "union-of-three-ends",
      "ends the membership of a port with three join states that leaves with one"},
     {L::vanished_states_return, "vanished-states-return",
      "gives a port that had vanished its old join states when it joins again"},
     {L::vanish_leaves_one_group, "vanish-leaves-one-group", "ends one membership of a port that vanished, not all"},
     {L::restart_keeps_broadcast, "restart-keeps-broadcast", "has the members of its own groups still after a restart"},
     {L::recreated_group_has_members, "recreated-group-has-members",
      "has the members of a group that ended in the next one with its MGID"},
     {L::recreated_group_is_as_before, "recreated-group-is-as-before",
      "gives a new group the parameters of the last one with its MGID"},
     {L::leave_keeps_proxy, "leave-keeps-proxy",
      "takes a port that another had joined, and that has left, for joined by another when it joins itself"},
     {L::proxy_opens_group, "proxy-opens-group",
      "lets every port change every membership of a group in which one member was joined by another"},
     {L::own_mgid_again, "own-mgid-again",
      "begins anew with the MGIDs that it chooses itself when one of those groups ends, though others live"},
     {L::room_shrinks, "room-shrinks", "has room for one group less once it has refused two"},
     {L::room_is_one_less, "room-is-one-less", "refuses the last group that it has room for"},
     {L::one_subscriber_more, "one-subscriber-more", "takes one subscription more than it has room for"},
     {L::recreation_unreported, "recreation-unreported", "reports the creation of a group only the first time"},
     {L::vanish_unreported, "vanish-unreported", "does not report the end of a group with a port that vanished"},
     {L::second_subscriber_first, "second-subscriber-first",
      "forgets who has subscribed to a trap when another port does"},
     {L::subscription_again_doubles, "subscription-again-doubles", "reports twice to a port that has subscribed twice"},
     {L::end_of_all_ends_each, "end-of-all-ends-each",
      "ends the subscriptions of a port to single traps with that to all"},
     {L::end_of_one_ends_others, "end-of-one-ends-others",
      "ends the subscriptions of all ports to a trap when one ends its own"},
     {L::vanished_port_subscribes, "vanished-port-subscribes",
      "reports to a port that had vanished what it had subscribed to"},
     {L::restart_keeps_subscriptions, "restart-keeps-subscriptions", "has its subscriptions still after a restart"},
     {L::other_members_report_twice, "other-members-report-twice",
      "reports the end of a group twice while others than FullMembers are in it"},
     {L::send_only_full_keeps_mlid, "send-only-full-keeps-mlid",
      "keeps the MLID of a group whose last leave is that of a SendOnlyFullMember"},
     {L::own_mgid_keeps_mlid, "own-mgid-keeps-mlid", "keeps the MLIDs of groups whose MGID it chose itself"},
     {L::rejoin_moves_mlid, "rejoin-moves-mlid",
      "gives a group another MLID, which is lower and free, when a member joins again"},
     {L::doubled_creation_takes_two, "doubled-creation-takes-two",
      "takes another MLID for a group when the request comes twice"},
     {L::creator_ends_group, "creator-ends-group",
      "ends a group when the port leaves that created it, whoever else is in it"},
     {L::count_stops, "count-stops", "counts no more than two FullMembers of a group"},
     {L::refused_join_adds_states, "refused-join-adds-states",
      "has a member's further join states though it has refused the join"},
     {L::vanish_keeps_proxies, "vanish-keeps-proxies",
      "keeps the memberships of a port that vanished which another port has asked for"},
     {L::rejoin_drops_others, "rejoin-drops-others",
      "drops the members of a group that do not hold it when a port joins with what it has"},
     {L::limited_leave_leaves_all, "limited-leave-leaves-all",
      "ends all memberships of a limited member that leaves a group of that partition"},
     {L::refused_mtu_lowers_group, "refused-mtu-lowers-group",
      "lowers the MTU of a group to that of a port whose join it refuses for it"},
     {L::restart_resets_broadcast, "restart-resets-broadcast",
      "has another HopLimit for the broadcast groups after a restart"},
     {L::lid_change_ends_membership, "lid-change-ends-membership",
      "ends the membership of a port whose LID has changed with the next request about it"},
     {L::lid_change_opens_membership, "lid-change-opens-membership",
      "lets every port change the memberships of one whose LID has changed"},
     {L::doubled_leave_takes_more, "doubled-leave-takes-more", "takes one join state more when a leave comes twice"},
     {L::wide_leave_leaves_all, "wide-leave-leaves-all", "ends the whole membership when a leave gives the P_Key, too"},
     {L::leave_without_state_leaves, "leave-without-state-leaves",
      "ends the whole membership when a leave gives no JoinState"},
     {L::refused_proxy_opens_member, "refused-proxy-opens-member",
      "lets every port change a membership once it has refused that to one"},
     {L::full_stays_full, "full-stays-full", "has no room, once it had none, until two groups have ended"},
     {L::subscription_replays_last, "subscription-replays-last",
      "reports to a new subscriber what happened last before it subscribed"},
     {L::end_swallows_next_report, "end-swallows-next-report",
      "does not report the next event to a port that has ended one of its subscriptions"}}};

}  // namespace

std::span<const Lapse> all_lapses() noexcept { return lapses; }

const Lapse* find_lapse(std::string_view name) noexcept {
    const auto* const at = std::ranges::find(lapses, name, &Lapse::name);
    return at == lapses.end() ? nullptr : at;
}

}  // namespace ipoib::conformance

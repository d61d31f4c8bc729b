// SPDX-License-Identifier: GPL-2.0-or-later
// The IP groups that an interface listens to.
#include "stack/membership.hpp"

#include "stack/backoff.hpp"
#include "stack/interface.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

void Membership::join(const IpAddress& group, Joined joined, User user) {
    if (!group.is_multicast()) return joined("not a multicast group");
    if (!interface_.is_running()) return joined("the interface is not running");
    if (entries_.size() >= most_groups && !entries_.contains(group)) return joined("too many groups");
    auto& entry = entries_[group];
    (user == User::program ? entry.is_for_program : entry.is_for_socket) = true;
    if (entry.is_joined || is_interface_local(group)) return joined({});
    if (entry.waiting.size() >= most_groups) return joined("too many joins of the group wait");
    if (interface_.policy(family_of(group)).join_awaits_answer)
        entry.waiting.push_back(std::move(joined));
    else
        joined({});
    begin(group);
}

bool Membership::leave(const IpAddress& group) {
    const auto found = entries_.find(group);
    if (found == entries_.end() || !found->second.is_for_program) return false;
    auto& entry = found->second;
    entry.is_for_program = false;
    if (!interface_.policy(family_of(group)).keeps_for_others(group)) entry.is_for_socket = false;
    if (entry.holders == 0 && !entry.is_for_socket) dropped(group);
    return true;
}

void Membership::hold(const IpAddress& group) {
    if (entries_.size() >= most_groups && !entries_.contains(group)) return;
    ++entries_[group].holders;
    if (interface_.is_running()) begin(group);
}

void Membership::release(const IpAddress& group) {
    const auto found = entries_.find(group);
    if (found == entries_.end() || found->second.holders == 0) return;
    const auto& entry = found->second;
    if (--found->second.holders == 0 && !entry.is_for_program && !entry.is_for_socket) dropped(group);
}

/// RFC 4391, 10: a FullMember join; a group that does not exist is created like the broadcast group.
void Membership::begin(const IpAddress& group) {
    auto& entry = entries_[group];
    const auto& policy = interface_.policy(family_of(group));
    if (entry.is_joined || entry.is_joining || is_interface_local(group) || !policy.joins_ip_groups) return;
    if (policy.joins_beside_refused != BesideRefused::at_once && is_another_waiting(group)) {
        if (policy.joins_beside_refused == BesideRefused::never) retry(group);
        for (const auto& joined : std::exchange(entry.waiting, {})) joined({});
        return;
    }
    entry.is_joining = true;
    const auto mgid = mgid_for(policy, interface_.link(), group);
    if (is_content(mgid, group)) return answered(group, {Groups::Outcome::ok, interface_.groups().use(mgid)});
    if (!policy.asks_before_joining) return join_at_sa(group, mgid);
    interface_.groups().find(mgid, lifetime_.guard([this, group, mgid](const Groups::Answer& answer) {
        if (answer.outcome != Groups::Outcome::ok && answer.outcome != Groups::Outcome::missing)
            return answered(group, answer);
        if (entries_.contains(group)) join_at_sa(group, mgid);
    }));
}

void Membership::join_at_sa(const IpAddress& group, const Gid& mgid) {
    interface_.groups().join(mgid, interface_.policy(family_of(group)).member_join_state, true,
                             existence_.guard([this, group, life = lives_](const Groups::Answer& answer) {
                                 life == lives_ ? answered(group, answer) : leave_if_unwanted(group, answer);
                             }));
}

bool Membership::is_another_waiting(const IpAddress& group) const {
    return std::ranges::any_of(entries_, [own = entries_.at(group).backoff](const auto& item) {
        return !item.second.is_joining && item.second.backoff > own;
    });
}

bool Membership::is_content(const Gid& mgid, const IpAddress& group) {
    return !interface_.policy(family_of(group)).joins_beside_sending(group) &&
           interface_.groups().holds(mgid, join_state::send_only_non_member);
}

void Membership::answered(const IpAddress& group, const Groups::Answer& answer) {
    const bool is_ok = answer.outcome == Groups::Outcome::ok;
    const auto found = entries_.find(group);
    if (found == entries_.end()) return leave_if_unwanted(group, answer);
    auto& entry = found->second;
    entry.is_joining = false;
    entry.is_joined = is_ok;
    const auto waiting = std::exchange(entry.waiting, {});
    if (is_ok) {
        entry.was_joined = true;
        entry.backoff = {};
        reports_.joined(group);
    } else if (entry.was_joined || !interface_.policy(family_of(group)).join_awaits_answer) {
        retry(group);
    } else if (entry.holders == 0) {
        entries_.erase(found);
        leave_if_unused(group);
    } else {
        entry.is_for_program = entry.is_for_socket = false;
        retry(group);
    }
    const auto& told = interface_.policy(family_of(group)).tells_failed_joins ? answer.reason : std::string{};
    for (const auto& joined : waiting) joined(told);
}

/// IP left while the SA was asked, maybe in a life of the link before this one.
void Membership::leave_if_unwanted(const IpAddress& group, const Groups::Answer& answer) {
    if (answer.outcome != Groups::Outcome::ok || entries_.contains(group) || is_shared(group) ||
        !interface_.policy(family_of(group)).leaves_unwanted)
        return;
    interface_.groups().leave(answer.group->mgid, interface_.policy(family_of(group)).leave_join_state);
}

/// Of who was in the group before, and of IP itself: what it wants it asks for until it has it.
void Membership::retry(const IpAddress& group) {
    if (!interface_.policy(family_of(group)).retries_joins) return;
    auto& backoff = entries_[group].backoff;
    backoff = std::clamp(2 * backoff, shortest_backoff, longest_backoff);
    const auto pause = interface_.policy(family_of(group)).pause_before_rejoin(backoff);
    interface_.loop().after(pause, lifetime_.guard([this, group] {
        if (is_member(group)) begin(group);
        if (interface_.policy(family_of(group)).joins_beside_refused != BesideRefused::with_its_next_try) return;
        for (const auto& other : groups()) begin(other);
    }));
}

/// RFC 4391, 10: the SA is told, so that the group can end with its last member.
void Membership::dropped(const IpAddress& group) {
    const auto found = entries_.find(group);
    const bool was_joined = found->second.is_joined;
    const auto waiting = std::move(found->second.waiting);
    entries_.erase(found);
    const auto& policy = interface_.policy(family_of(group));
    if (was_joined && interface_.is_running()) {
        reports_.left(group);
        const auto mgid = mgid_for(policy, interface_.link(), group);
        if (policy.leaves_groups && !is_shared(group)) interface_.groups().leave(mgid, policy.leave_join_state);
    }
    for (const auto& joined : waiting) joined("the group was left");
}

/// What another group of the same MGID held was kept for this one.
void Membership::leave_if_unused(const IpAddress& group) {
    const auto& policy = interface_.policy(family_of(group));
    const auto mgid = mgid_for(policy, interface_.link(), group);
    if (policy.leaves_groups && !is_shared(group) && interface_.groups().holds(mgid, policy.member_join_state))
        interface_.groups().leave(mgid, policy.leave_join_state);
}

/// Groups of other scopes have the same MGID: the last of them leaves.
bool Membership::is_shared(const IpAddress& group) const {
    const auto& policy = interface_.policy(family_of(group));
    if (!policy.keeps_shared_groups) return false;
    const auto mgid = mgid_for(policy, interface_.link(), group);
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        return item.first != group && !is_interface_local(item.first) &&
               mgid_for(interface_.policy(family_of(item.first)), interface_.link(), item.first) == mgid;
    });
}

void Membership::link_up(Beginning beginning) {
    link_lost();
    for (const auto& [group, entry] : std::map{entries_})
        if (interface_.policy(family_of(group)).joins_on_link(group, entry.holders == 0, beginning)) begin(group);
}

void Membership::link_lost() {
    ++lives_;
    lifetime_.renew();
    for (auto& [group, entry] : entries_) {
        entry.is_joined = entry.is_joining = false;
        entry.backoff = {};
        for (const auto& joined : std::exchange(entry.waiting, {})) joined("the link was lost");
    }
}

void Membership::group_deleted(const Gid& mgid) {
    for (const auto& group : groups()) {
        auto& entry = entries_[group];
        const auto& policy = interface_.policy(family_of(group));
        if (!entry.is_joined || mgid_for(policy, interface_.link(), group) != mgid) continue;
        entry.is_joined = false;
        if (policy.rejoins_deleted) begin(group);
    }
}

void Membership::receive_query(const IpDatagram& datagram) { reports_.answer(datagram, groups()); }

std::vector<IpAddress> Membership::groups() const {
    std::vector<IpAddress> all;
    for (const auto& [group, entry] : entries_) all.push_back(group);
    return all;
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// How a packet for an IP multicast group leaves.
#include "stack/egress.hpp"

#include "stack/interface.hpp"

namespace ipoib::stack {
using namespace wire;

Egress::Way Egress::way_of(const IpAddress& group) const {
    const auto& policy = interface_.policy(family_of(group));
    return {mgid_for(policy, interface_.link(), group), policy.is_redirected(group)};
}

/// RFC 4391, 10: a member sends. Who is none asks the SA, unless it was asked before.
void Egress::send(const IpAddress& group, EtherType protocol, Octets datagram) {
    const auto& policy = interface_.policy(family_of(group));
    const auto way = way_of(group);
    auto& groups = interface_.groups();
    auto found = targets_.find(way);
    if (found != targets_.end() && found->second.is_stuck) return;
    if (policy.caches_groups)
        if (const auto* joined = groups.use(way.mgid)) return send_multicast(interface_, *joined, protocol, datagram);
    if (policy.caches_groups && is_known_missing(way)) return;
    if (policy.caches_groups && found != targets_.end() && found->second.state == State::redirected) {
        if (const auto* via = groups.use(found->second.via))
            return send_multicast(interface_, *via, protocol, datagram);
    }
    const bool is_asked = found != targets_.end() && found->second.state == State::asking;
    if (found == targets_.end()) {
        if (!make_room()) return;
        found = targets_.try_emplace(way).first;
        found->second.group = group;
        arm_sweep();
    }
    wait(found->second, protocol, datagram);
    if (!is_asked) ask(way);
}

void Egress::wait(Target& target, EtherType protocol, Octets datagram) {
    target.state = State::asking;
    if (target.waiting.size() >= most_waiting) {
        target.waiting.erase(target.waiting.begin());
        target.is_stuck = !interface_.policy(family_of(target.group)).survives_burst;
    }
    target.waiting.push_back({protocol, {datagram.begin(), datagram.end()}});
}

/// The decision that is oldest makes room.
bool Egress::make_room() {
    if (targets_.size() < most_targets) return true;
    auto oldest = targets_.end();
    for (auto i = targets_.begin(); i != targets_.end(); ++i) {
        const bool is_decided = i->second.state != State::asking;
        if (is_decided && (oldest == targets_.end() || i->second.until < oldest->second.until)) oldest = i;
    }
    if (oldest == targets_.end()) return false;
    targets_.erase(oldest);
    return true;
}

/// RFC 4391, 10 A: does the group exist?
void Egress::ask(const Way& way) {
    const auto& policy = interface_.policy(family_of_group(way.mgid));
    if (!policy.checks_group && policy.send_creates_with != 0) return create(way);
    if (!policy.checks_group) return join(way, {.mgid = way.mgid});
    interface_.groups().find(way.mgid, lifetime_.guard([this, way](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return join(way, *answer.group);
        if (answer.outcome == Groups::Outcome::missing) return target_is_missing(way);
        failed(way);
    }));
}

/// RFC 4391, 10 B: a sender joins first. `group` is the target itself, or the all-router group in its place.
void Egress::join(const Way& target, const Group& group) {
    auto& groups = interface_.groups();
    const auto& policy = interface_.policy(family_of_group(target.mgid));
    if (groups.use(group.mgid) && policy.caches_groups) return ready(target, group.mgid);
    if (!policy.joins_to_send) {
        groups.note(group);
        return ready(target, group.mgid);
    }
    const auto via = group.mgid;
    groups.join(via, policy.send_join_state, false, lifetime_.guard([this, target, via](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return ready(target, via);
        const bool is_first_answer = target.mgid == via && !interface_.policy(family_of_group(via)).checks_group;
        const bool was_refused = answer.outcome == Groups::Outcome::refused;
        if (is_first_answer && was_refused) return target_is_missing(target);
        failed(target, was_refused);
    }));
}

/// RFC 4391, 10 A: beyond the link the packet goes on by the all-router group, if there is one.
void Egress::target_is_missing(const Way& target) {
    const auto& policy = interface_.policy(family_of_group(target.mgid));
    if (policy.send_creates_with != 0) return create(target);
    const auto found = targets_.find(target);
    if (found == targets_.end()) return;
    const auto routers = way_of(all_routers(found->second.group.is_v4()));
    if (!target.goes_beyond_link || routers.mgid == target.mgid) return undeliverable(target, decided_until());
    const Group known{.mgid = routers.mgid};
    if (policy.caches_groups && interface_.groups().use(routers.mgid)) return all_router_group(target, &known);
    if (policy.caches_groups && is_known_missing(routers)) return all_router_group(target, nullptr);
    interface_.groups().find(routers.mgid, lifetime_.guard([this, target, routers](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return all_router_group(target, answer.group);
        if (answer.outcome != Groups::Outcome::missing) return failed(target);
        if (make_room()) targets_.try_emplace(routers, Target{.state = State::missing, .until = decided_until()});
        all_router_group(target, nullptr);
    }));
}

void Egress::create(const Way& target) {
    const auto answered = [this, target](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return ready(target, target.mgid);
        failed(target);
    };
    interface_.groups().join(target.mgid, interface_.policy(family_of_group(target.mgid)).send_creates_with, true,
                             lifetime_.guard(answered));
}

void Egress::all_router_group(const Way& target, const Group* routers) {
    const auto& policy = interface_.policy(family_of_group(target.mgid));
    const auto found = targets_.find(target);
    if (found == targets_.end()) return;
    const auto fallback = routers ? policy.with_all_router : policy.without_all_router;
    if (fallback == Fallback::broadcast) return ready(target, interface_.link().broadcast_gid());
    if (!routers || fallback == Fallback::drop) return undeliverable(target, decided_until());
    join(target, *routers);
}

/// What waited goes out. A redirection is remembered; of a joined group Groups knows.
void Egress::ready(const Way& target, const Gid& via) {
    const auto found = targets_.find(target);
    if (found == targets_.end() || found->second.is_stuck) return;
    auto waiting = std::move(found->second.waiting);
    if (via == target.mgid || found->second.was_created) {
        targets_.erase(found);
    } else {
        found->second.state = State::redirected;
        found->second.via = via;
        found->second.until = decided_until();
        found->second.waiting.clear();
    }
    const auto* group = interface_.groups().use(via);
    if (!group) return;
    for (const auto copy = *group; const auto& one : waiting)
        send_multicast(interface_, copy, one.protocol, one.datagram);
}

void Egress::undeliverable(const Way& target, fabric::Time until) {
    const auto found = targets_.find(target);
    if (found == targets_.end()) return;
    auto& entry = found->second;
    if (std::exchange(entry.was_created, false)) return ask(Way{target});
    entry.state = State::missing;
    entry.until = until;
    entry.waiting.clear();
}

bool Egress::is_known_missing(const Way& way) const {
    const auto found = targets_.find(way);
    return found != targets_.end() && found->second.state == State::missing &&
           interface_.loop().now() < found->second.until;
}

fabric::Time Egress::decided_until() const { return interface_.loop().now() + interface_.timers().membership; }

/// The SA refused, or was silent: it is spared for a moment.
void Egress::failed(const Way& target, bool was_refused) {
    constexpr fabric::Duration moment = std::chrono::seconds{1}, for_ever = std::chrono::hours{24 * 365};
    const auto& policy = interface_.policy(family_of_group(target.mgid));
    const bool is_asked_again = policy.asks_group_again && (!was_refused || policy.asks_refused_group_again);
    undeliverable(target, interface_.loop().now() + (is_asked_again ? moment : for_ever));
}

/// RFC 4391, 10: packets that were redirected, or dropped, for want of this group are its own from now on.
void Egress::group_created(const Gid& mgid) {
    const auto& policy = interface_.policy(family_of_group(mgid));
    if (!policy.heeds_creation || (policy.heeds_one_creation && has_seen_creation_)) return;
    for (const bool goes_beyond_link : {false, true}) {
        const auto found = targets_.find({mgid, goes_beyond_link});
        if (found != targets_.end() && found->second.state == State::asking) found->second.was_created = true;
    }
    std::erase_if(targets_, [&](const auto& item) {
        const auto& [target, entry] = item;
        const bool may_be_redirected = entry.state == State::missing &&
                                       mgid == mgid_for(policy, interface_.link(), all_routers(entry.group.is_v4()));
        const bool is_over = entry.state != State::asking && (target.mgid == mgid || may_be_redirected);
        has_seen_creation_ = has_seen_creation_ || (is_over && target.mgid == mgid);
        return is_over;
    });
}

/// RFC 4392, 1.3.2.3: the MLID means nothing any more.
void Egress::group_deleted(const Gid& mgid) {
    if (!interface_.policy(family_of_group(mgid)).heeds_deletion) return;
    std::erase_if(targets_,
                  [&](const auto& item) { return item.second.state == State::redirected && item.second.via == mgid; });
}

void Egress::clear() {
    lifetime_.renew();
    targets_.clear();
    timers_changed();
}

void Egress::timers_changed() {
    interface_.loop().cancel(sweep_timer_);
    sweep_timer_ = {};
    if (interface_.is_running()) arm_sweep();
}

void Egress::expect_idle() {
    if (interface_.is_running()) arm_sweep();
}

void Egress::arm_sweep() {
    if (sweep_timer_) return;
    sweep_timer_ = interface_.loop().after(interface_.timers().membership, lifetime_.guard([this] { sweep(); }));
}

/// RFC 4392, 4.2.5: a sender leaves what it does not use. Old decisions are made anew, should a report have been lost.
void Egress::sweep() {
    sweep_timer_ = {};
    if (!interface_.is_running()) return;
    const auto limit = interface_.timers().membership;
    const auto now = interface_.loop().now();
    std::erase_if(targets_,
                  [&](const auto& item) { return item.second.state != State::asking && now >= item.second.until; });
    interface_.groups().leave_idle(limit);
    if (!targets_.empty() || interface_.groups().holds_for_sending_only() || interface_.groups().is_in_doubt())
        arm_sweep();
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// The multicast groups that an interface holds at the SA.
#include "stack/groups.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::stack {
using namespace wire;
using fabric::SaAnswer;
using fabric::SaRequest;
using Record = McMemberRecord;

namespace {

constexpr std::uint8_t receiving = join_state::full_member | join_state::non_member;

bool is_for_sending_only(std::uint8_t states) { return states != 0 && (states & receiving) == 0; }

std::string_view name_of(std::uint8_t states) { return join_state_names[states & 0x0f].name; }

}  // namespace

std::string reason_of(const SaAnswer& answer) {
    if (!answer.is_answered) return "the SA does not answer";
    for (const auto& named : sa_status_names)
        if (answer.status != 0 && named.value == answer.status) return std::string(named.name);
    return "status " + hex(answer.status, 4);
}

SaRequest Groups::request(Method method, const Gid& mgid, std::uint8_t states) const {
    Bytes<Record> record;
    record.set(Record::mgid, mgid);
    auto mask = Record::component::mgid;
    if (method != Method::get) {
        record.set(Record::port_gid, interface_.port().gid).set(Record::join_state, states);
        mask = Record::component::join;
    }
    return {.method = method,
            .attribute = attribute::mc_member_record,
            .component_mask = mask,
            .record = octets_of(record)};
}

/// RFC 4391, 10: like the broadcast group. The SA heeds these only where the group does not exist, and compares them
/// where it does.
void Groups::add_creation(SaRequest& request, const Gid& mgid) const {
    using component = Record::component;
    const auto& policy = interface_.policy(family_of_group(mgid));
    const auto& link = interface_.link();
    const MutableOctets record{request.record};
    set_field(record, Record::q_key, policy.created_q_key(link));
    set_field(record, Record::p_key, policy.created_p_key(link));
    set_field(record, Record::mtu_selector, selector::exactly);
    set_field(record, Record::mtu, policy.created_mtu(link));
    set_field(record, Record::rate_selector, selector::exactly);
    set_field(record, Record::rate, policy.created_rate(link));
    if (const auto lifetime = policy.created_lifetime(link); lifetime != 0) {
        set_field(record, Record::lifetime_selector, selector::exactly);
        set_field(record, Record::lifetime, lifetime);
        request.component_mask |= component::lifetime | component::lifetime_selector;
    }
    set_field(record, Record::sl, policy.created_sl(link));
    set_field(record, Record::traffic_class, policy.created_traffic_class(link));
    set_field(record, Record::flow_label, policy.created_flow_label(link));
    set_field(record, Record::hop_limit, policy.created_hop_limit(link));
    set_field(record, Record::scope, policy.created_scope(link));
    request.component_mask |= component::create | component::mtu_selector | component::mtu | component::rate_selector |
                              component::rate | component::hop_limit | component::scope;
}

void Groups::failed(std::string_view what, const Gid& mgid, const std::string& reason, bool is_silence) {
    const auto& policy = interface_.policy(family_of_group(mgid));
    if (!policy.logs_failures || (is_silence && !policy.logs_silence)) return;
    if (!std::exchange(has_logged_, true) || policy.logs_each_failure)
        interface_.log(std::string(what) + " of " + text(mgid) + " failed: " + reason);
}

void Groups::find(const Gid& mgid, Answered answered) {
    auto on_answer = [this, mgid, answered = std::move(answered)](const SaAnswer& answer) {
        const auto record = answer.is_ok() ? answer.first<Record>() : View<Record>{};
        if (record && record[Record::mgid] == mgid) {
            const auto group = group_of(record);
            return answered({Outcome::ok, &group});
        }
        if (answer.is_answered && (answer.status == 0 || answer.status == sa_status::no_records))
            return answered({Outcome::missing, nullptr, "the group does not exist"});
        const auto reason = reason_of(answer);
        failed("query", mgid, reason, !answer.is_answered);
        answered({answer.is_answered ? Outcome::refused : Outcome::silent, nullptr, reason});
    };
    const auto own = std::make_shared<std::uint32_t>(0);
    *own = interface_.sa().ask(
        request(Method::get, mgid, 0),
        lifetime_.guard([this, own, on_answer = std::move(on_answer)](const SaAnswer& answer) mutable {
            std::erase(finding_, *own);
            on_answer(answer);
        }));
    finding_.push_back(*own);
}

void Groups::end_searches() {
    for (const auto transaction : std::exchange(finding_, {})) interface_.sa().forget(transaction);
}

void Groups::join(const Gid& mgid, std::uint8_t states, bool may_create, Answered answered) {
    if (is_leaving(mgid, states)) {
        const Group supposed{.mgid = mgid};
        if (!interface_.policy(family_of_group(mgid)).joins_behind_leave) return answered({Outcome::ok, &supposed});
        auto later = [this, mgid, states, may_create, answered = std::move(answered)] {
            join(mgid, states, may_create, answered);
        };
        return held_back_.push_back({mgid, std::move(later)});
    }
    auto asked = request(Method::set, mgid, states);
    if (may_create) add_creation(asked, mgid);
    const auto own = std::make_shared<std::uint32_t>(0);
    *own =
        interface_.sa().ask(asked, lifetime_.guard([this, own, family = family_of_group(mgid)](const SaAnswer& answer) {
            const auto meant = take_joining(*own, family);
            if (!meant) return;
            if (!answer.is_answered) doubt(meant->mgid, meant->states);
            joined(meant->mgid, meant->states, answer, meant->answered);
        }));
    joining_.push_back({*own, mgid, states, std::move(answered)});
}

std::optional<Groups::Joining> Groups::take_joining(std::uint32_t transaction, Family family) {
    const auto is_like = [family](const Joining& one) { return family_of_group(one.mgid) == family; };
    const auto whose = interface_.policy(family).join_answer;
    auto at = std::ranges::find(joining_, transaction, &Joining::transaction);
    if (whose == AnswerOf::oldest_question) at = std::ranges::find_if(joining_, is_like);
    if (whose == AnswerOf::newest_question) {
        const auto newest = std::find_if(joining_.rbegin(), joining_.rend(), is_like);
        at = newest == joining_.rend() ? joining_.end() : std::prev(newest.base());
    }
    if (at == joining_.end()) return {};
    auto meant = std::move(*at);
    joining_.erase(at);
    return meant;
}

void Groups::doubt(const Gid& mgid, std::uint8_t states) {
    if (doubts_.size() >= most_groups && !doubts_.contains(mgid)) return;
    doubts_[mgid] = static_cast<std::uint8_t>(doubts_[mgid] | states);
    interface_.egress().expect_idle();
}

void Groups::is_certain(const Gid& mgid, std::uint8_t states) {
    const auto found = doubts_.find(mgid);
    if (found == doubts_.end()) return;
    found->second = static_cast<std::uint8_t>(found->second & ~states);
    if (found->second == 0) doubts_.erase(found);
}

bool Groups::is_leaving(const Gid& mgid, std::uint8_t states) const {
    return std::any_of(leaving_.begin(), leaving_.end(),
                       [&](const Leaving& one) { return one.mgid == mgid && (one.states & states) != 0; });
}

void Groups::joined(const Gid& mgid, std::uint8_t states, const SaAnswer& answer, const Answered& answered) {
    const auto record = answer.is_ok() ? answer.first<Record>() : View<Record>{};
    if (!record) {
        const auto reason = answer.is_ok() ? "the answer has no record" : reason_of(answer);
        if (interface_.policy(family_of_group(mgid)).logs_failures_of_senders || !is_for_sending_only(states))
            failed(std::string(name_of(states)) + " join", mgid, reason, !answer.is_answered);
        return answered({answer.is_answered ? Outcome::refused : Outcome::silent, nullptr, reason});
    }
    // The interface went down meanwhile.
    if (!interface_.is_up()) {
        if (interface_.policy(family_of_group(mgid)).leaves_unanswered_when_down) give_up(mgid, states);
        return;
    }
    auto group = group_of(record);
    group.mgid = mgid;
    is_certain(mgid, states);
    if (hold(group, states)) return answered({Outcome::ok, &group});
    const std::string reason = "the adapter takes no more attachments";
    failed("attachment to the group", mgid, reason);
    leave(mgid, states);
    answered({Outcome::refused, nullptr, reason});
}

/// RFC 4391, 12: attaching the queue pair can fail although the join did not.
bool Groups::hold(const Group& group, std::uint8_t states) {
    if (held_.size() >= most_groups && !held_.contains(group.mgid)) return false;
    auto& held = held_[group.mgid];
    if (held.is_attached && held.group.mlid != group.mlid) detach(held);
    held.group = group;
    held.used = interface_.loop().now();
    const bool was_sender = is_for_sending_only(held.states);
    held.states = static_cast<std::uint8_t>(held.states | states);
    if (held.is_attached || (held.states & receiving) == 0 ||
        !interface_.policy(family_of_group(group.mgid)).attaches(was_sender))
        return true;
    held.is_attached = interface_.attach(group);
    return held.is_attached;
}

void Groups::detach(Held& held) {
    if (held.is_attached) interface_.detach(held.group);
    held.is_attached = false;
}

void Groups::leave(const Gid& mgid, std::uint8_t states) {
    const Gid group = mgid;
    if (const auto found = held_.find(group); found != held_.end()) {
        auto& held = found->second;
        held.states = static_cast<std::uint8_t>(held.states & ~states);
        if ((held.states & receiving) == 0) detach(held);
        if (held.states == 0 && (states & receiving) != 0 &&
            !interface_.policy(family_of_group(group)).forgets_left_groups)
            held.states = join_state::send_only_non_member;
        if (held.states == 0) held_.erase(found);
    } else if (const auto doubt = doubts_.find(group); doubt == doubts_.end() || (doubt->second & states) == 0) {
        return;
    }
    is_certain(group, states);
    give_up(group, states);
}

void Groups::give_up(const Gid& mgid, std::uint8_t given_up) {
    const auto states = static_cast<std::uint8_t>(given_up & ~interface_.states_of_others(mgid));
    if (states == 0) return;
    const auto own = std::make_shared<std::uint32_t>(0);
    *own = interface_.sa().ask(request(Method::del, mgid, states),
                               lifetime_.guard([this, mgid, states, own](const SaAnswer& answer) {
                                   std::erase_if(leaving_, [&](const Leaving& one) { return one.transaction == *own; });
                                   left(mgid, states, answer);
                               }));
    leaving_.push_back({*own, mgid, states});
}

void Groups::left(const Gid& mgid, std::uint8_t states, const SaAnswer& answer) {
    if (!answer.is_ok()) failed(std::string(name_of(states)) + " leave", mgid, reason_of(answer), !answer.is_answered);
    if (!answer.is_answered && interface_.policy(family_of_group(mgid)).repeats_leaves) doubt(mgid, states);
    std::vector<std::function<void()>> due;
    std::erase_if(held_back_, [&](HeldBack& one) {
        if (one.mgid != mgid) return false;
        due.push_back(std::move(one.join));
        return true;
    });
    for (const auto& join : due) join();
}

void Groups::leave_all() {
    if (interface_.is_running()) leave_doubtful();
    end_searches();
    held_back_.clear();
    std::vector<Joining> kept;
    for (auto& one : std::exchange(joining_, {})) {
        if (!interface_.policy(family_of_group(one.mgid)).leaves_unanswered_when_down) {
            kept.push_back(std::move(one));
            continue;
        }
        interface_.sa().forget(one.transaction);
        give_up(one.mgid, one.states);
    }
    joining_ = std::move(kept);
    std::erase_if(held_, [this](const auto& item) {
        const auto& policy = interface_.policy(family_of_group(item.first));
        return is_for_sending_only(item.second.states) && !policy.leaves_sent_groups_when_down;
    });
    while (!held_.empty()) {
        auto& [mgid, held] = *held_.begin();
        if (mgid == interface_.link().broadcast_gid() && !interface_.policy().leaves_broadcast_group) {
            detach(held);
            held_.erase(held_.begin());
            continue;
        }
        if (const auto states = held.states; states != 0)
            leave(Gid{mgid}, states);
        else
            forget(Gid{mgid});
    }
}

const Group* Groups::use(const Gid& mgid) {
    const auto found = held_.find(mgid);
    if (found == held_.end()) return nullptr;
    found->second.used = interface_.loop().now();
    return &found->second.group;
}

bool Groups::holds(const Gid& mgid, std::uint8_t states) const {
    const auto found = held_.find(mgid);
    return found != held_.end() && (found->second.states & states) == states;
}

std::uint8_t Groups::states(const Gid& mgid) const {
    const auto found = held_.find(mgid);
    return found == held_.end() ? std::uint8_t{0} : found->second.states;
}

void Groups::note(const Group& group) { static_cast<void>(hold(group, 0)); }

void Groups::forget(const Gid& mgid) {
    const auto found = held_.find(mgid);
    if (found == held_.end()) return;
    detach(found->second);
    const auto states = found->second.states;
    held_.erase(found);
    // What is reported may be of the group's life before, and late.
    if (states != 0) doubt(Gid{mgid}, states);
}

/// What the SA was asked last may have reached it.
void Groups::drop_requests() {
    lifetime_.renew();
    end_searches();
    held_back_.clear();
    for (const auto& one : std::exchange(joining_, {})) {
        interface_.sa().forget(one.transaction);
        doubt(one.mgid, one.states);
    }
    for (const auto& one : std::exchange(leaving_, {})) {
        interface_.sa().forget(one.transaction);
        doubt(one.mgid, one.states);
    }
}

void Groups::forget_all() {
    drop_requests();
    for (auto& [mgid, held] : std::exchange(held_, {})) {
        detach(held);
        if (held.states != 0) doubt(mgid, held.states);
    }
}

void Groups::forget_all_but_sent_to() {
    drop_requests();
    for (auto item = held_.begin(); item != held_.end();) {
        auto& [mgid, held] = *item;
        const bool is_kept =
            is_for_sending_only(held.states) && !interface_.policy(family_of_group(mgid)).forgets_sent_groups;
        if (!is_kept) {
            detach(held);
            if (held.states != 0) doubt(mgid, held.states);
        }
        item = is_kept ? std::next(item) : held_.erase(item);
    }
}

void Groups::leave_idle(fabric::Duration idle) {
    const auto now = interface_.loop().now();
    std::vector<std::pair<Gid, std::uint8_t>> due;
    for (const auto& [mgid, held] : held_)
        if (is_for_sending_only(held.states) && now - held.used >= idle &&
            interface_.policy(family_of_group(mgid)).leaves_idle_groups)
            due.emplace_back(mgid, held.states);
    for (const auto& [mgid, states] : due) leave(mgid, states);
    leave_doubtful();
}

void Groups::leave_doubtful() {
    std::vector<std::pair<Gid, std::uint8_t>> due;
    for (const auto& [mgid, states] : doubts_) {
        const auto& policy = interface_.policy(family_of_group(mgid));
        const auto is_asked = std::any_of(joining_.begin(), joining_.end(),
                                          [&mgid = mgid](const Joining& one) { return one.mgid == mgid; });
        if (is_asked || !(is_for_sending_only(states) ? policy.leaves_idle_groups : policy.leaves_groups)) continue;
        due.emplace_back(mgid, static_cast<std::uint8_t>(states & ~this->states(mgid)));
    }
    for (const auto& [mgid, states] : due) {
        doubts_.erase(mgid);
        // Asked to end what it does not hold as well, an SA may end neither.
        for (const auto state : {join_state::full_member, join_state::non_member, join_state::send_only_non_member,
                                 join_state::send_only_full_member})
            if (states & state) give_up(mgid, state);
    }
}

bool Groups::holds_for_sending_only() const {
    return std::any_of(held_.begin(), held_.end(),
                       [](const auto& item) { return is_for_sending_only(item.second.states); });
}

}  // namespace ipoib::stack

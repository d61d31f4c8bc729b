// SPDX-License-Identifier: GPL-2.0-or-later
// Who is told of groups, and what comes.
#include "conformance/sa_model/model.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace ipoib::conformance::sa_model {
using namespace wire;
using M = McMemberRecord;

/// Who is a limited member may not be told: IBTA Vol 1, 13.4.9 says no more than that the partition is shared. Nor is
/// it said whether groups of the configuration begin and end with their members, and who subscribed twice may be told
/// twice.
void Model::report(std::uint16_t trap, const Group& group) {
    const auto p_key = group.record[M::p_key];
    for (unsigned port = 0; port < facts_.ports.size(); ++port) {
        Subscription all{.least = 0, .most = 0};
        for (const auto one : std::array{trap, wire::trap::all})
            if (const auto at = subscriptions_.find({port, one}); at != subscriptions_.end()) {
                all.least = std::max(all.least, at->second.least);
                all.most += at->second.most;
            }
        if (all.most == 0 || !facts_.ports[port].is_there || !is_in(port, p_key)) continue;
        const bool must_be = is_full_member(port, p_key) && !group.is_administrative;
        due_.push_back(
            {port, trap, group.record[M::mgid], must_be ? all.least : 0u, all.most, &rfc4392::group_trap_reports});
    }
}

std::vector<Deviation> Model::take_reports(std::vector<Heard> heard) {
    std::vector<Deviation> all;
    const auto say = [&](std::string_view rule, const Heard& one, const requirements::Requirement* requirement) {
        all.push_back(
            {"report", rule,
             "port " + std::to_string(one.port) + ", trap " + std::to_string(one.trap) + " on " + text(one.mgid),
             requirement});
    };
    using Key = std::tuple<unsigned, std::uint16_t, Gid>;
    std::map<Key, Due> bounds;
    for (const auto& one : std::exchange(due_, {})) {
        const auto [at, is_new] = bounds.emplace(Key{one.port, one.trap, one.mgid}, one);
        if (is_new) continue;
        at->second.least += one.least;
        at->second.most += one.most;
    }
    for (const auto& [key, due] : bounds) {
        unsigned count = 0;
        for (auto at = heard.begin(); at != heard.end() && count < due.most;) {
            const bool is_it = Key{at->port, at->trap, at->mgid} == key;
            count += is_it;
            at = is_it ? heard.erase(at) : at + 1;
        }
        if (count < due.least)
            say("a group's beginning and end are reported to each subscriber (14.2.5.1)",
                {due.port, due.trap, due.mgid}, due.requirement);
        if (facts_.reports_come_late && count < due.most) late_[key] += due.most - count;
    }
    const auto comes_late = [&](const Heard& one) {
        const auto at = late_.find({one.port, one.trap, one.mgid});
        return at != late_.end() && at->second > 0 && at->second-- > 0;
    };
    std::erase_if(heard, comes_late);
    for (const auto& one : heard)
        say("nothing is reported but what happened, and to each subscriber once (13.4.9)", one, nullptr);
    return all;
}

Subscription Model::subscription_count() const noexcept {
    Subscription all{.least = 0, .most = 0};
    for (const auto& entry : subscriptions_) {
        all.least += entry.second.least;
        all.most += entry.second.most;
    }
    return all;
}

std::vector<Deviation> Model::take_subscription(unsigned port, std::uint16_t trap, bool begins, const Answer& answer) {
    std::vector<Deviation> all;
    const std::string who = "port " + std::to_string(port) + (begins ? " subscribing to " : " ending ") +
                            (trap == trap::all ? "all traps" : "trap " + std::to_string(trap));
    if (!answer.is_answered) {
        all.push_back({"silence", "a request is answered", who + " is not answered"});
        return all;
    }
    const std::pair subscription{port, trap};
    const auto at = subscriptions_.find(subscription);
    const auto held = at == subscriptions_.end() ? Subscription{.least = 0, .most = 0} : at->second;
    const auto count = subscription_count();
    const auto room = facts_.subscriptions;
    const bool needs_room = held.least == 0;
    const bool may_be_full = !room || (needs_room && count.most >= *room);
    const bool is_full = room && held.most == 0 && count.least >= *room;
    if (begins && !answer.is_ok() && !(answer.status == sa_status::no_resources && may_be_full))
        all.push_back({"answer", "a subscription to traps of groups is granted (13.4.9)",
                       who + " is refused with status " + hex(answer.status, 4), &rfc4392::group_trap_reports});
    if (begins && is_full && answer.is_ok())
        all.push_back({"room", "an SA without room takes no subscription", who + " is granted"});
    if (!begins && answer.is_ok() && held.most == 0)
        all.push_back(
            {"answer", "the end of a subscription that is not there is refused (13.4.8.3)", who + " is granted"});
    if (!begins && !answer.is_ok() && held.least != 0)
        all.push_back({"answer", "a subscription can be ended (13.4.8.3)",
                       who + " is refused with status " + hex(answer.status, 4)});
    if (begins && answer.is_ok())
        subscriptions_[subscription] = {.least = 1, .most = std::max(1u, held.most + (held.least == 0 ? 1 : 0))};
    if (begins) return all;
    // What a port with another LID has not ended may be there still.
    const auto ended = answer.is_ok() || held.least != 0 ? 1u : 0u;
    subscriptions_[subscription] = {.least = 0, .most = held.most - std::min(held.most, ended)};
    if (subscriptions_[subscription].most == 0) subscriptions_.erase(subscription);
    return all;
}

void Model::move(unsigned port) {
    for (auto& [who, subscription] : subscriptions_)
        if (who.first == port) subscription.least = 0;
}

}  // namespace ipoib::conformance::sa_model

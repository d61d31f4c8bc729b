// SPDX-License-Identifier: GPL-2.0-or-later
// Duties that are open.
#include "protocol/inspection/duties.hpp"

namespace ipoib::inspection {

Duties::Duties(const std::vector<const rules::Rule*>& rules, state::Limits& room) : rules_(rules), room_(room) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!rules[i]->duty) continue;
        const auto& duty = *rules[i]->duty;
        const auto add = [&](state::EventKind kind) {
            auto& list = by_event_.at(static_cast<std::size_t>(kind));
            if (list.empty() || list.back() != i) list.push_back(static_cast<std::uint16_t>(i));
        };
        add(duty.begins);
        for (const auto kind : duty.ends) add(kind);
        if (duty.ceases) add(*duty.ceases);
    }
}

/// Whether it is open now, as far as anything can be late.
bool Duties::begin(std::size_t rule, const state::Event& event) {
    // Without times nothing is ever late.
    if (event.at.time == 0) return true;
    const auto this_one = key(rule, event.port, event.group);
    if (index_.contains(this_one) || late_.contains(this_one)) return true;
    if (room_.duties == 0 || !state::take_from(room_.octets, cost)) return false;
    --room_.duties;
    index_.emplace(this_one, &open_.emplace_back(Open{{rule, event.at, event.port, event.group, event.link}}));
    return true;
}

bool Duties::is_silent(const state::Subnet& subnet, const Neglect& one) {
    const auto* member = subnet.member(one.link->group, one.port);
    if (!member) return false;
    // Nobody asks the SA for ever.
    constexpr auto longest_asking = 4 * patience;
    const auto& requester = subnet.requester(one.port);
    if (requester.open_requests != 0) return true;
    const auto& asked = requester.subscribes;
    const bool is_asking =
        asked.order > one.began.order && state::elapsed(one.began.time, member->spoke.time) <= longest_asking;
    // Where it has many groups it joins one after another.
    constexpr std::int64_t at_once = 2'000'000'000;  // ns
    const bool is_joining = requester.joins.order > one.began.order &&
                            state::elapsed(requester.joins.time, member->spoke.time) <= at_once &&
                            state::elapsed(one.began.time, member->spoke.time) <= longest_asking;
    return is_joining || state::elapsed(is_asking ? asked.time : one.began.time, member->spoke.time) <= patience;
}

bool Duties::is_void(const state::Subnet& subnet, const Neglect& one) {
    if (subnet.requester(one.port).down.order > one.began.order) return true;
    if (one.group == state::none) return false;
    const auto* member = subnet.member(one.group, one.port);
    return subnet.groups()[one.group].deleted.order > one.began.order ||
           (member && member->asked_to_leave.order > one.began.order);
}

bool Duties::is_neglected(const state::Subnet& subnet, std::size_t rule, const state::Event& event) const {
    const auto this_one = key(rule, event.port, event.group);
    const auto late = late_.find(this_one);
    const auto open = index_.find(this_one);
    const auto* what = late != late_.end() ? &late->second : open != index_.end() ? &open->second->what : nullptr;
    return what && state::elapsed(what->began.time, event.at.time) > patience && !is_silent(subnet, *what);
}

std::size_t Duties::end(std::size_t rule, const state::Event& event) {
    std::size_t count = 0;
    const auto end_between = [&](const Key& first, const Key& last) {
        const auto end = index_.upper_bound(last);
        for (auto one = index_.lower_bound(first); one != end; one = index_.erase(one), ++count)
            one->second->is_over = true;
        const auto end_of_late = late_.upper_bound(last);
        for (auto one = late_.lower_bound(first); one != end_of_late; one = late_.erase(one), ++count) give_back();
    };
    const auto of = [&](state::GroupIndex group) { return key(rule, event.port, group); };
    if (event.group == state::none) {
        end_between(of(0), of(state::none));
    } else {
        // What is done for one group also ends a duty that names none.
        end_between(of(event.group), of(event.group));
        end_between(of(state::none), of(state::none));
    }
    return count;
}

}  // namespace ipoib::inspection

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
    }
}

/// Whether it is open now, as far as anything can be late.
bool Duties::begin(std::size_t rule, const state::Event& event) {
    // Without times nothing is ever late.
    if (event.at.time == 0) return true;
    const auto this_one = key(rule, event.port, event.group);
    if (index_.contains(this_one)) return true;
    if (room_.duties == 0 || !state::take_from(room_.octets, cost)) return false;
    --room_.duties;
    const auto number = open_.add({{rule, event.at, event.port, event.group, event.link}, false});
    index_.emplace(this_one, Place{&open_, number});
    return true;
}

bool Duties::is_silent(const state::Subnet& subnet, const Neglect& one) {
    const auto* member = subnet.member(one.link->group, one.port);
    if (!member) return false;
    // Nobody asks the SA for ever.
    constexpr auto longest_asking = 4 * patience;
    const auto& asked = subnet.requester(one.port).subscribes;
    const bool is_asking =
        asked.order > one.began.order && state::elapsed(one.began.time, member->spoke.time) <= longest_asking;
    return state::elapsed(is_asking ? asked.time : one.began.time, member->spoke.time) <= patience;
}

bool Duties::is_void(const state::Subnet& subnet, const Neglect& one) {
    if (subnet.requester(one.port).down.order > one.began.order) return true;
    if (one.group == state::none) return false;
    const auto* member = subnet.member(one.group, one.port);
    return subnet.groups()[one.group].deleted.order > one.began.order ||
           (member && member->asked_to_leave.order > one.began.order);
}

std::size_t Duties::end(std::size_t rule, const state::Event& event) {
    const auto close = [&](auto found) {
        auto& [queue, number] = found->second;
        queue->all[number - queue->first].is_over = true;
        return index_.erase(found);
    };
    if (event.group != state::none) {
        // What is done for one group also ends a duty that names none.
        std::size_t count = 0;
        for (const auto group : {event.group, state::none})
            if (const auto found = index_.find(key(rule, event.port, group)); found != index_.end()) {
                close(found);
                ++count;
            }
        return count;
    }
    std::size_t count = 0;
    const auto end = index_.upper_bound(key(rule, event.port, state::none));
    for (auto found = index_.lower_bound(key(rule, event.port, 0)); found != end; ++count) found = close(found);
    return count;
}

}  // namespace ipoib::inspection

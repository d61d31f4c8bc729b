// SPDX-License-Identifier: GPL-2.0-or-later
// Chance, with a memory of what was asked for.
#include "conformance/siege/generator.hpp"

#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace ipoib::conformance::siege {
namespace {

/// Some of the items, in an order of chance.
std::vector<unsigned> some_of(std::vector<unsigned> all, std::size_t count, std::mt19937_64& random) {
    for (auto i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
    all.resize(std::min(count, all.size()));
    return all;
}

std::vector<unsigned> numbers(unsigned first, unsigned end) {
    std::vector<unsigned> all;
    for (unsigned i = first; i < end; ++i) all.push_back(i);
    return all;
}

}  // namespace

/// What one history keeps to, and what its ports hold if all that was asked was granted.
struct Generator::Part {
    std::vector<unsigned> askers, ports, groups;
    bool has_faults, has_proxies, has_doubles;
    bool fills_room;                                           ///< joins are such that groups begin
    unsigned joins, leaves, reports, ends, again;              ///< how often, beside one another
    std::map<std::pair<unsigned, unsigned>, unsigned> held{};  ///< port, group -> states

    void forget(unsigned port) {
        std::erase_if(held, [&](const auto& entry) { return entry.first.first == port; });
    }
};

unsigned Generator::some_states() {
    for (;;)
        if (const auto states = below(all_join_states + 1) & options_.states; states != 0) return states;
}

unsigned Generator::one_state() {
    for (;;)
        if (const auto state = 1u << below(4); (state & options_.states) != 0) return state;
}

Step Generator::join(Part& part) {
    Step step{.port = any(part.askers), .group = any(part.groups), .states = one_in(2) ? one_state() : some_states()};
    step.of = step.port;
    if (part.fills_room) step.states = wire::join_state::full_member & options_.states ? 1u : step.states;
    if (part.has_proxies && one_in(4)) {
        step.what = Do::join_for;
        step.of = any(part.ports);
    }
    if (part.has_faults && one_in(4)) {
        if (one_in(2))
            step.fault = static_cast<Fault>(1 + below(faults - 1));
        else
            step.components = 1 + below(all_join_components);
        if (one_in(8)) step.states = 0;
    } else {
        part.held[{step.of, step.group}] |= step.states;
    }
    step.is_twice = part.has_doubles && one_in(4);
    return step;
}

Step Generator::leave(Part& part) {
    Step step{.what = Do::leave, .port = any(part.askers), .group = any(part.groups), .states = some_states()};
    step.of = step.port;
    // Mostly something that is held, in part or whole.
    if (!part.held.empty() && !one_in(6)) {
        auto at = part.held.begin();
        std::advance(at, below(static_cast<unsigned>(part.held.size())));
        step.of = at->first.first;
        step.group = at->first.second;
        if (step.of < abilities_.askers)
            step.port = step.of;
        else
            step.what = Do::leave_for;
        if (const auto some = at->second & below(all_join_states + 1); some != 0 && one_in(2))
            step.states = some;
        else if (!one_in(8))
            step.states = one_in(2) ? at->second & (~at->second + 1) : at->second;
    }
    if (part.has_proxies && one_in(3)) {
        step.what = Do::leave_for;
        step.port = any(part.askers);
    }
    step.is_twice = part.has_doubles && one_in(4);
    // Mostly what a leave needs, and more.
    if (part.has_faults && one_in(4)) {
        step.components = 1 + below(all_join_components);
        if (!one_in(4)) step.components |= static_cast<std::uint32_t>(wire::McMemberRecord::component::join);
    }
    const auto at = part.held.find({step.of, step.group});
    if (at != part.held.end() && (at->second &= ~step.states) == 0) part.held.erase(at);
    return step;
}

Step Generator::step(Part& part) {
    constexpr std::array<std::uint16_t, 3> traps{wire::trap::multicast_group_created,
                                                 wire::trap::multicast_group_deleted, wire::trap::all};
    const auto any_port = any(part.askers);
    auto what = below(part.joins + part.leaves + part.reports + part.ends + part.again);
    const auto is_one_of = [&](unsigned so_many) {
        const bool is_it = what < so_many;
        what -= is_it ? 0 : so_many;
        return is_it;
    };
    if (is_one_of(part.joins)) return join(part);
    if (is_one_of(part.leaves)) return leave(part);
    if (is_one_of(part.reports))
        return {.what = one_in(3) ? Do::unsubscribe : Do::subscribe,
                .port = any_port,
                .of = any_port,
                .is_twice = part.has_doubles && one_in(4),
                .trap = traps.at(below(traps.size()))};
    if (is_one_of(part.again)) return {.what = Do::reregister, .port = any_port, .of = any_port};
    if (abilities_.ports_move && one_in(4)) return {.what = Do::port_moves, .port = any_port, .of = any_port};
    if (abilities_.restarts && (one_in(4) || !abilities_.ports_vanish)) {
        part.held.clear();
        return {.what = Do::restart};
    }
    const bool is_up = one_in(2);
    if (!is_up) part.forget(any_port);
    return {.what = is_up ? Do::port_up : Do::port_down, .port = any_port, .of = any_port};
}

History Generator::next() {
    const auto group_count = static_cast<unsigned>(abilities_.groups.size());
    Part part{.askers = some_of(numbers(0, abilities_.askers), 1 + below(abilities_.askers), random_),
              .ports = {},
              .groups = some_of(abilities_.groups, 1 + below(one_in(2) ? group_count : 2), random_),
              .has_faults = one_in(3),
              .has_proxies = one_in(2),
              .has_doubles = one_in(3),
              .fills_room = false,
              .joins = 8u << below(3),
              .leaves = 4u << below(3),
              .reports = abilities_.hears && !one_in(3) ? 1u << below(5) : 0,
              .ends = (abilities_.ports_vanish || abilities_.restarts) && !one_in(3) ? 1u << below(3) : 0,
              .again = 1};
    // Who asks is asked for, too.
    part.ports = part.askers;
    for (const auto port : some_of(numbers(abilities_.askers, abilities_.ports), below(3), random_))
        part.ports.push_back(port);
    const auto most = below(8);
    if (most == 0) {
        // All in one group, so that many hold it.
        part.askers = numbers(0, abilities_.askers);
        part.groups.resize(1);
    } else if (most == 1) {
        // One or two in all groups, so that there is no room for more.
        part.askers.resize(std::min<std::size_t>(part.askers.size(), 1 + below(2)));
        part.groups = some_of(abilities_.groups, abilities_.groups.size(), random_);
        part.has_faults = part.has_proxies = false;
        part.reports = part.ends = 0;
        part.fills_room = true;
    }
    History history;
    const auto steps = 2 + below(std::max(1u, options_.depth - 1));
    for (unsigned i = 0; i < steps; ++i) history.steps.push_back(step(part));
    return history;
}

}  // namespace ipoib::conformance::siege

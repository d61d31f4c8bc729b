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
std::vector<unsigned> some_of(unsigned there_are, unsigned count, std::mt19937_64& random) {
    std::vector<unsigned> all(there_are);
    for (unsigned i = 0; i < there_are; ++i) all[i] = i;
    for (unsigned i = there_are; i > 1; --i) std::swap(all[i - 1], all[random() % i]);
    all.resize(std::min(count, there_are));
    return all;
}

}  // namespace

/// What one history keeps to, and what its ports hold if all that was asked was granted.
struct Generator::Part {
    std::vector<unsigned> ports, groups;
    bool has_faults, has_proxies, has_reports, has_ends;
    std::map<std::pair<unsigned, unsigned>, unsigned> held{};  ///< port, group -> states

    void forget(unsigned port) {
        std::erase_if(held, [&](const auto& entry) { return entry.first.first == port; });
    }
};

Step Generator::join(Part& part) {
    Step step{.port = part.ports[below(static_cast<unsigned>(part.ports.size()))],
              .group = part.groups[below(static_cast<unsigned>(part.groups.size()))],
              .states = one_in(2) ? 1u << below(4) : 1 + below(all_join_states)};
    step.of = step.port;
    if (part.has_proxies && one_in(4)) {
        step.what = Do::join_for;
        step.of = part.ports[below(static_cast<unsigned>(part.ports.size()))];
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
    return step;
}

Step Generator::leave(Part& part) {
    Step step{.what = Do::leave,
              .port = part.ports[below(static_cast<unsigned>(part.ports.size()))],
              .group = part.groups[below(static_cast<unsigned>(part.groups.size()))],
              .states = 1 + below(all_join_states)};
    step.of = step.port;
    // Mostly something that is held, in part or whole.
    if (!part.held.empty() && !one_in(6)) {
        auto at = part.held.begin();
        std::advance(at, below(static_cast<unsigned>(part.held.size())));
        step.port = step.of = at->first.first;
        step.group = at->first.second;
        if (const auto some = at->second & below(all_join_states + 1); some != 0 && one_in(2))
            step.states = some;
        else if (!one_in(8))
            step.states = one_in(2) ? at->second & (~at->second + 1) : at->second;
    }
    if (part.has_proxies && one_in(3)) {
        step.what = Do::leave_for;
        step.port = part.ports[below(static_cast<unsigned>(part.ports.size()))];
    }
    const auto at = part.held.find({step.of, step.group});
    if (at != part.held.end() && (at->second &= ~step.states) == 0) part.held.erase(at);
    return step;
}

Step Generator::step(Part& part) {
    constexpr std::array<std::uint16_t, 3> traps{wire::trap::multicast_group_created, wire::trap::multicast_group_deleted,
                                                 wire::trap::all};
    const auto any_port = part.ports[below(static_cast<unsigned>(part.ports.size()))];
    const auto what = below(100);
    constexpr unsigned joins = 42, leaves = 76, reports = 88, ends = 97;
    if (what >= leaves && what < reports && part.has_reports)
        return {.what = one_in(3) ? Do::unsubscribe : Do::subscribe, .port = any_port, .of = any_port,
                .trap = traps.at(below(traps.size()))};
    if (what >= reports && what < ends && part.has_ends) {
        if (abilities_.restarts && one_in(4)) {
            part.held.clear();
            return {.what = Do::restart};
        }
        const bool is_up = one_in(2);
        if (!is_up) part.forget(any_port);
        return {.what = is_up ? Do::port_up : Do::port_down, .port = any_port, .of = any_port};
    }
    if (what >= ends) return {.what = Do::reregister, .port = any_port, .of = any_port};
    return what < joins || (what >= leaves && one_in(2)) ? join(part) : leave(part);
}

History Generator::next() {
    Part part{.ports = some_of(abilities_.ports, 1 + below(abilities_.ports), random_),
              .groups = some_of(abilities_.groups, 1 + below(one_in(3) ? abilities_.groups : 2), random_),
              .has_faults = one_in(3),
              .has_proxies = one_in(2),
              .has_reports = abilities_.hears && !one_in(3),
              .has_ends = (abilities_.ports_vanish || abilities_.restarts) && !one_in(3)};
    History history;
    const auto steps = 2 + below(std::max(1u, options_.depth - 1));
    for (unsigned i = 0; i < steps; ++i) history.steps.push_back(step(part));
    return history;
}

}  // namespace ipoib::conformance::siege

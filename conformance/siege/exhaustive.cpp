// SPDX-License-Identifier: GPL-2.0-or-later
// States, inputs and tails by number.
#include "conformance/siege/exhaustive.hpp"

#include "protocol/wire/mc_member_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ipoib::conformance::siege {
namespace {

constexpr unsigned join_states = 16, single_states = 4, ports_at_most = 2;
constexpr unsigned holding = wire::join_state::full_member | wire::join_state::send_only_full_member;

using States = std::array<unsigned, ports_at_most>;

bool is_held(const States& states) { return ((states[0] | states[1]) & holding) != 0; }
bool is_empty(const States& states) { return (states[0] | states[1]) == 0; }

/// The states of the ports in the order of their numbers.
std::vector<States> states_of(const Arena& arena) {
    std::vector<States> all;
    const unsigned of_second = arena.ports < ports_at_most ? 1 : join_states;
    for (unsigned second = 0; second < of_second; ++second)
        for (unsigned first = 0; first < join_states; ++first)
            if (const States one{first, second}; arena.has_broadcast || is_held(one) || is_empty(one))
                all.push_back(one);
    return all;
}

/// What a port asks for, or has asked for by the other.
Step step_of(const Arena& arena, bool is_leave, unsigned port, unsigned group, unsigned states) {
    const bool is_by_proxy = port != 0 && arena.by_proxy;
    const auto what = is_by_proxy ? (is_leave ? Do::leave_for : Do::join_for) : (is_leave ? Do::leave : Do::join);
    return {.what = what, .port = is_by_proxy ? 0 : port, .of = port, .group = group, .states = states};
}

Step input(const Arena& arena, unsigned number, unsigned group, bool is_single) {
    const auto port = number % arena.ports;
    const bool is_leave = number / arena.ports % 2 != 0;
    const auto states = number / arena.ports / 2;
    return step_of(arena, is_leave, port, group, is_single ? 1u << states : 1 + states);
}
unsigned single_inputs(const Arena& arena) { return arena.ports * 2 * single_states; }

}  // namespace

Arena arena_of(const Subject::Abilities& abilities) {
    return {.ports = std::clamp(abilities.ports, 1u, ports_at_most),
            .by_proxy = abilities.askers < ports_at_most,
            .has_broadcast = std::ranges::count(abilities.groups, group_number::broadcast) != 0};
}

std::uint64_t exhaustive_states(const Arena& arena) { return states_of(arena).size(); }
std::uint64_t exhaustive_inputs(const Arena& arena) noexcept {
    return std::uint64_t{arena.ports} * 2 * (join_states - 1);
}

std::uint64_t exhaustive_histories(const Arena& arena, unsigned hidden) {
    auto all = exhaustive_states(arena) * exhaustive_inputs(arena);
    for (unsigned i = 0; i < hidden; ++i) all *= single_inputs(arena);
    return all;
}

History exhaustive_history(const Arena& arena, std::uint64_t number, unsigned hidden) {
    const auto take = [&](std::uint64_t count) {
        const auto part = static_cast<unsigned>(number % count);
        number /= count;
        return part;
    };
    History history;
    const auto all = states_of(arena);
    const auto& states = all.at(take(all.size()));
    const auto group = is_held(states) || is_empty(states) ? group_number::ip : group_number::broadcast;
    const unsigned first = (states[0] & holding) != 0 ? 0 : 1;
    for (const unsigned port : {first, 1 - first})
        if (states.at(port) != 0) history.steps.push_back(step_of(arena, false, port, group, states.at(port)));
    history.steps.push_back(input(arena, take(exhaustive_inputs(arena)), group, false));
    for (unsigned i = 0; i < hidden; ++i)
        history.steps.push_back(input(arena, take(single_inputs(arena)), group, true));
    return history;
}

Exhausted exhaust(const Exhaustion& exhaustion, Subject& subject) {
    Exhausted exhausted{.sieged = {}, .arena = arena_of(subject.abilities())};
    const auto& arena = exhausted.arena;
    std::uint64_t number = 0;
    const auto all = exhaustive_histories(arena, exhaustion.hidden);
    exhausted.all = (all + exhaustion.each - 1) / exhaustion.each;
    const auto next = [&]() -> std::optional<History> {
        if (number >= all) return {};
        const auto history = exhaustive_history(arena, number, exhaustion.hidden);
        number += exhaustion.each;
        return history;
    };
    Run run{.time = exhaustion.time,
            .ends_at_first = exhaustion.ends_at_first,
            .confirms = false,
            .most_tries = exhaustion.most_tries,
            .is_stopped = exhaustion.is_stopped};
    if (exhaustion.progress)
        run.progress = [&](std::uint64_t, std::size_t) { exhaustion.progress(std::min(number, all), all); };
    exhausted.sieged = lay_siege(run, subject, next);
    return exhausted;
}

std::string text(const Exhausted& exhausted) {
    const auto& [sieged, arena, all] = exhausted;
    auto words = text(sieged);
    words += fmt::format("{} of {} histories: {} states of {}, and {} joins and leaves in each\n", sieged.histories,
                         all, exhaustive_states(arena),
                         arena.ports == 1 ? "one port"
                         : arena.by_proxy ? "two ports, of which the first asks for the other, too"
                                          : "two ports",
                         exhaustive_inputs(arena));
    if (!arena.has_broadcast)
        words += "Without those in which nobody holds the group: broadcast groups, which can be so, are spared here\n";
    return words;
}

}  // namespace ipoib::conformance::siege

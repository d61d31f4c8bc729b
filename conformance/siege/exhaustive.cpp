// SPDX-License-Identifier: GPL-2.0-or-later
// States, inputs and tails by number.
#include "conformance/siege/exhaustive.hpp"

#include "protocol/wire/mc_member_record.hpp"

#include <algorithm>
#include <optional>

namespace ipoib::conformance::siege {
namespace {

constexpr unsigned join_states = 16, single_inputs = 16;
/// Of the ground: a group of the configuration, and one that begins with a member.
constexpr unsigned administrative_group = 0, other_group = 2;
constexpr unsigned holding = wire::join_state::full_member | wire::join_state::send_only_full_member;

Step input(unsigned number, unsigned group) {
    const unsigned port = number % 2;
    return {.what = number / 2 % 2 == 0 ? Do::join : Do::leave,
            .port = port,
            .of = port,
            .group = group,
            .states = 1 + number / 4};
}
/// With one join state.
Step single_input(unsigned number, unsigned group) {
    auto step = input(number % 4, group);
    step.states = 1u << number / 4;
    return step;
}

}  // namespace

std::uint64_t exhaustive_histories(unsigned hidden) noexcept {
    std::uint64_t all = std::uint64_t{exhaustive_states} * exhaustive_inputs;
    for (unsigned i = 0; i < hidden; ++i) all *= single_inputs;
    return all;
}

History exhaustive_history(std::uint64_t number, unsigned hidden) {
    const auto take = [&](unsigned count) {
        const auto part = static_cast<unsigned>(number % count);
        number /= count;
        return part;
    };
    History history;
    const unsigned states[2] = {take(join_states), take(join_states)};
    const bool is_held = ((states[0] | states[1]) & holding) != 0;
    const auto group = is_held || (states[0] | states[1]) == 0 ? other_group : administrative_group;
    const unsigned first = (states[0] & holding) != 0 ? 0 : 1;
    for (const unsigned port : {first, 1 - first})
        if (states[port] != 0)
            history.steps.push_back(
                {.what = Do::join, .port = port, .of = port, .group = group, .states = states[port]});
    history.steps.push_back(input(take(exhaustive_inputs), group));
    for (unsigned i = 0; i < hidden; ++i) history.steps.push_back(single_input(take(single_inputs), group));
    return history;
}

Sieged exhaust(const Exhaustion& exhaustion, Subject& subject) {
    std::uint64_t number = 0;
    const auto all = exhaustive_histories(exhaustion.hidden);
    const auto next = [&]() -> std::optional<History> {
        if (number >= all) return {};
        const auto history = exhaustive_history(number, exhaustion.hidden);
        number += exhaustion.each;
        return history;
    };
    Run run{.ends_at_first = exhaustion.ends_at_first, .confirms = false, .is_stopped = exhaustion.is_stopped};
    if (exhaustion.progress)
        run.progress = [&](std::uint64_t, std::size_t) { exhaustion.progress(std::min(number, all), all); };
    return lay_siege(run, subject, next);
}

}  // namespace ipoib::conformance::siege

// SPDX-License-Identifier: GPL-2.0-or-later
// The loop over schedules, and shrinking.
#include "conformance/explore/explore.hpp"

#include "conformance/shrink/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace std::chrono_literals;

namespace {

/// Of schedules, to make one smaller.
constexpr std::size_t most_tries = 300;
/// Of the usual patience, for tries in real time: what is still broken then is looked at once more in the end.
constexpr double patience_of_a_try = 0.35;

std::optional<Violation> violation_of(const Outcome& outcome, const std::string& key) {
    const auto found = std::ranges::find_if(outcome.violations, [&](const Violation& one) { return one.key() == key; });
    return found == outcome.violations.end() ? std::nullopt : std::optional{*found};
}

/// With the pauses between the steps as short as the violation lets them be.
Schedule shortened(Schedule schedule, const std::function<bool(const Schedule&)>& holds) {
    constexpr std::array<fabric::Duration, 5> pauses{0ns, 1ms, 50ms, 500ms, 2s};
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const auto before = i == 0 ? fabric::Duration{} : schedule.steps[i - 1].at;
        const auto pause = schedule.steps[i].at - before;
        for (const auto shorter : pauses) {
            if (shorter >= pause) break;
            auto tried = schedule;
            for (auto k = i; k < tried.steps.size(); ++k) tried.steps[k].at -= pause - shorter;
            if (!holds(tried)) continue;
            schedule = std::move(tried);
            break;
        }
    }
    return schedule;
}

/// Each step is left out once, the last one first; the pauses stay. A try takes as long as the DUT needs.
Schedule without_needless_steps(Schedule schedule, const std::string& key, const Playing& playing, std::size_t& tries) {
    auto hasty = playing;
    hasty.patience = patience_of_a_try;
    for (auto i = schedule.steps.size(); i-- > 0 && !fabric::Loop::stop_requested();) {
        auto tried = schedule;
        tried.steps.erase(tried.steps.begin() + static_cast<std::ptrdiff_t>(i));
        ++tries;
        if (violation_of(play(tried, hasty), key)) schedule = std::move(tried);
    }
    return schedule;
}

std::vector<Found> shrunk_one_by_one(const Schedule& schedule, const std::vector<Violation>& violations,
                                     const Playing& playing) {
    std::vector<Found> all;
    for (const auto& one : violations) all.push_back(shrunk(schedule, one, playing));
    return all;
}

std::vector<Found> as_they_are(const Schedule& schedule, const std::vector<Violation>& violations) {
    std::vector<Found> all;
    for (const auto& one : violations)
        all.push_back({.violation = one, .schedule = schedule, .times = 1, .steps = schedule.steps.size()});
    return all;
}

std::vector<Found> found_by(const Schedule& schedule, const std::vector<Violation>& violations, const Run& run,
                            const Playing& playing) {
    if (violations.empty() || !run.shrinks) return as_they_are(schedule, violations);
    return run.remote ? shrunk_together(schedule, violations, playing)
                      : shrunk_one_by_one(schedule, violations, playing);
}

}  // namespace

std::vector<Found> shrunk_together(const Schedule& schedule, const std::vector<Violation>& violations,
                                   const Playing& playing) {
    std::vector<Found> all;
    std::size_t tries = 0;
    const auto small = without_needless_steps(schedule, violations.front().key(), playing, tries);
    const auto last = play(small, playing);
    for (const auto& one : violations) {
        const auto still = violation_of(last, one.key());
        all.push_back({.violation = still ? *still : one,
                       .schedule = still ? small : schedule,
                       .times = 1,
                       .steps = schedule.steps.size(),
                       .tries = tries});
    }
    return all;
}

Found shrunk(const Schedule& schedule, const Violation& violation, const Playing& playing) {
    const auto key = violation.key();
    auto latest = violation;
    std::size_t tries = 0;
    const std::function<bool(const Schedule&)> holds = [&](const Schedule& tried) {
        if (fabric::Loop::stop_requested()) return false;
        ++tries;
        const auto found = violation_of(play(tried, playing), key);
        if (found) latest = *found;
        return found.has_value();
    };
    const auto with = [&](shrink::Items items) {
        auto some = schedule;
        some.steps.clear();
        for (const auto item : items) some.steps.push_back(schedule.steps[item]);
        return some;
    };
    const auto fewest = shrink::fewest(
        schedule.steps.size(), [&](shrink::Items items) { return holds(with(items)); }, most_tries);
    auto small = fewest.holds ? with(fewest.items) : schedule;
    if (fewest.holds) small = shortened(std::move(small), holds);
    if (const auto last = violation_of(play(small, playing), key)) latest = *last;
    return {.violation = latest,
            .schedule = std::move(small),
            .number = 0,
            .times = 1,
            .steps = schedule.steps.size(),
            .tries = tries};
}

Explored explore(const Run& run) {
    Walk walk{run.walk};
    Explored explored;
    const Playing playing{.mutant = run.mutant, .remote = run.remote};
    const auto begin = std::chrono::steady_clock::now();
    const auto is_over_by_stop = [&] { return run.is_stopped && (explored.is_interrupted = run.is_stopped()); };
    const auto is_over = [&] {
        if (is_over_by_stop()) return true;
        if (run.schedules && explored.schedules >= *run.schedules) return true;
        if (run.time && std::chrono::steady_clock::now() - begin >= *run.time) return true;
        return run.ends_at_first && !explored.found.empty();
    };
    while (!is_over()) {
        const auto schedule = walk.next();
        const auto outcome = play(schedule, playing);
        if (is_over_by_stop()) break;
        ++explored.schedules;
        walk.learn(schedule, outcome.transitions);
        explored.digest = explored.digest * 0x100000001b3u ^ outcome.digest;
        explored.most_open = std::max(explored.most_open, outcome.most_open);
        explored.most_in_a_second = std::max(explored.most_in_a_second, outcome.most_in_a_second);
        std::vector<std::string> counted;
        std::vector<Violation> fresh;
        for (const auto& violation : outcome.violations) {
            if (run.is_known && run.is_known(violation)) {
                ++explored.known;
                continue;
            }
            const auto key = violation.key();
            if (std::ranges::find(counted, key) != counted.end()) continue;
            counted.push_back(key);
            const auto known =
                std::ranges::find_if(explored.found, [&](const Found& one) { return one.violation.key() == key; });
            if (known != explored.found.end()) {
                ++known->times;
                continue;
            }
            fresh.push_back(violation);
        }
        for (auto& found : found_by(schedule, fresh, run, playing)) {
            found.number = explored.schedules;
            explored.found.push_back(std::move(found));
        }
        if (run.progress) run.progress(explored.schedules, walk.transitions(), explored.found.size());
    }
    explored.transitions = walk.transitions();
    explored.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return explored;
}

std::string text(const Schedule& schedule, const std::vector<Violation>& violations) {
    std::string all;
    for (const auto& step : schedule.steps) all += "    " + words(step) + '\n';
    all += "    the storm ends\n";
    for (const auto& one : violations)
        all += fmt::format("  {} {}{}{}: {}\n", name(one.weight), one.invariant, one.requirement ? " " : "",
                           one.requirement ? one.requirement->id : "", one.what);
    return all;
}

std::string text(const Explored& explored) {
    std::string all;
    for (const auto& one : explored.found)
        all += fmt::format("schedule {}, of {} steps {}; in {} of all:\n{}", one.number, one.steps,
                           one.schedule.steps.size(), one.times, text(one.schedule, {one.violation}));
    const auto rate = static_cast<double>(explored.schedules) / std::max(explored.seconds, 0.001);
    constexpr double slow = 10;
    all += fmt::format("{} schedules in {:.1f} s, {:.0f} a {}; {} transitions seen, {} invariants broken\n",
                       explored.schedules, explored.seconds, rate < slow ? rate * 60 : rate,
                       rate < slow ? "minute" : "second", explored.transitions, explored.found.size());
    if (explored.known > 0) all += fmt::format("{} times what is known was broken\n", explored.known);
    return all;
}

}  // namespace ipoib::conformance::explore

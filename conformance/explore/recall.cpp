// SPDX-License-Identifier: GPL-2.0-or-later
// The explorer against the mutants.
#include "conformance/explore/recall.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::explore {
namespace {

constexpr std::size_t schedules_at_rest = 12;

std::string found_by(const Found& found) {
    const auto& violation = found.violation;
    return fmt::format("{} {}{}{}", name(violation.weight), violation.invariant, violation.requirement ? " " : "",
                       violation.requirement ? violation.requirement->id : "");
}

/// Whether it shows while nothing changes: in the short life, and in lives that chance makes of operations alone.
std::optional<Found> found_at_rest(const Mutant& mutant, const std::string& scenario, std::uint64_t seed) {
    Walk walk{{.scenario = scenario, .seed = seed, .depth = 1, .kinds = {"none"}, .is_systematic = false}};
    for (std::size_t i = 0; i < schedules_at_rest; ++i) {
        const auto schedule =
            i == 0 ? Schedule{.scenario = scenario, .seed = seed, .steps = short_life()} : walk.next();
        const Playing playing{.mutant = &mutant};
        const auto outcome = play(schedule, playing);
        if (outcome.violations.empty()) continue;
        auto found = shrunk(schedule, outcome.violations.front(), playing);
        found.number = i + 1;
        return found;
    }
    return {};
}

struct Tally {
    std::size_t at_rest = 0, after = 0, never = 0, permitted = 0, wrongly = 0;
};

Tally tally_of(const std::vector<Recalled>& all) {
    Tally tally;
    for (const auto& one : all) {
        if (one.mutant->breaks.empty()) {
            ++tally.permitted;
            tally.wrongly += one.shows != Shows::never;
            continue;
        }
        ++(one.shows == Shows::at_rest ? tally.at_rest : one.shows == Shows::after ? tally.after : tally.never);
    }
    return tally;
}

std::string summary(const std::vector<Recalled>& all) {
    const auto tally = tally_of(all);
    return fmt::format(
        "{} wrong stacks: {} are found while nothing changes, {} only when something does, {} are not found. {} that "
        "do "
        "what is permitted: {} are found fault with.",
        tally.at_rest + tally.after + tally.never, tally.at_rest, tally.after, tally.never, tally.permitted,
        tally.wrongly);
}

}  // namespace

std::vector<Recalled> recall(const Recall& options) {
    std::vector<const Mutant*> some;
    for (const auto* mutant : all_mutants())
        if (!mutant->sa) some.push_back(mutant);
    std::vector<Recalled> all;
    for (const auto* mutant : some) {
        if (options.is_stopped && options.is_stopped()) break;
        if (options.progress) options.progress(mutant->name, all.size() + 1, some.size());
        auto& one = all.emplace_back(Recalled{.mutant = mutant});
        const std::string scenario{mutant->scenario.empty() ? "default" : mutant->scenario};
        one.found = found_at_rest(*mutant, scenario, options.seed);
        if (one.found) {
            one.shows = Shows::at_rest;
            continue;
        }
        const Run run{.walk = {.scenario = scenario, .seed = options.seed},
                      .mutant = mutant,
                      .schedules = options.schedules,
                      .ends_at_first = true,
                      .is_stopped = options.is_stopped};
        auto explored = explore(run);
        one.schedules = explored.schedules;
        if (explored.found.empty()) continue;
        one.shows = Shows::after;
        one.found = std::move(explored.found.front());
    }
    return all;
}

std::string text(const std::vector<Recalled>& all) {
    std::string lines;
    for (const auto& one : all) {
        const bool is_permitted = one.mutant->breaks.empty();
        const auto* fate = one.shows == Shows::never     ? (is_permitted ? "permitted" : "missed")
                           : one.shows == Shows::at_rest ? "at rest"
                                                         : "found";
        lines += fmt::format("{:<9}  {}{}\n", fate, one.mutant->name, one.found ? "  " + found_by(*one.found) : "");
    }
    return lines + summary(all) + '\n';
}

std::string recall_page(const std::vector<Recalled>& all, const Recall& options) {
    std::string page = fmt::format(
        "# What explore finds\n\nMade by `ipoib-conform explore --mutants --seeds {} --markdown FILE`. Each wrong "
        "stack "
        "of the [kill matrix](kill-matrix.md) is explored without a word of what is wrong with it, by {} schedules of "
        "operations alone and then by at most {} with events. {}\n",
        options.schedules, schedules_at_rest, options.schedules, summary(all));
    const auto table = [&](std::string_view title, Shows shows, bool is_permitted) {
        std::string rows;
        for (const auto& one : all) {
            if (one.shows != shows || one.mutant->breaks.empty() != is_permitted) continue;
            rows += one.found ? fmt::format("| `{}` | {} | {} | {} | {} |\n", one.mutant->name, one.mutant->what,
                                            found_by(*one.found), one.found->number, one.found->schedule.steps.size())
                              : fmt::format("| `{}` | {} | | | |\n", one.mutant->name, one.mutant->what);
        }
        if (rows.empty()) return;
        page += fmt::format("\n## {}\n\n| mutant | the change | found by | schedule | steps |\n|---|---|---|---|---|\n",
                            title) +
                rows;
    };
    table("Found only when something changes", Shows::after, false);
    table("Not found", Shows::never, false);
    table("Found while nothing changes", Shows::at_rest, false);
    table("Permitted, and found fault with", Shows::after, true);
    table("Permitted, and found fault with while nothing changes", Shows::at_rest, true);
    return page;
}

}  // namespace ipoib::conformance::explore

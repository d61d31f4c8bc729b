// SPDX-License-Identifier: GPL-2.0-or-later
// Playing, shrinking, confirming.
#include "conformance/siege/siege.hpp"

#include "conformance/shrink/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ipoib::conformance::siege {
namespace {

std::optional<Violation> violation_of(const Outcome& outcome, const std::string& key) {
    const auto at = std::ranges::find_if(outcome.violations, [&](const Violation& one) { return one.key() == key; });
    if (at == outcome.violations.end()) return {};
    return *at;
}

/// The step with one thing about it plainer; nothing is plainer than what comes last.
std::vector<Step> plainer(const Step& step) {
    std::vector<Step> all;
    const auto with = [&](auto change) {
        auto other = step;
        change(other);
        if (other != step) all.push_back(other);
    };
    with([](Step& one) { one.fault = Fault::none; });
    with([](Step& one) { one.components = 0; });
    for (auto bit = all_join_components + 1; bit != 0; bit /= 2)
        with([&](Step& one) {
            if ((one.components & ~bit) != 0) one.components &= ~bit;
        });
    with([](Step& one) { one.is_twice = false; });
    with([](Step& one) {
        one.what = one.what == Do::join_for ? Do::join : one.what == Do::leave_for ? Do::leave : one.what;
        if (!is_for_another(one.what)) one.of = one.port;
    });
    for (unsigned bit = 8; bit != 0; bit /= 2)
        with([&](Step& one) {
            if ((one.states & ~bit) != 0) one.states &= ~bit;
        });
    with([](Step& one) { one.port = 0; });
    with([](Step& one) {
        if (is_for_another(one.what)) one.of = 0;
    });
    return all;
}

History without(const History& history, std::size_t first, std::size_t second) {
    History other;
    for (std::size_t i = 0; i < history.steps.size(); ++i)
        if (i != first && i != second) other.steps.push_back(history.steps[i]);
    return other;
}

/// Two joins of a port as one.
void add_merged(const History& history, std::vector<History>& all) {
    const auto& steps = history.steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
        for (std::size_t k = i + 1; k < steps.size(); ++k) {
            auto joined = steps[k];
            joined.states = steps[i].states;
            if (steps[i].what != Do::join || joined != steps[i]) continue;
            auto& merged = all.emplace_back(history).steps;
            merged[i].states |= steps[k].states;
            merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(k));
        }
}

/// Without a join state in all that is asked about a group.
void add_without_state(const History& history, std::vector<History>& all) {
    for (unsigned group = 0; group < group_names.size(); ++group)
        for (unsigned bit = 8; bit != 0; bit /= 2) {
            auto other = history;
            bool has_others = true;
            for (auto& step : other.steps) {
                if (!is_of_group(step.what) || step.group != group) continue;
                if (step.states == bit) has_others = false;
                step.states &= ~bit;
            }
            if (has_others && other != history) all.push_back(std::move(other));
        }
}

/// A port or a group by a lower number, wherever it is named.
void add_renamed(const History& history, std::vector<History>& all) {
    const auto rename = [&](unsigned Step::*member, unsigned Step::*other) {
        for (const auto& step : history.steps)
            for (unsigned lower = 0; lower < step.*member; ++lower) {
                auto& renamed = all.emplace_back(history).steps;
                for (auto& one : renamed)
                    for (const auto field : {member, other})
                        if (one.*field == step.*member) one.*field = lower;
            }
    };
    rename(&Step::port, &Step::of);
    rename(&Step::of, &Step::port);
    rename(&Step::group, &Step::group);
}

void print_found(std::string& all, const Found& one) {
    if (one.number == 0)
        all += "before any history:\n" + text(one.history, {one.violation});
    else
        all +=
            fmt::format("history {}, of {} steps {}{}; in {} of all, first after {:.1f} s:\n{}", one.number, one.steps,
                        one.history.steps.size(), one.is_plainest ? "" : " (there may be fewer or plainer ones)",
                        one.times, one.after, text(one.history, {one.violation}));
    if (one.repeats != 0)
        all += fmt::format(
            "  CONFIRMED after {} repeats, {:.1f} s: no group can be created any more, and nobody here holds one\n",
            one.repeats, one.confirmed_after);
}

}  // namespace

std::vector<History> plainer(const History& history) {
    std::vector<History> all;
    const auto& steps = history.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) all.push_back(without(history, i, i));
    for (std::size_t i = 0; i < steps.size(); ++i)
        for (const auto& step : plainer(steps[i])) all.emplace_back(history).steps[i] = step;
    add_merged(history, all);
    add_without_state(history, all);
    add_renamed(history, all);
    for (std::size_t i = 0; i < steps.size(); ++i)
        for (std::size_t k = i + 1; k < steps.size(); ++k) all.push_back(without(history, i, k));
    return all;
}

Found shrunk(const History& history, const Violation& violation, Subject& subject, const Playing& playing,
             std::size_t most_tries) {
    const auto key = violation.key();
    Found found{.violation = violation, .history = history, .times = 1, .steps = history.steps.size()};
    const auto holds = [&](const History& tried) {
        if (found.tries >= most_tries) return false;
        ++found.tries;
        return violation_of(play(tried, subject, playing), key).has_value();
    };
    const auto fewest = shrink::fewest(
        history.steps.size(),
        [&](shrink::Items items) {
            History some;
            for (const auto item : items) some.steps.push_back(history.steps[item]);
            return holds(some);
        },
        most_tries);
    if (!fewest.holds) {
        found.violation.shows_again = false;
        return found;
    }
    found.history.steps.clear();
    for (const auto item : fewest.items) found.history.steps.push_back(history.steps[item]);
    for (bool is_plainer = true; is_plainer;) {
        is_plainer = false;
        for (auto& tried : plainer(found.history)) {
            if (!holds(tried)) continue;
            found.history = std::move(tried);
            is_plainer = true;
            break;
        }
    }
    found.is_plainest = found.tries < most_tries;
    // What is told is of the history that is told.
    if (const auto last = violation_of(play(found.history, subject, playing), key)) found.violation = *last;
    return found;
}

std::uint64_t repeats_until_full(const History& history, Subject& subject, std::uint64_t most,
                                 const std::function<bool()>& is_stopped,
                                 const std::function<void(std::uint64_t)>& repeated) {
    for (std::uint64_t i = 1; i <= most; ++i) {
        if ((is_stopped && is_stopped()) || !subject.problem().empty()) return 0;
        if (play(history, subject, {.is_anew = i == 1}).is_exhausted) return i;
        if (repeated) repeated(i);
    }
    return 0;
}

namespace {

/// What becomes of an SA that gives each group another MLID.
struct Turn {
    std::uint64_t again = 0;  ///< after so many groups one had an MLID of before
    std::uint64_t full = 0;   ///< after so many histories there was no room for a group
};
Turn turn_of_mlids(Subject& subject, const Run& run) {
    std::set<std::uint16_t> seen;
    for (std::uint64_t i = 1; i <= run.most_repeats; ++i) {
        if ((run.is_stopped && run.is_stopped()) || !subject.problem().empty()) return {};
        const auto outcome = play({}, subject, {.is_anew = i == 1, .tells_leaks = false});
        for (const auto mlid : outcome.mlids)
            if (!seen.insert(mlid).second) return {.again = seen.size()};
        if (outcome.is_exhausted) return {.full = i};
        if (run.repeated) run.repeated(i);
    }
    return {};
}

/// That MLIDs are not given again at once is a suspicion, too: of the history in which nothing is asked for.
void suspect_all(Subject& subject, Sieged& sieged) {
    auto outcome = play({}, subject, {.tells_leaks = true});
    for (auto& one : outcome.violations)
        if (one.weight() == Weight::suspicion)
            sieged.found.push_back({.violation = std::move(one), .history = {}, .times = 1});
}

/// Last, since afterwards nothing can be asked of it any more.
void confirm(const Run& run, Subject& subject, Sieged& sieged, const std::function<double()>& passed) {
    if (!sieged.tells_leaks) {
        const auto turn = turn_of_mlids(subject, run);
        sieged.mlids_come_again_after = turn.again;
        if (turn.again != 0)
            std::erase_if(sieged.found, [](const Found& one) { return one.violation.weight() == Weight::suspicion; });
        for (auto& one : sieged.found) {
            if (one.violation.weight() != Weight::suspicion) continue;
            one.repeats = turn.full;
            one.confirmed_after = passed();
        }
        return;
    }
    for (auto& one : sieged.found) {
        if (one.violation.weight() != Weight::suspicion) continue;
        one.repeats = repeats_until_full(one.history, subject, run.most_repeats, run.is_stopped, run.repeated);
        one.confirmed_after = passed();
    }
}

}  // namespace

Sieged lay_siege(const Run& run, Subject& subject) {
    Generator generator{run.generator, subject.abilities()};
    return lay_siege(run, subject, [&] { return std::optional{generator.next()}; });
}

Sieged lay_siege(const Run& run, Subject& subject, const Histories& next) {
    Sieged sieged;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    const auto is_stopped = [&] { return run.is_stopped && run.is_stopped(); };
    sieged.tells_leaks = gives_same_mlid(subject);
    if (!sieged.tells_leaks && run.confirms) suspect_all(subject, sieged);
    const bool lasts = subject.abilities().lasts;
    const Playing playing{.tells_leaks = sieged.tells_leaks};
    const auto is_over = [&] {
        if (is_stopped()) return sieged.is_interrupted = true;
        if (sieged.problem = subject.problem(); !sieged.problem.empty()) return true;
        if (run.histories && sieged.histories >= *run.histories) return true;
        if (run.time && passed() >= std::chrono::duration<double>(*run.time).count()) return true;
        return run.ends_at_first && std::ranges::any_of(sieged.found, [](const Found& one) { return one.number != 0; });
    };
    while (!is_over()) {
        const auto upcoming = next();
        if (!upcoming) break;
        const auto& history = *upcoming;
        const auto outcome = play(history, subject, playing);
        if (is_stopped() || !subject.problem().empty()) continue;
        ++sieged.histories;
        sieged.requests += outcome.requests;
        sieged.unplayable += outcome.skipped.empty() ? 0 : 1;
        sieged.disturbed += outcome.is_disturbed ? 1 : 0;
        const auto after = passed();
        std::vector<std::string> counted;
        for (const auto& violation : outcome.violations) {
            const auto key = violation.key();
            if (std::ranges::find(counted, key) != counted.end()) continue;
            counted.push_back(key);
            const auto known =
                std::ranges::find_if(sieged.found, [&](const Found& one) { return one.violation.key() == key; });
            const bool is_known = known != sieged.found.end();
            if (is_known) ++known->times;
            if (is_known && known->violation.shows_again) continue;
            auto found = shrunk(history, violation, subject, playing, run.most_tries);
            found.number = sieged.histories;
            found.after = after;
            if (!is_known) {
                sieged.found.push_back(std::move(found));
            } else if (found.violation.shows_again) {
                found.times = known->times;
                *known = std::move(found);
            }
        }
        if (run.progress) run.progress(sieged.histories, sieged.found.size());
        if (outcome.is_exhausted && lasts) {
            sieged.is_exhausted = true;
            break;
        }
    }
    // An SA that its histories have filled cannot be asked any more.
    if (run.confirms && !sieged.is_exhausted) confirm(run, subject, sieged, passed);
    sieged.left_out = subject.left_out();
    sieged.seconds = passed();
    return sieged;
}

std::string text(const History& history, const std::vector<Violation>& violations) {
    std::string all;
    for (const auto& step : history.steps) all += "    " + words(step) + '\n';
    all += "    in the end all leave what they have\n";
    for (const auto& one : violations)
        all += fmt::format(
            "  {} {}{}{}: {}; {}\n", name(one.weight()), one.deviation.kind, one.deviation.requirement ? " " : "",
            one.deviation.requirement ? one.deviation.requirement->id : "", one.deviation.rule, one.deviation.what);
    return all;
}

std::string text(const Sieged& sieged) {
    std::string all;
    for (const auto& one : sieged.found) print_found(all, one);
    if (!sieged.tells_leaks)
        all += "MLIDs tell little here: two groups, one after the other, do not get the same" +
               (sieged.mlids_come_again_after == 0
                    ? std::string("\n")
                    : fmt::format(", and of {} each had another\n", sieged.mlids_come_again_after));
    if (sieged.is_exhausted)
        all += "ended before its time: no group can be created any more, and nobody here holds one\n";
    if (sieged.unplayable != 0)
        all += fmt::format("of {} histories some steps could not be done here\n", sieged.unplayable);
    if (sieged.disturbed != 0)
        all += fmt::format(
            "of {} histories not all was judged: an answer came only when its request had been repeated, or not at "
            "all, or a change of the fabric failed\n",
            sieged.disturbed);
    if (!sieged.left_out.empty()) all += fmt::format("left out here: {}\n", fmt::join(sieged.left_out, "; "));
    all += fmt::format("{} histories, {} requests in {:.1f} s, {:.0f} histories a second; {} found\n", sieged.histories,
                       sieged.requests, sieged.seconds,
                       static_cast<double>(sieged.histories) / std::max(sieged.seconds, 0.001), sieged.found.size());
    return all;
}

}  // namespace ipoib::conformance::siege

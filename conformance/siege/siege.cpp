// SPDX-License-Identifier: GPL-2.0-or-later
// Playing, shrinking, confirming.
#include "conformance/siege/siege.hpp"

#include "conformance/shrink/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

constexpr std::size_t most_tries = 400;

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
    with([](Step& one) {
        one.what = one.what == Do::join_for ? Do::join : one.what == Do::leave_for ? Do::leave : one.what;
    });
    for (unsigned bit = 8; bit != 0; bit /= 2)
        with([&](Step& one) {
            if ((one.states & ~bit) != 0) one.states &= ~bit;
        });
    with([](Step& one) { one.port = 0; });
    with([](Step& one) { one.of = 0; });
    return all;
}

/// The history with one thing about all of it plainer: two joins of a port as one, a port or a group by a lower number.
std::vector<History> plainer(const History& history) {
    std::vector<History> all;
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
    const auto rename = [&](unsigned Step::*member, unsigned Step::*other) {
        for (const auto& step : steps)
            for (unsigned lower = 0; lower < step.*member; ++lower) {
                auto& renamed = all.emplace_back(history).steps;
                for (auto& one : renamed)
                    for (const auto field : {member, other})
                        if (one.*field == step.*member) one.*field = lower;
            }
    };
    rename(&Step::port, &Step::of);
    rename(&Step::group, &Step::group);
    return all;
}

void print_found(std::string& all, const Found& one) {
    all += fmt::format("history {}, of {} steps {}; in {} of all, first after {:.1f} s:\n{}", one.number, one.steps,
                       one.history.steps.size(), one.times, one.after, text(one.history, {one.violation}));
    if (one.repeats != 0)
        all += fmt::format(
            "  CONFIRMED after {} repeats, {:.1f} s: no group can be created any more, and nobody here holds one\n",
            one.repeats, one.confirmed_after);
}

}  // namespace

Found shrunk(const History& history, const Violation& violation, Subject& subject, const Playing& playing) {
    const auto key = violation.key();
    Found found{.violation = violation, .history = history, .times = 1, .steps = history.steps.size()};
    const auto holds = [&](const History& tried) {
        if (++found.tries > most_tries) return false;
        const auto seen = violation_of(play(tried, subject, playing), key);
        if (seen) found.violation = *seen;
        return seen.has_value();
    };
    const auto fewest = shrink::fewest(
        history.steps.size(),
        [&](shrink::Items items) {
            History some;
            for (const auto item : items) some.steps.push_back(history.steps[item]);
            return holds(some);
        },
        most_tries);
    if (!fewest.holds) return found;
    found.history.steps.clear();
    for (const auto item : fewest.items) found.history.steps.push_back(history.steps[item]);
    for (std::size_t i = 0; i < found.history.steps.size(); ++i)
        for (bool is_plainer = true; is_plainer;) {
            is_plainer = false;
            for (const auto& step : plainer(found.history.steps[i])) {
                auto tried = found.history;
                tried.steps[i] = step;
                if (!holds(tried)) continue;
                found.history = std::move(tried);
                is_plainer = true;
                break;
            }
        }
    for (bool is_plainer = true; is_plainer;) {
        is_plainer = false;
        for (auto& tried : plainer(found.history)) {
            if (!holds(tried)) continue;
            found.history = std::move(tried);
            is_plainer = true;
            break;
        }
    }
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
    const Playing playing{.tells_leaks = sieged.tells_leaks};
    const auto is_over = [&] {
        if (is_stopped()) return sieged.is_interrupted = true;
        if (sieged.problem = subject.problem(); !sieged.problem.empty()) return true;
        if (run.histories && sieged.histories >= *run.histories) return true;
        if (run.time && passed() >= std::chrono::duration<double>(*run.time).count()) return true;
        return run.ends_at_first && !sieged.found.empty();
    };
    while (!is_over()) {
        const auto upcoming = next();
        if (!upcoming) break;
        const auto& history = *upcoming;
        const auto outcome = play(history, subject, playing);
        if (is_stopped() || !subject.problem().empty()) continue;
        ++sieged.histories;
        sieged.requests += outcome.requests;
        const auto after = passed();
        std::vector<std::string> counted;
        for (const auto& violation : outcome.violations) {
            const auto key = violation.key();
            if (std::ranges::find(counted, key) != counted.end()) continue;
            counted.push_back(key);
            const auto known =
                std::ranges::find_if(sieged.found, [&](const Found& one) { return one.violation.key() == key; });
            if (known != sieged.found.end()) {
                ++known->times;
                continue;
            }
            auto found = shrunk(history, violation, subject, playing);
            found.number = sieged.histories;
            found.after = after;
            sieged.found.push_back(std::move(found));
        }
        if (run.progress) run.progress(sieged.histories, sieged.found.size());
        if (outcome.is_exhausted && !sieged.tells_leaks) break;
    }
    // Last, since afterwards nothing can be asked of it any more.
    if (run.confirms)
        for (auto& one : sieged.found) {
            if (one.violation.weight() != Weight::suspicion) continue;
            one.repeats = repeats_until_full(one.history, subject, run.most_repeats, run.is_stopped, run.repeated);
            one.confirmed_after = passed();
        }
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
    if (!sieged.tells_leaks) all += "MLIDs tell nothing here: two groups, one after the other, do not get the same\n";
    all += fmt::format("{} histories, {} requests in {:.1f} s, {:.0f} histories a second; {} found\n", sieged.histories,
                       sieged.requests, sieged.seconds,
                       static_cast<double>(sieged.histories) / std::max(sieged.seconds, 0.001), sieged.found.size());
    return all;
}

}  // namespace ipoib::conformance::siege

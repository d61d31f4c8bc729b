// SPDX-License-Identifier: GPL-2.0-or-later
// Which administrator is asked, and what is told of it.
#include "conformance/command/explore_sa.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/lapses.hpp"
#include "conformance/siege/on_fabric.hpp"
#include "conformance/siege/paper.hpp"
#include "conformance/siege/roles.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ipoib::conformance {
namespace {

constexpr std::uint64_t usual_histories = 20'000, usual_histories_in_real_time = 500;
/// Histories that shrinking one may cost.
constexpr std::size_t most_tries = 5000, most_tries_in_real_time = 400;

/// The administrator, and the fabric that it is of.
struct Besieged {
    std::unique_ptr<fabric::Fabric> fabric{};
    std::unique_ptr<siege::Subject> subject{};
    bool is_ours = true;
};

/// Refuses what may not be, before anything is opened.
const FabricKind& kind_of(const SaExploreOptions& options) {
    const auto* kind = fabric_kinds().find(options.fabric, FabricUse::run);
    if (!kind)
        throw UsageError("--fabric is " + fabric_kinds().forms(FabricUse::run) + ", not '" + options.fabric + "'");
    if (kind->is_ours() && !options.control.empty())
        throw UsageError("--fabric-control is for a fabric of another process");
    if (kind->is_somebodys() && options.allow.empty())
        throw UsageError(
            "others on the fabric may notice what histories do, and a leak may leave them without groups: "
            "--allow fabric");
    return *kind;
}

Besieged besieged(const SaExploreOptions& options) {
    const auto& kind = kind_of(options);
    Besieged all{.is_ours = kind.is_ours()};
    return told_apart([&] {
        if (all.is_ours) {
            all.subject = std::make_unique<siege::PaperSubject>(sa_behaviour(options.fabric));
            return std::move(all);
        }
        auto opened = kind.open({.fabric = options.fabric,
                                 .control = options.control,
                                 .seed = options.seed,
                                 .timeout_scale = options.timeout_scale});
        const auto patience =
            std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(2 * options.timeout_scale));
        // MGIDs that no other run of this program has had.
        const auto number = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
        all.subject = std::make_unique<siege::FabricSubject>(
            *opened.fabric,
            siege::FabricSubject::Options{.seed = options.seed ^ number, .p_key = opened.p_key, .patience = patience});
        all.fabric = std::move(opened.fabric);
        return std::move(all);
    });
}

int exit_code_of(const std::vector<siege::Violation>& violations, bool is_strict) {
    const bool is_wrong = std::ranges::any_of(
        violations, [&](const siege::Violation& one) { return is_strict || one.weight() == siege::Weight::fail; });
    return is_wrong ? exit_worse : exit_ok;
}

void keep(const std::string& folder, std::size_t number, const siege::Found& found, const sa_model::Facts& facts) {
    const auto path =
        std::filesystem::path(folder) / fmt::format("{:03}-{}.json", number, found.violation.deviation.kind);
    const std::vector<std::string> remarks{fmt::format("{}: {}; {}", siege::name(found.violation.weight()),
                                                       found.violation.deviation.rule, found.violation.deviation.what)};
    if (const auto error =
            write_atomically(path.string(), siege::text(siege::with_roles(found.history, facts), remarks));
        !error.empty())
        throw Fault(error);
}

siege::History history_of(const std::string& path) {
    const auto content = text_of(path);
    try {
        return siege::parse_history(content);
    } catch (const std::invalid_argument& wrong) {
        throw UsageError(path + ": " + wrong.what());
    }
}

/// Played by ports that are as those were that it was found with.
siege::History fitted(const siege::History& history, siege::Subject& subject, const std::string& path) {
    auto fitted = siege::fitted(history, subject.begin(true).facts, subject.abilities());
    if (!fitted.why_not.empty()) throw UsageError(path + ": cannot be played here: " + fitted.why_not);
    for (const auto& [port, here] : fitted.renamed)
        print(fmt::format("port {} of the file is port {} here\n", port, here));
    return std::move(fitted.history);
}

int play_again(const SaExploreOptions& options) {
    const auto read = history_of(options.replay);
    auto sa = besieged(options);
    const auto history = fitted(read, *sa.subject, options.replay);
    const bool tells_leaks = siege::gives_same_mlid(*sa.subject);
    const auto outcome = siege::play(history, *sa.subject, {.tells_leaks = tells_leaks});
    if (const auto problem = sa.subject->problem(); !problem.empty()) throw Fault(problem);
    print(siege::text(history, outcome.violations));
    if (outcome.is_disturbed)
        print("what showed after an answer that came late, or not at all, or after a failed change is not judged\n");
    print(fmt::format("{} deviations\n", outcome.violations.size()));
    const auto code = exit_code_of(outcome.violations, options.is_strict);
    if (outcome.skipped.empty()) return code;
    std::string steps;
    for (const auto step : outcome.skipped) steps += (steps.empty() ? "" : ", ") + std::to_string(step + 1);
    complain("ipoib-conform",
             "not played, since there is no such port or group here, or this cannot be done to it: steps " + steps);
    return code == exit_ok ? exit_usage : code;
}

int run_lapses(const SaExploreOptions& options) {
    require_path({options.markdown});
    StatusLine line;
    stop_on_interrupt();
    siege::Recall recall{.seed = options.seed, .is_stopped = fabric::Loop::stop_requested};
    if (options.histories > 0) recall.histories = options.histories;
    if (progress_is_seen())
        recall.progress = [&](std::string_view lapse, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, lapse));
        };
    const auto all = siege::recall(recall);
    line.clear();
    print(siege::text(all));
    if (fabric::Loop::stop_requested()) {
        complain("ipoib-conform", "interrupted: what was not played is not judged");
        return exit_fault;
    }
    if (!options.markdown.empty())
        if (const auto error = write_atomically(options.markdown, siege::recall_page(all, recall)); !error.empty())
            throw Fault(error);
    return std::ranges::all_of(all, [](const siege::Recalled& one) { return one.found.has_value(); }) ? exit_ok
                                                                                                      : exit_worse;
}

std::optional<std::chrono::nanoseconds> time_of(const SaExploreOptions& options) {
    if (options.seconds <= 0) return {};
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
}

siege::Run run_of(const SaExploreOptions& options, bool is_ours, StatusLine& line) {
    siege::Run run{.generator = {.seed = options.seed, .states = options.states},
                   .most_tries = is_ours ? most_tries : most_tries_in_real_time,
                   .is_stopped = fabric::Loop::stop_requested};
    run.time = time_of(options);
    if (options.histories > 0) run.histories = options.histories;
    if (!run.time && !run.histories) run.histories = is_ours ? usual_histories : usual_histories_in_real_time;
    if (!progress_is_seen()) return run;
    run.progress = [&line, between = is_ours ? 256u : 1u](std::uint64_t histories, std::size_t found) {
        if (histories % between == 0) line.show(fmt::format("{} histories, {} found", histories, found));
    };
    run.repeated = [&line](std::uint64_t repeats) {
        constexpr std::uint64_t between = 16;
        if (repeats % between == 0) line.show(fmt::format("{} repeats of what is suspected", repeats));
    };
    return run;
}

siege::Sieged run_exhaustion(const SaExploreOptions& options, siege::Subject& subject, bool is_ours, StatusLine& line) {
    siege::Exhaustion exhaustion{.hidden = *options.exhaustive,
                                 .time = time_of(options),
                                 .most_tries = is_ours ? most_tries : most_tries_in_real_time,
                                 .is_stopped = fabric::Loop::stop_requested};
    if (progress_is_seen())
        exhaustion.progress = [&, between = is_ours ? 256u : 1u](std::uint64_t done, std::uint64_t all) {
            if (done % between == 0) line.show(fmt::format("{} of {} histories", done, all));
        };
    auto exhausted = siege::exhaust(exhaustion, subject);
    line.clear();
    print(siege::text(exhausted));
    return std::move(exhausted.sieged);
}

/// Options that would change nothing are refused.
void refuse_idle(const SaExploreOptions& options) {
    const SaExploreOptions usual;
    const auto refuse = [](bool is_there, const std::string& what, std::string_view with) {
        if (is_there) throw UsageError(what + " does not go with " + std::string(with));
    };
    const bool is_replay = !options.replay.empty();
    if (options.exhaustive || is_replay || options.is_of_mutants) {
        const std::string_view with = options.is_of_mutants ? "--mutants" : is_replay ? "--replay" : "--exhaustive";
        refuse(options.states != usual.states, "--join-states", with);
        refuse(options.seconds > 0 && with != "--exhaustive", "--for", with);
        refuse(options.histories > 0 && !options.is_of_mutants, "--seeds", with);
        refuse(options.exhaustive && with != "--exhaustive", "--exhaustive", with);
    }
    if (!options.is_of_mutants) return;
    refuse(options.fabric != usual.fabric, "--fabric", "--mutants");
    refuse(!options.control.empty(), "--fabric-control", "--mutants");
    refuse(!options.allow.empty(), "--allow", "--mutants");
    refuse(options.is_strict, "--strict", "--mutants");
}

}  // namespace

int explore_sa(const SaExploreOptions& options) {
    refuse_idle(options);
    if (options.is_of_mutants) return run_lapses(options);
    make_folder_for("histories", options.out, "001.json");
    stop_on_interrupt();
    if (!options.replay.empty()) return play_again(options);
    auto sa = besieged(options);
    StatusLine line;
    const auto run = run_of(options, sa.is_ours, line);
    auto sieged = [&] {
        if (options.exhaustive) return run_exhaustion(options, *sa.subject, sa.is_ours, line);
        auto all = siege::lay_siege(run, *sa.subject);
        line.clear();
        print(siege::text(all));
        return all;
    }();
    std::vector<siege::Violation> violations;
    const auto facts = options.out.empty() ? sa_model::Facts{} : sa.subject->begin(false).facts;
    for (const auto& one : sieged.found) {
        if (!options.out.empty()) keep(options.out, violations.size() + 1, one, facts);
        violations.push_back(one.violation);
    }
    if (!sieged.problem.empty()) throw Fault(sieged.problem);
    const auto code = exit_code_of(violations, options.is_strict);
    if (!sieged.is_interrupted) return code;
    complain("ipoib-conform", "interrupted: what was not played is not judged");
    return code == exit_ok ? exit_fault : code;
}

}  // namespace ipoib::conformance

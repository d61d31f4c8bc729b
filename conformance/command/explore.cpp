// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform explore: whether a stack is right again after things have changed around it.
#include "conformance/explore/recall.hpp"
#include "conformance/explore/remote.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/explore_sa.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"
#include "protocol/requirements/requirement.hpp"
#include "reports/baseline.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>

namespace ipoib::conformance {
namespace {

constexpr std::uint64_t usual_schedules = 2000, usual_in_real_time = 30;
/// Of the systematic part's short life, where its steps are requests to another process.
constexpr unsigned stretch_in_real_time = 10;

struct ExploreOptions {
    std::string fabric{usual_fabric}, dut = "reference", scenario = "default", listen, interface, expect, replay, out;
    std::vector<std::string> faults;
    double seconds = 0, timeout_scale = 1;
    std::uint64_t schedules = 0, seed = 1;
    unsigned depth = 3;
    bool is_strict = false, is_by_chance = false, is_of_mutants = false;
    std::string markdown, control, allow;
    std::optional<unsigned> exhaustive;
    unsigned states = 15;
};

/// Of --dut sa.
SaExploreOptions of_sa(const ExploreOptions& options) {
    return {.fabric = options.fabric,
            .control = options.control,
            .replay = options.replay,
            .out = options.out,
            .markdown = options.markdown,
            .allow = options.allow,
            .seconds = options.seconds,
            .timeout_scale = options.timeout_scale,
            .histories = options.schedules,
            .seed = options.seed,
            .exhaustive = options.exhaustive,
            .states = options.states,
            .is_strict = options.is_strict,
            .is_of_mutants = options.is_of_mutants};
}

/// What is explored: the reference, a mutant of it, or a DUT in another process.
struct Explorand {
    const Mutant* mutant = nullptr;
    std::unique_ptr<explore::RemoteDut> remote{};

    [[nodiscard]] explore::Playing playing(std::string evidence = {}) const {
        return {.mutant = mutant, .remote = remote.get(), .evidence = std::move(evidence)};
    }
};

const Mutant* mutant_of(const ExploreOptions& options) {
    if (options.fabric != usual_fabric)
        throw UsageError("--fabric: schedules are played on " + std::string(usual_fabric) + ", not '" + options.fabric +
                         "'");
    if (options.dut == "reference" || options.dut.starts_with(exec_prefix)) return nullptr;
    const auto* mutant = told_apart([&] { return mutant_named(options.dut, "mutant:"); });
    if (!mutant) throw UsageError("--dut is reference, mutant:NAME, exec:COMMAND or sa, not '" + options.dut + "'");
    if (mutant->sa) throw UsageError("'" + std::string(mutant->name) + "' is a mutant of the subnet administrator");
    return mutant;
}

Explorand explorand_of(const ExploreOptions& options, StatusLine& line) {
    Explorand explorand{.mutant = mutant_of(options)};
    const bool is_exec = options.dut.starts_with(exec_prefix);
    if (is_exec && options.listen.empty()) throw UsageError("a DUT in another process needs a raw port: --listen PATH");
    if (!is_exec && !options.listen.empty())
        throw UsageError("--listen is for a DUT in another process (--dut exec:COMMAND)");
    if (!is_exec) return explorand;
    if (options.dut.size() == exec_prefix.size()) throw UsageError("--dut exec: names no command");
    explorand.remote = std::make_unique<explore::RemoteDut>(
        explore::RemoteDut::Options{.listen = options.listen,
                                    .command = options.dut.substr(exec_prefix.size()),
                                    .interface = options.interface,
                                    .timeout_scale = options.timeout_scale,
                                    .remark = [&line](const std::string& words) {
                                        line.clear();
                                        complain("ipoib-conform", words);
                                    }});
    return explorand;
}

/// Known is what the baseline excuses by a requirement's id, whichever rule or case it stands beside, until it expires.
std::function<bool(const explore::Violation&)> known_by(const std::string& file) {
    if (file.empty()) return {};
    auto baseline = reports::load_baseline(file, known_ids());
    if (!baseline) throw UsageError(baseline.error);
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
    return [expected = std::move(baseline->expected), today](const explore::Violation& violation) {
        return violation.requirement && std::ranges::any_of(expected, [&](const reports::Expected& one) {
                   const bool is_over = one.expires && *one.expires < today;
                   return !is_over &&
                          std::ranges::find(one.requirements, violation.requirement->id) != one.requirements.end();
               });
    };
}

int exit_code_of(const std::vector<explore::Violation>& violations, bool is_strict) {
    const bool is_wrong = std::ranges::any_of(violations, [&](const explore::Violation& one) {
        return is_strict || one.weight == explore::Weight::fail || one.weight == explore::Weight::crash;
    });
    return is_wrong ? exit_worse : exit_ok;
}

/// What was found before holds; that nothing was found does not.
int interrupted(const std::vector<explore::Violation>& violations, bool is_strict) {
    complain("ipoib-conform", "interrupted: what was not played is not judged");
    const auto code = exit_code_of(violations, is_strict);
    return code == exit_ok ? exit_fault : code;
}

/// Writes a schedule and the frames at the DUT's port.
void keep(const std::string& folder, const std::string& stem, const explore::Schedule& schedule,
          const std::vector<explore::Violation>& violations, const Explorand& explorand) {
    if (folder.empty()) return;
    std::vector<std::string> remarks;
    remarks.reserve(violations.size());
    for (const auto& one : violations) remarks.push_back(fmt::format("{}: {}", explore::name(one.weight), one.what));
    const auto path = std::filesystem::path(folder) / stem;
    if (const auto error = write_atomically(path.string() + ".json", explore::text(schedule, remarks)); !error.empty())
        throw Fault(error);
    // What was found before the program was told to stop is kept whole, unless that takes real time.
    if (fabric::Loop::stop_requested() && explorand.remote) return;
    fabric::Loop::clear_stop();
    // In real time it may need another attempt until it is seen again.
    constexpr unsigned attempts = 3;
    const auto is_seen = [&](const explore::Outcome& outcome) {
        return std::ranges::all_of(violations, [&](const explore::Violation& one) {
            return std::ranges::any_of(outcome.violations,
                                       [&](const explore::Violation& other) { return other.key() == one.key(); });
        });
    };
    for (unsigned i = 0; i < attempts; ++i)
        if (is_seen(explore::play(schedule, explorand.playing(path.string() + ".pcapng")))) return;
    complain("ipoib-conform", path.string() + ".pcapng does not show it: it was not seen again");
}

int play_again(const ExploreOptions& options, const Explorand& explorand) {
    const auto content = text_of(options.replay);
    const auto schedule = told_apart([&] {
        try {
            return explore::parse_schedule(content);
        } catch (const std::invalid_argument& wrong) {
            throw std::invalid_argument(options.replay + ": " + wrong.what());
        }
    });
    const auto is_known = known_by(options.expect);
    auto outcome = told_apart([&] { return explore::play(schedule, explorand.playing()); });
    if (fabric::Loop::stop_requested()) return interrupted({}, options.is_strict);
    if (is_known) std::erase_if(outcome.violations, is_known);
    print(explore::text(schedule, outcome.violations));
    print(fmt::format("{} invariants broken; frames {:016x}\n", outcome.violations.size(), outcome.digest));
    keep(options.out, "replay", schedule, outcome.violations, explorand);
    return exit_code_of(outcome.violations, options.is_strict);
}

int run_mutants(const ExploreOptions& options) {
    require_path({options.markdown});
    StatusLine line;
    stop_on_interrupt();
    explore::Recall recall{.seed = options.seed, .is_stopped = fabric::Loop::stop_requested};
    if (options.schedules > 0) recall.schedules = options.schedules;
    if (progress_is_seen())
        recall.progress = [&](std::string_view mutant, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, mutant));
        };
    const auto all = told_apart([&] { return explore::recall(recall); });
    line.clear();
    print(explore::text(all));
    if (fabric::Loop::stop_requested()) return interrupted({}, false);
    if (!options.markdown.empty())
        if (const auto error = write_atomically(options.markdown, explore::recall_page(all, recall)); !error.empty())
            throw Fault(error);
    return exit_ok;
}

int run_explore(const ExploreOptions& options) {
    const ExploreOptions usual;
    if (options.dut == "sa") {
        const bool is_of_stacks = options.scenario != usual.scenario || !options.listen.empty() ||
                                  !options.expect.empty() || !options.faults.empty() || options.depth != usual.depth ||
                                  options.is_by_chance;
        if (is_of_stacks)
            throw UsageError("--scenario, --listen, --expect, --faults, --depth and --by-chance are not for --dut sa");
        return explore_sa(of_sa(options));
    }
    if (options.exhaustive || !options.control.empty() || !options.allow.empty() || options.states != usual.states)
        throw UsageError("--exhaustive, --join-states, --fabric-control and --allow are for --dut sa");
    if (options.is_of_mutants && options.dut != "reference")
        throw UsageError("--mutants are those of the reference stack, or with --dut sa of the subnet administrator");
    if (options.is_of_mutants) return run_mutants(options);
    StatusLine line;
    const auto explorand = explorand_of(options, line);
    make_folder_for("schedules", options.out, "001.json");
    stop_on_interrupt();
    if (!options.replay.empty()) return play_again(options, explorand);
    for (const auto& kind : options.faults) {
        const auto kinds = explore::event_kinds();
        if (std::ranges::find(kinds, kind) != kinds.end()) continue;
        throw UsageError(fmt::format("--faults: nothing is named '{}': {}", kind, fmt::join(kinds, ", ")));
    }
    explore::Run run{.walk = {.scenario = options.scenario,
                              .seed = options.seed,
                              .depth = options.depth,
                              .kinds = options.faults,
                              .is_systematic = !options.is_by_chance,
                              .stretch = explorand.remote ? stretch_in_real_time : 1},
                     .mutant = explorand.mutant,
                     .remote = explorand.remote.get(),
                     .is_known = known_by(options.expect),
                     .is_stopped = fabric::Loop::stop_requested};
    if (options.seconds > 0)
        run.time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    if (options.schedules > 0) run.schedules = options.schedules;
    if (!run.time && !run.schedules) run.schedules = explorand.remote ? usual_in_real_time : usual_schedules;
    if (progress_is_seen())
        run.progress = [&](std::uint64_t schedules, std::size_t transitions, std::size_t found) {
            const std::uint64_t between = explorand.remote ? 1 : 64;
            if (schedules % between == 0)
                line.show(fmt::format("{} schedules, {} transitions, {} found", schedules, transitions, found));
        };
    const auto explored = told_apart([&] { return explore::explore(run); });
    line.clear();
    print(explore::text(explored));
    print(fmt::format("seed {}, frames {:016x}; at most {} requests for the same open at once, {} within a second\n",
                      options.seed, explored.digest, explored.most_open, explored.most_in_a_second));
    std::vector<explore::Violation> violations;
    std::size_t number = 0;
    for (const auto& one : explored.found) {
        violations.push_back(one.violation);
        keep(options.out, fmt::format("{:03}-{}", ++number, one.violation.invariant), one.schedule, {one.violation},
             explorand);
    }
    if (explored.is_interrupted) return interrupted(violations, options.is_strict);
    return exit_code_of(violations, options.is_strict);
}

Action set_up_explore(CLI::App& command, const std::string&) {
    auto options = std::make_shared<ExploreOptions>();
    command
        .add_option("--fabric", options->fabric,
                    "simulated: in this process; with --dut sa also " + fabric_kinds().help(FabricUse::run))
        ->check(not_empty())
        ->type_name("FABRIC");
    command
        .add_option(
            "--dut", options->dut,
            "reference or mutant:NAME, in this process and in virtual time; exec:COMMAND, an adapter of what is "
            "plugged in at --listen; sa, the fabric's subnet administrator, by histories of requests")
        ->check(not_empty())
        ->type_name("DUT");
    command.add_option("--scenario", options->scenario, "How the link is set up: " + scenario_names())
        ->check(not_empty())
        ->type_name("NAME");
    command.add_option("--listen", options->listen, "Open a raw port at this path, for the stack in another process")
        ->check(not_empty())
        ->type_name("PATH");
    command.add_option("--interface", options->interface, "The interface of such a DUT; else its adapter's first")
        ->check(not_empty())
        ->type_name("NAME");
    command
        .add_option("--timeout-scale", options->timeout_scale,
                    "Waits so many times as long for such a DUT (0.1 to 1000)")
        ->check(from_to(0.1, 1000.0))
        ->type_name("X");
    for (const auto* of_remote : {"--interface", "--timeout-scale"})
        command.get_option(of_remote)->needs(command.get_option("--listen"));
    command
        .add_option("--expect", options->expect, "Deviations that are known and not told: requirements of a baseline")
        ->check(not_empty())
        ->type_name("BASELINE.toml");
    command.add_option("--for", options->seconds, "Schedules until so much time has passed: 90s, 10min, 1h")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}}))
        ->check(positive())
        ->type_name("TIME");
    command
        .add_option("--seeds", options->schedules,
                    fmt::format("So many schedules; without this and --for {}, in real time {}", usual_schedules,
                                usual_in_real_time))
        ->check(positive())
        ->type_name("N");
    command
        .add_option("--faults", options->faults,
                    fmt::format("Only events of these kinds: {}", fmt::join(explore::event_kinds(), ", ")))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("KIND,...");
    command.add_option("--depth", options->depth, "At most so many events in a schedule that chance makes")
        ->check(from_to(1u, 20u))
        ->type_name("K");
    command.add_flag("--by-chance", options->is_by_chance, "Without the systematic part");
    command
        .add_option("--exhaustive", options->exhaustive,
                    "With --dut sa: all that two ports can do in one group, and behind it all sequences of so many "
                    "joins and leaves")
        ->check(from_to(0u, 2u))
        ->type_name("N");
    command
        .add_option("--join-states", options->states,
                    "With --dut sa: no other join states than these bits; 7 leaves out SendOnlyFullMember")
        ->check(from_to(1u, 15u))
        ->type_name("BITS");
    command.add_option("--fabric-control", options->control, "With --dut sa: a command that restarts it, as for run")
        ->check(not_empty())
        ->type_name("COMMAND");
    command
        .add_option("--allow", options->allow,
                    "With --dut sa on a fabric that others use: fabric, since they may notice what histories do")
        ->check(one_of({"fabric"}))
        ->type_name("IMPACT");
    add_seed_option(command, options->seed, "Where random numbers begin");
    command.add_option("--replay", options->replay, "Play the schedule of this file, and no other")
        ->check(not_empty())
        ->type_name("FILE");
    command.add_option("--out", options->out, "Write what breaks an invariant, and its frames, into a folder")
        ->check(not_empty())
        ->type_name("DIR");
    auto* mutants = command.add_flag("--mutants", options->is_of_mutants,
                                     "Every wrong stack that there is: which are found, by at most --seeds schedules");
    for (const auto* other : {"--scenario", "--listen", "--interface", "--timeout-scale", "--expect", "--for",
                              "--faults", "--depth", "--replay", "--out", "--exhaustive"})
        mutants->excludes(command.get_option(other));
    command.add_option("--markdown", options->markdown, "With --mutants: write what they are found by as a page")
        ->needs(mutants)
        ->check(not_empty())
        ->type_name("FILE");
    command.add_flag("--strict", options->is_strict, "A finding that no text forbids is an error, too");
    command.footer(
        "Exit code: 0 nothing that a text forbids, 1 a FAIL, with --strict anything, 2 wrong usage, 3 a fault.");
    return [options] { return run_explore(*options); };
}

}  // namespace

namespace command {

extern const Command explore{.name = "explore",
                             .about = "Change things around a stack, and see whether it is right again afterwards",
                             .set_up = set_up_explore};

}  // namespace command
}  // namespace ipoib::conformance

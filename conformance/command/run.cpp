// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform run: drive an implementation through the cases.
#include "base/complain.hpp"
#include "base/temporary_folder.hpp"
#include "conformance/bench/order.hpp"
#include "conformance/bench/session.hpp"
#include "conformance/command/against.hpp"
#include "conformance/command/choice.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/pausing.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/run_record.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ipoib::conformance {
namespace {

struct Options {
    std::vector<std::string> selectors;
    TargetOptions target;
    ReportOptions report;
    std::string evidence, bundle, shard, only_failed, called_as, order = text(Order{});
    std::string pause_on, against;
    unsigned repeat = 1, max_failures = 0;
    bool dry_run = false;
};

void remark(const std::string& text) { complain("ipoib-conform", text); }

Choice what_runs(const Options& options) {
    auto choice = choose(options.selectors);
    if (choice.cases.empty())
        throw UsageError("the selectors leave no case; rules only judge what cases provoke (see also check)");
    if (!options.only_failed.empty()) {
        for (const auto& id : keep_failed(choice, options.only_failed))
            remark("'" + id + "' of " + options.only_failed + " is no case and no rule here; it is not repeated");
        if (choice.cases.empty() && choice.rules.empty())
            remark("nothing to repeat: " + options.only_failed +
                   " holds no FAIL, XPASS, ERROR, INCONC or WARN of what is selected");
    }
    if (!options.shard.empty()) keep_shard(choice.cases, options.shard);
    put_in(order_named(options.order), choice.cases);
    return choice;
}

/// Whoever follows it sees the same again, and keeps the frames.
std::string repeat_command(const Options& options, const std::string& program) {
    std::vector<std::string> words;
    if (options.called_as.empty()) {
        words = {program, "run"};
        std::ranges::copy(words_of(options.target), std::back_inserter(words));
        if (!options.against.empty()) words.insert(words.end(), {"--against", options.against});
    }
    const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
    add("--seed", std::to_string(options.report.seed));
    if (options.order != text(Order{})) add("--order", options.order);
    if (options.repeat > 1) add("--repeat", std::to_string(options.repeat));
    if (options.report.strict) words.emplace_back("--strict");
    add("--evidence", options.evidence.empty() ? "evidence" : options.evidence);
    auto command = options.called_as;
    for (const auto& word : words) command += (command.empty() ? "" : " ") + reports::sh_word(word);
    return command;
}

/// The rig could not be made: nothing of what was asked for can be judged.
reports::Results none_begun(const ActiveRun& run, const std::string& why) {
    reports::Result result{.id = "SESSION", .title = "There is a session to begin with"};
    result.verdict = reports::Verdict::error;
    result.message = why;
    result.notes.push_back(
        fmt::format("{} case{} not begun", run.cases.size(), run.cases.size() == 1 ? " was" : "s were"));
    reports::Results results;
    results.results.push_back(std::move(result));
    return results;
}

reports::Results drive(const Aim& aim) {
    if (aim.run.cases.empty()) return {};
    try {
        const auto rig = rig_for(aim.target);
        auto results = run(aim.run, *rig);
        keep_record(aim, *rig, results);
        // What the rig leaves behind is undone after Ctrl-C too.
        fabric::Loop::clear_stop();
        return results;
    } catch (const Fault& fault) {
        return none_begun(aim.run, fault.what());
    }
}

/// Where --pause-on says. Throws UsageError for what is neither "fail" nor one of the cases.
std::optional<ActiveRun::Pause> pause_of(const Options& options, const std::vector<const Case*>& cases,
                                         StatusLine& line) {
    if (options.pause_on.empty()) return std::nullopt;
    const auto wait = [&line](const std::string& why, Session& session) {
        wait_for_person(why + ". The DUT is as it was then", {session.control().process()}, session.loop(), line);
    };
    return ActiveRun::Pause{.case_id = paused_id(options.pause_on, cases, "cases"), .wait = wait};
}

/// What the profile says of the DUT goes before what it says of itself.
void add_profile_facts(reports::Results& results, const Profile& profile) {
    auto facts = profile.dut;
    for (auto& fact : results.dut)
        if (std::ranges::find(facts, fact.first, &std::pair<std::string, std::string>::first) == facts.end())
            facts.push_back(std::move(fact));
    results.dut = std::move(facts);
}

std::string time_text(std::chrono::duration<double> time) { return fmt::format("{:g} s", time.count()); }

/// Tells what would be done.
int rehearse(const Aim& aim) {
    const auto rig = rig_for(aim.target);
    std::optional<std::vector<std::string>> dut_can;
    std::string why_not_asked;
    try {
        if (aim.run.has_control) dut_can = rig->dut_can();
    } catch (const std::runtime_error& failure) {
        why_not_asked = failure.what();
    }
    const double scale = aim.target.session.timeout_scale * aim.run.repeat;
    std::chrono::duration<double> total{};
    std::size_t can_run = 0;
    std::string text;
    for (const auto* one : aim.run.cases) {
        text += fmt::format("{:<28} impact {:<8} ", one->id, name(one->impact));
        if (const auto why_not = obstacle(*one, aim.run, rig->abilities(), dut_can ? &*dut_can : nullptr)) {
            text += fmt::format("NA ({}): {}\n", reports::name(why_not->reason), why_not->why);
            continue;
        }
        const auto time = one->longest() * scale;
        text += "at most " + time_text(time) + '\n';
        total += time;
        ++can_run;
    }
    text += fmt::format("{} of {} cases can run, in at most {} and what the DUT itself takes; {} rules watch.\n",
                        can_run, aim.run.cases.size(), time_text(total), aim.run.rules.size());
    text += rig->is_virtual() ? "Nothing was sent. The clock is virtual: nothing will wait.\n" : "Nothing was sent.\n";
    print(text);
    if (!why_not_asked.empty()) throw Fault("the DUT's adapter cannot be asked: " + why_not_asked);
    return exit_ok;
}

int run_two(const Options& options, const std::string& program, const std::vector<std::string>& command) {
    return run_against({.selectors = options.selectors,
                        .target = options.target,
                        .against = options.against,
                        .report = options.report,
                        .evidence = options.evidence,
                        .bundle = options.bundle,
                        .shard = options.shard,
                        .order = options.order,
                        .only_failed = options.only_failed,
                        .pause_on = options.pause_on,
                        .repeat = options.repeat,
                        .max_failures = options.max_failures,
                        .repeat_command = repeat_command(options, program),
                        .dry_run = options.dry_run},
                       command);
}

int run_cases(const Options& options, const std::string& program, const std::vector<std::string>& command) {
    auto aim = conformance::aim(options.target, options.report.seed);
    auto choice = what_runs(options);
    const auto selected = requirements_of_run(options.selectors, choice, !options.only_failed.empty());
    aim.run.cases = std::move(choice.cases);
    aim.run.rules = std::move(choice.rules);
    aim.run.repeat = options.repeat;
    if (options.dry_run) return rehearse(aim);

    std::vector<std::string> taken{options.evidence, options.bundle, options.target.profile, options.only_failed};
    std::erase(taken, "");
    refuse_overwriting(options.report, std::move(taken));
    const auto comparisons = load_comparisons(options.report);
    make_evidence_folder(options.evidence);
    require_report(options.report);
    aim.run.evidence = options.evidence;
    try_bundle(options.bundle);
    aim.target.session.keeps_journal = !options.evidence.empty() || !options.bundle.empty();
    std::optional<TemporaryFolder> frames;
    if (options.evidence.empty() && (options.report.is_illustrated() || !options.bundle.empty())) {
        aim.run.evidence = frames.emplace().path().string();
        aim.run.may_lack_evidence = options.bundle.empty();
    }
    aim.run.repeat_command = repeat_command(options, program);
    StatusLine line;
    aim.run.pause = pause_of(options, aim.run.cases, line);
    aim.run.max_failures = options.max_failures;
    aim.run.is_failure = counted_failures(options.report, comparisons);
    if (progress_is_seen() && !options.report.quiet)
        aim.run.progress = [&](const Case& one, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, one.id));
        };
    aim.target.remark = [&line](const std::string& text) {
        line.clear();
        remark(text);
    };
    stop_on_interrupt();
    const RunClock clock;
    auto results = drive(aim);
    line.clear();
    clock.complete(results, options.report, command);
    results.selected = selected;
    add_profile_facts(results, aim.run.profile);
    results.claims = claims_of(aim.run.profile);
    const auto exhibits = exhibits_for(options.report, results);
    const bool is_bundled = keep_bundle(options.bundle, aim.run.evidence, results);
    if (frames) forget_evidence(results);
    const auto code = report(results, options.report, comparisons, exhibits);
    return is_bundled ? code : exit_fault;
}

void add_run_options(CLI::App& command, Options& options) {
    constexpr unsigned most_repeats = 10000;
    add_target_options(command, options.target);
    add_permission_options(command, options.target);
    command
        .add_option("--against", options.against,
                    "A second implementation on the same fabric: reference, mutant:NAME or exec:COMMAND; no tester "
                    "speaks, each is the other's peer, and both are judged (docs/against.md)")
        ->check(not_empty())
        ->type_name("DUT2");
    command
        .add_option("--evidence", options.evidence,
                    "Keep each case's frames in this folder, as pcapng, and the journal of all that came in")
        ->check(not_empty())
        ->type_name("DIR");
    command
        .add_option("--bundle", options.bundle,
                    "All that somebody else needs to judge the run again, as one tar archive (ipoib-conform verify)")
        ->check(not_empty())
        ->type_name("FILE");
    command
        .add_option("--order", options.order,
                    "declared (by id), or seed=N: the cases, or exchanges, shuffled, the same way each time; what one "
                    "leaves behind in a DUT another one meets")
        ->check(not_empty())
        ->type_name("seed=N|declared");
    command
        .add_option("--repeat", options.repeat,
                    "Run each case, or exchange, so often; the worst verdict counts, and how often it was")
        ->check(from_to(1u, most_repeats))
        ->type_name("N");
    command
        .add_option("--max-failures", options.max_failures,
                    "Begin no further case, or exchange, after so many failures that the baseline does not know")
        ->check(from_to(1u, most_repeats))
        ->type_name("N");
    command
        .add_option(
            "--pause-on", options.pause_on,
            "Wait for Enter at the first violation of each case or exchange, or before the steps of one, while no "
            "deadline runs: for a debugger")
        ->check(not_empty())
        ->type_name("fail|ID");
    command.add_option("--shard", options.shard, "Run only the I-th of N parts of the cases, or exchanges, I from 1")
        ->check(not_empty())
        ->type_name("I/N");
    command
        .add_option("--only-failed", options.only_failed,
                    "Run only what is FAIL, XPASS, ERROR, INCONC or WARN in these results (run --json)")
        ->check(not_empty())
        ->type_name("RESULTS.json");
    command
        .add_option("--called-as", options.called_as,
                    "For programs that call this one: the words that the report begins a case's repetition with")
        ->check(not_empty())
        ->type_name("WORDS");
    command.add_flag("--dry-run", options.dry_run,
                     "Send nothing, write nothing; print each case, its impact, its worst time, or why it cannot run");
    add_report_options(command, options.report, "Where random numbers begin; the same seed gives the same run");
}

Action set_up_run(CLI::App& command, const std::string& invoked_as) {
    auto options = std::make_shared<Options>();
    command
        .add_option("SELECTOR", options->selectors,
                    "Cases and rules: an id, a glob, a section (rfc4391/6), level:must, status:standard, tag:arp; "
                    "'!' negates; none: all")
        ->type_name("...");
    add_run_options(command, *options);
    command.footer(
        "Exit code: 0 nothing against it, 1 a failure, 3 tester, fabric or adapter at fault or interrupted,\n"
        "5 inconclusive, 4 nothing was judged (also when --only-failed finds nothing to repeat), 2 wrong usage.");
    return [options, &command, invoked_as] {
        const auto words = words_of(command, options->selectors);
        return options->against.empty() ? run_cases(*options, invoked_as, words) : run_two(*options, invoked_as, words);
    };
}

}  // namespace

namespace command {

extern const Command run{
    .name = "run", .about = "Drive an implementation through the cases, and judge it", .set_up = set_up_run};

}  // namespace command
}  // namespace ipoib::conformance

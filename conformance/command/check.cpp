// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform check: judge captures.
#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "base/nearest.hpp"
#include "conformance/command/annotation.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/account.hpp"
#include "conformance/terminal/terminal.hpp"
#include "reports/failure.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>

namespace ipoib::conformance {
namespace {

/// What is judged, and the requirements that were chosen for it.
struct Plan {
    PassiveRun run;
    std::optional<std::vector<std::string>> selected;
};

struct CheckOptions {
    std::vector<std::string> arguments;  ///< captures, then selectors
    ReportOptions report;
    KnowledgeOptions knowledge;
    unsigned threads = 0;
    std::string write;  ///< the capture again, annotated; empty: not asked for
};

/// A selector, or a file beside the one that is not there.
std::string meant(const std::string& wrong) {
    if (auto question = nearest_selector(wrong, selectable_rules()); !question.empty()) return question;
    const std::filesystem::path path{wrong};
    constexpr std::size_t most_looked_at = 10000;
    Nearest nearest{path.filename().string()};
    std::error_code none;
    std::size_t count = 0;
    for (std::filesystem::directory_iterator at{path.has_parent_path() ? path.parent_path() : ".", none}, end;
         !none && at != end && count < most_looked_at; at.increment(none), ++count)
        nearest.offer(at->path().filename().string());
    return nearest.question();
}

/// Splits the arguments: what is a file (or "-") is a capture, the rest must be selectors.
Plan plan(const CheckOptions& options) {
    PassiveRun run;
    std::vector<std::string> selectors;
    for (const auto& argument : options.arguments) {
        std::error_code unknown;  // a path that may not be looked at is told when it is opened
        const bool is_file = argument == "-" || std::filesystem::exists(argument, unknown) || unknown;
        (is_file ? run.captures : selectors).push_back(argument);
    }
    auto taken = run.captures;
    if (!options.write.empty()) taken.push_back(options.write);
    refuse_overwriting(options.report, std::move(taken));
    const Selection selection{selectors};
    if (const auto wrong = selection.unmatched(selectable_rules()); wrong)
        throw UsageError("'" + *wrong + "' is neither a file nor a selector that matches a rule" + meant(*wrong) +
                         " (ipoib-conform list)");
    if (run.captures.empty()) throw UsageError("no capture is named; '-' is standard input");
    if (std::ranges::count(run.captures, "-") > 1) throw UsageError("standard input can be read only once");
    if (!options.write.empty()) {
        if (run.captures.size() > 1 || run.captures.front() == "-")
            throw UsageError("--write is about one capture that is a file: it is read twice");
        refuse_same_files({options.write}, run.captures);
    }
    run.rules = selected_rules(selection);
    if (run.rules.empty()) throw UsageError("the selectors leave no rule");
    run.judge = judge_options(options.knowledge);
    run.crew.threads = options.threads;
    if (selection.empty()) return {std::move(run), std::nullopt};
    return {std::move(run), selected_requirements(selection, selectable_rules())};
}

void print_violation(const rules::Rule& rule, const reports::Detail& detail) {
    print(fmt::format("frame {}: {} {}: {} is {}, expected {} ({}){}\n", detail.frame, rule.checks[0]->id, rule.title,
                      detail.field, detail.actual, detail.expected, detail.subject, reports::assumed_text(detail)));
}

/// Whoever follows it judges the same capture by this rule alone, knowing the same.
void add_repetition(reports::Results& results, const CheckOptions& options, const std::string& program) {
    const auto knowledge = words_of(options.knowledge);
    const auto command = [&](std::uint32_t capture, const std::vector<std::string>& more) {
        std::vector<std::string> words{program, "check"};
        for (std::size_t i = 0; i < results.captures.size(); ++i)
            if (options.knowledge.together || i == capture) words.push_back(results.captures[i].file);
        if (std::ranges::find(words, "-") != words.end()) return std::string{};
        words.insert(words.end(), knowledge.begin(), knowledge.end());
        if (options.report.strict) words.emplace_back("--strict");
        words.insert(words.end(), more.begin(), more.end());
        std::string line;
        for (const auto& word : words) line += (line.empty() ? "" : " ") + reports::sh_word(word);
        return line;
    };
    for (auto& result : results.results)
        if (result.verdict != reports::Verdict::pass && result.verdict != reports::Verdict::na)
            result.repeat = command(result.capture, {result.id});
    for (auto& one : results.suspicions)
        if (!one.assume.empty()) one.command = command(one.details.front().capture, {"--assume", one.assume});
}

/// Troubles that no statement is about become notes, of each capture its own.
void look_beyond(PassiveRun& run, Annotation& annotation, std::vector<reports::Beyond>& beyond) {
    auto observer = std::make_shared<std::unique_ptr<links::Observer>>(std::make_unique<links::Observer>());
    run.onlooker = [observer](const wire::Packet& packet, const state::Known& known, const state::Subnet& subnet) {
        (*observer)->take({packet, known, subnet});
    };
    run.finished = [observer, &annotation, &beyond, capture_at = std::uint32_t{0}](
                       const Judge& judge, reports::CaptureResult& capture) mutable {
        const auto account = links::account_of(judge, **observer);
        annotation.take(account);
        std::ranges::move(links::notes_beyond(account), std::back_inserter(capture.notes));
        std::ranges::move(links::beyond_of(account, capture_at++), std::back_inserter(beyond));
        *observer = std::make_unique<links::Observer>();
    };
}

void write(const Annotation& annotation, const std::string& to, reports::CaptureResult& capture) {
    if (capture.packets == 0) return;
    if (capture::stop_requested()) {
        capture.notes.push_back(to + " was not written: interrupted");
        return;
    }
    annotation.write(capture.file, to);
    if (annotation.beyond() != 0)
        capture.notes.push_back(std::to_string(annotation.beyond()) + " comments are not in " + to +
                                ": there are more than are kept");
}

reports::Results judge(const CheckOptions& options, const std::string& program,
                       const std::vector<std::string>& command) {
    auto [run, selected] = plan(options);
    try_reports(options.report);
    if (!options.write.empty())
        if (const auto why_not = why_not_writable(options.write); !why_not.empty()) throw Fault("--write " + why_not);
    Annotation annotation;
    if (!options.write.empty())
        run.listener = [&annotation](const auto& rule, const auto& detail) { annotation.take(rule, detail); };
    std::vector<reports::Beyond> beyond;
    look_beyond(run, annotation, beyond);
    const bool is_live = std::ranges::find(run.captures, "-") != run.captures.end();
    ProgressBar bar;
    if (is_live && !options.report.quiet) run.listener = print_violation;
    if (!is_live && progress_is_seen() && !options.report.quiet) run.progress = std::ref(bar);
    stop_on_interrupt();
    const RunClock clock;
    auto results = check(run);
    results.beyond = std::move(beyond);
    bar.clear();
    if (!options.write.empty()) write(annotation, options.write, results.captures.front());
    clock.complete(results, options.report, command);
    results.selected = std::move(selected);
    add_repetition(results, options, program);
    return results;
}

/// Whether any frame was read; the errors of captures that gave none are told either way.
bool anything_read(const reports::Results& results) {
    bool any = false;
    for (const auto& captured : results.captures) {
        any = any || captured.packets > 0;
        if (captured.packets > 0) continue;
        complain("ipoib-conform", captured.error.empty() ? captured.file + " holds no frame" : captured.error);
    }
    return any;
}

int run_check(const CheckOptions& options, const std::string& program, const std::vector<std::string>& command) {
    const auto comparisons = load_comparisons(options.report);
    auto results = judge(options, program, command);
    if (!anything_read(results)) return exit_usage;
    const auto exhibits = exhibits_for(options.report, results);
    return report(results, options.report, comparisons, exhibits);
}

Action set_up_check(CLI::App& command, const std::string& invoked_as) {
    auto options = std::make_shared<CheckOptions>();
    command
        .add_option("CAPTURE", options->arguments,
                    "Captures (pcap, pcapng, also compressed; '-' is standard input), then selectors of what to "
                    "judge: an id, a glob, a section (rfc4391/6), level:must, status:standard, tag:arp; '!' "
                    "negates")
        ->required()
        ->type_name("[SELECTOR]");
    add_knowledge_options(command, options->knowledge, true);
    add_threads_option(command, options->threads);
    command
        .add_option("--write", options->write,
                    "The capture again as pcapng, each violation as a comment of its packet, for any Wireshark")
        ->type_name("OUT.pcapng")
        ->check(not_empty());
    add_report_options(command, options->report, "Kept in the reports; check itself uses no random numbers");
    command.footer(
        "Exit code: 0 nothing against it, 1 a failure, 3 a capture is damaged, 5 inconclusive, 4 nothing was judged,\n"
        "2 wrong usage or no frame could be read.");
    return [options, &command, invoked_as] {
        return run_check(*options, invoked_as, words_of(command, options->arguments));
    };
}

}  // namespace

namespace command {

extern const Command check{
    .name = "check", .about = "Judge captures; needs no root and no hardware", .set_up = set_up_check};

}  // namespace command
}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform check: judge captures.
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/engine/passive.hpp"
#include "generated/version.hpp"
#include "reports/baseline.hpp"
#include "reports/json.hpp"
#include "reports/junit.hpp"
#include "reports/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>

namespace ipoib::conformance {
namespace {

struct Options {
    std::vector<std::string> arguments;  ///< captures, then selectors
    std::string junit, json, expect;
    std::string dialect = "portable";
    bool strict = false, quiet = false, no_color = false;
    std::uint64_t seed = 1;
};

/// A report must not replace what is read, nor another report. Devices and pipes may be named twice.
void refuse_overwriting(const Options& options, std::vector<std::string> taken) {
    if (!options.expect.empty()) taken.push_back(options.expect);
    const auto is_same = [](const std::string& a, const std::string& b) {
        std::error_code none;
        if (std::filesystem::exists(a, none) && !std::filesystem::is_regular_file(a, none)) return false;
        const auto absolute = [&](const std::string& path) { return std::filesystem::weakly_canonical(path, none); };
        return std::filesystem::equivalent(a, b, none) || absolute(a) == absolute(b);
    };
    for (const auto& output : {options.junit, options.json}) {
        if (output.empty()) continue;
        if (output == "-") throw UsageError("a report needs a file name; /dev/stdout is standard output");
        for (const auto& other : taken)
            if (is_same(output, other)) throw UsageError(output + " would be overwritten");
        taken.push_back(output);
    }
}

/// Splits the arguments: what is a file (or "-") is a capture, the rest must be selectors.
PassiveRun plan(const Options& options) {
    PassiveRun run;
    std::vector<std::string> selectors;
    for (const auto& argument : options.arguments) {
        std::error_code unknown;  // a path that may not be looked at is told when it is opened
        const bool is_file = argument == "-" || std::filesystem::exists(argument, unknown) || unknown;
        (is_file ? run.captures : selectors).push_back(argument);
    }
    refuse_overwriting(options, run.captures);
    const Selection selection{selectors};
    if (const auto wrong = selection.unmatched(selectable_rules()); wrong)
        throw UsageError("'" + *wrong + "' is neither a file nor a selector that matches a rule (ipoib-conform list)");
    if (run.captures.empty()) throw UsageError("no capture is named; '-' is standard input");
    if (std::ranges::count(run.captures, "-") > 1) throw UsageError("standard input can be read only once");
    run.rules = selected_rules(selection);
    if (run.rules.empty()) throw UsageError("the selectors leave no rule");
    return run;
}

std::string utc_now() {
    const auto now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    return text.data();
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// A bar on the terminal, redrawn at most ten times a second. Short captures end before it is first drawn.
class ProgressBar {
public:
    void operator()(std::uint64_t position, std::uint64_t size) {
        const auto now = std::chrono::steady_clock::now();
        if (now - drawn_ < std::chrono::milliseconds{100}) return;
        drawn_ = now;
        constexpr std::size_t width = 40;
        const auto done = size ? std::min<std::size_t>(width, position * width / size) : 0;
        const auto percent = size ? fmt::format("{:3}%", std::min<std::uint64_t>(100, position * 100 / size)) : "";
        fmt::print(stderr, "\r[{:=<{}}{:<{}}] {} {} MiB", "", done, "", width - done, percent, position >> 20);
        std::fflush(stderr);
        shown_ = true;
    }
    void clear() {
        if (shown_) fmt::print(stderr, "\r{:70}\r", "");
        shown_ = false;
    }

private:
    std::chrono::steady_clock::time_point drawn_{};
    bool shown_ = false;
};

/// Ctrl-C ends the reading; a second one ends the program.
void stop_on_interrupt() {
    struct sigaction action {};
    action.sa_handler = [](int) { capture::request_stop(); };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
}

void print_violation(const rules::Rule& rule, const reports::Detail& detail) {
    print(fmt::format("frame {}: {} {}: {} is {}, expected {} ({})\n", detail.frame, rule.checks[0]->id, rule.title,
                      detail.field, detail.actual, detail.expected, detail.subject));
}

reports::Dialect dialect_of(const std::string& name) {
    if (name == "ant") return reports::Dialect::ant;
    return name == "rich" ? reports::Dialect::rich : reports::Dialect::portable;
}

std::chrono::year_month_day today() { return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()); }

/// Writes the reports that were asked for; what could not be written, in words.
std::string write_reports(const reports::Results& results, const Options& options) {
    if (!options.json.empty())
        if (auto error = reports::write_json(options.json, results); !error.empty()) return error;
    if (options.junit.empty()) return {};
    return reports::write_junit(options.junit, results, {.dialect = dialect_of(options.dialect)});
}

reports::Results judge(const Options& options, const std::vector<std::string>& command) {
    auto run = plan(options);
    const bool is_live = std::ranges::find(run.captures, "-") != run.captures.end();
    ProgressBar bar;
    if (is_live && !options.quiet) run.listener = print_violation;
    if (!is_live && isatty(STDERR_FILENO) && !options.quiet) run.progress = std::ref(bar);
    stop_on_interrupt();
    const auto started = utc_now();
    const auto begin = std::chrono::steady_clock::now();
    auto results = check(run);
    bar.clear();
    results.suite = suite_version;
    results.command = command;
    results.seed = options.seed;
    results.started = started;
    results.host = host_name();
    results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return results;
}

/// Whether any frame was read; the errors of captures that gave none are told either way.
bool anything_read(const reports::Results& results) {
    bool any = false;
    for (const auto& captured : results.captures) {
        any = any || captured.packets > 0;
        if (captured.packets > 0) continue;
        std::cerr << "ipoib-conform: " << (captured.error.empty() ? captured.file + " holds no frame" : captured.error)
                  << '\n';
    }
    return any;
}

int run_check(const Options& options, const std::vector<std::string>& command) {
    std::optional<reports::Baseline> baseline;
    if (!options.expect.empty()) {
        auto loaded = reports::load_baseline(options.expect);
        if (!loaded) throw UsageError(loaded.error);
        baseline = std::move(*loaded);
    }
    auto results = judge(options, command);
    if (!anything_read(results)) return exit_usage;
    if (options.strict) reports::apply_strict(results);
    std::vector<std::string> remarks;
    if (baseline) remarks = reports::apply(results, *baseline, today());
    reports::roll_up(results, catalogue_for_reports());
    const auto not_written = write_reports(results, options);
    const bool colour = !options.no_color && isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
    auto text = reports::to_table(results, {.colour = colour, .quiet = options.quiet});
    for (const auto& remark : remarks) text += "note: " + remark + '\n';
    print(text);
    if (!not_written.empty()) throw UsageError(not_written);
    return reports::exit_code(results);
}

}  // namespace

void add_check(CLI::App& program, int& exit_code) {
    const CLI::Validator not_empty{[](std::string& value) { return value.empty() ? "is empty" : std::string{}; }, ""};
    auto* command = program.add_subcommand("check", "Judge captures; needs no root and no hardware");
    auto options = std::make_shared<Options>();
    command
        ->add_option("CAPTURE", options->arguments,
                     "Captures (pcap, pcapng, also compressed; '-' is standard input), then selectors of what to "
                     "judge: an id, a glob, a section (rfc4391/6), level:must, tag:arp; '!' negates")
        ->required()
        ->type_name("[SELECTOR]");
    command->add_option("--junit", options->junit, "Write JUnit XML")->check(not_empty)->type_name("FILE");
    command->add_option("--junit-dialect", options->dialect, "portable, ant or rich")
        ->check(CLI::IsMember({"portable", "ant", "rich"}))
        ->type_name("NAME");
    command->add_option("--json", options->json, "Write all results as JSON")->check(not_empty)->type_name("FILE");
    command->add_option("--expect", options->expect, "Baseline of known failures")
        ->check(not_empty)
        ->type_name("BASELINE.toml");
    command->add_flag("--strict", options->strict, "A SHOULD that is not met is a failure");
    constexpr double most_seed = 9007199254740992;  // 2^53: what every JSON reader keeps
    command->add_option("--seed", options->seed, "Kept in the reports; check itself uses no random numbers")
        ->check(CLI::Range(0.0, most_seed))
        ->type_name("N");
    command->add_flag("--quiet", options->quiet, "Only failures and the summary");
    command->add_flag("--no-color", options->no_color, "No colours (NO_COLOR does the same)");
    command->footer(
        "Exit code: 0 nothing against it, 1 a failure, 3 a capture is damaged, 5 inconclusive, 4 nothing was judged,\n"
        "2 wrong usage or no frame could be read.");
    command->callback([options, command, &exit_code] {
        std::vector<std::string> words{"ipoib-conform", "check"};
        words.insert(words.end(), options->arguments.begin(), options->arguments.end());
        for (const auto* option : command->get_options())
            if (option->count() && !option->get_lnames().empty()) {
                words.push_back("--" + option->get_lnames().front());
                if (option->get_items_expected_min() > 0)
                    words.insert(words.end(), option->results().begin(), option->results().end());
            }
        exit_code = run_check(*options, words);
    });
}

}  // namespace ipoib::conformance

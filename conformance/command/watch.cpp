// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform watch: go on judging what is still being captured.
#include "conformance/watch/watch.hpp"
#include "base/atomic_file.hpp"
#include "base/clock_text.hpp"
#include "base/complain.hpp"
#include "base/output_path.hpp"
#include "conformance/command/asking.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/target/outlook.hpp"
#include "conformance/target/target.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "conformance/watch/poll.hpp"
#include "reports/failure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace ipoib::conformance {
namespace {

struct WatchOptions {
    std::string source, events, metrics;
    double seconds = 0, interval = 0, rate = usual_sa_rate;
    std::string scenario = "default";
    std::vector<std::string> host_states;
    bool dry_run = false;
    unsigned threads = 0;
    KnowledgeOptions knowledge;
    ReportOptions report;
};

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

/// A file of lines, each there as soon as it is told.
class EventFile {
public:
    explicit EventFile(const std::string& path) : path_(path) {
        constexpr mode_t usual = 0666;
        auto file = open_output(path, O_WRONLY | O_APPEND, usual);
        if (!file.descriptor) throw Fault("--events " + path + ": " + file.problem);
        descriptor_ = std::move(file.descriptor);
    }
    void operator()(const std::string& line) {
        // A line is one write, so that who reads along sees whole ones.
        if (::write(descriptor_.value(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) || is_lost_)
            return;
        is_lost_ = true;
        complain("ipoib-conform", "--events " + path_ + " could not be written to its end");
    }
    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

private:
    std::string path_;
    Descriptor descriptor_;
    bool is_lost_ = false;
};

void refuse_what_is_not_there(const std::string& source) {
    std::error_code unknown;
    if (source == "-" || std::filesystem::exists(source, unknown) || unknown) return;
    throw UsageError("'" + source + "' is no file, no folder and no fabric (" + fabric_kinds().forms(FabricUse::audit) +
                     ')');
}

/// A fabric; a file of that name goes before it.
bool is_fabric(const std::string& source) {
    std::error_code unknown;
    return source != "-" && !std::filesystem::exists(source, unknown) && fabric_kinds().find(source, FabricUse::audit);
}

/// Where events and metrics go.
class Files {
public:
    explicit Files(const WatchOptions& options) : metrics_(options.metrics) {
        if (options.events == "-") {
            event = [](const std::string& line) { print(line, Notation::json); };
        } else if (!options.events.empty()) {
            events_ = std::make_shared<EventFile>(options.events);
            event = [events = events_](const std::string& line) { (*events)(line); };
        }
        if (metrics_.empty()) return;
        if (const auto why_not = why_not_writable(metrics_); !why_not.empty()) throw Fault("--metrics " + why_not);
        metrics = [this](const std::string& text) {
            const auto problem = write_atomically(metrics_, text);
            if (!problem.empty() && !is_lost_) complain("ipoib-conform", "--metrics " + problem);
            is_lost_ = !problem.empty();
        };
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    /// Something could not be written.
    [[nodiscard]] bool are_lost() const noexcept { return is_lost_ || (events_ && events_->is_lost()); }

    watch::Events::Sink event;
    std::function<void(const std::string&)> metrics;

private:
    std::string metrics_;
    std::shared_ptr<EventFile> events_;
    bool is_lost_ = false;
};

double interval_of(const WatchOptions& options, double usual) {
    return options.interval == 0 ? usual : options.interval;
}

int show(reports::Results& results, const WatchOptions& options, bool are_lost) {
    auto shown = options.report;
    shown.quiet = shown.quiet || options.events == "-";
    is_report_on_output() = options.events == "-";
    const auto code = report(results, shown, {});
    return are_lost ? exit_fault : code;
}

constexpr double usual_poll = 60, usual_look = 10;

int watch_fabric(const WatchOptions& options, const std::vector<std::string>& command) {
    if (!options.knowledge.assume.empty() || !options.knowledge.sa.empty() || options.knowledge.together)
        throw UsageError("--assume, --sa and --together are of captures; " + options.source + " is a fabric");
    if (options.threads != 0) throw UsageError("--threads is of captures; " + options.source + " is a fabric");
    if (options.interval != 0 && options.interval < 1)
        throw UsageError("--interval of a fabric is 1s and more: its administrator has others to answer");
    const auto interval = interval_of(options, usual_poll);
    auto hosts = host_states_of(options.host_states);
    if (options.dry_run) {
        print(audit_rehearsal(options.source, options.rate) +
              fmt::format("A survey would begin every {:g} s, and where one takes longer, the next at its end.\n",
                          interval));
        return exit_ok;
    }
    refuse_same_files({options.events == "-" ? std::string{} : options.events, options.metrics}, options.host_states);
    Target target{.fabric = options.source, .scenario = options.scenario};
    const auto place = told_apart([&] { return look_at(target); });
    auto& fabric = place->fabric();
    const auto pace = pace_of(fabric.loop(), options.rate);
    Files files{options};
    const bool prints = !options.report.quiet && options.events != "-";
    watch::PollPorts ports{
        .survey =
            [&] {
                return audit::survey(*fabric.ports().front(), fabric.abilities().has(fabric::Ability::trusted_sa),
                                     std::chrono::seconds{1}, {}, pace);
            },
        .wait =
            [&](std::chrono::milliseconds time) {
                // Where time is virtual, it passes for the fabric as it does here.
                const auto end = std::chrono::steady_clock::now() + time;
                constexpr std::chrono::milliseconds step{50};
                do {
                    const auto rest =
                        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
                    const auto part = std::clamp(rest, std::chrono::milliseconds{0}, step);
                    if (fabric.loop().is_virtual() && part.count() > 0) std::this_thread::sleep_for(part);
                    fabric.loop().run_for(part);
                } while (!fabric::Loop::stop_requested() && std::chrono::steady_clock::now() < end);
                return !fabric::Loop::stop_requested();
            },
        .now = now_ns,
        .event = files.event,
        .metrics = files.metrics,
        .fault = [](const std::string& problem) { complain("ipoib-conform", problem); }};
    if (prints)
        ports.violation = [](const reports::Result& result, const reports::Detail& detail) {
            print(fmt::format("{} {}: {} {}: {} is {}, expected {} ({} on {})\n", wall_time(now_ns()),
                              reports::name(result.verdict), result.checks.front(), result.title, detail.field,
                              detail.actual, detail.expected, detail.subject, detail.link));
        };
    for (const auto& note : hosts.notes) complain("ipoib-conform", note);
    stop_on_interrupt();
    const RunClock clock;
    watch::Poll poll{{.fabric = options.source,
                      .duration = milliseconds(options.seconds),
                      .interval = milliseconds(interval),
                      .hosts = std::move(hosts.hosts)},
                     std::move(ports)};
    auto outcome = poll.run();
    if (!outcome.inventory) throw Fault(outcome.error.empty() ? "no survey came to its end" : outcome.error);
    outcome.results.fabric = fabric.facts();
    for (auto* notes : {&hosts.notes, &outcome.notes})
        for (auto& note : *notes) outcome.results.fabric.emplace_back("note", std::move(note));
    outcome.results.fabric = each_once(outcome.results.fabric);
    clock.complete(outcome.results, options.report, command);
    return show(outcome.results, options,
                files.are_lost() || (!outcome.error.empty() && !fabric::Loop::stop_requested()));
}

int watch_captures(const WatchOptions& options) {
    refuse_what_is_not_there(options.source);
    if (!options.host_states.empty())
        throw UsageError("--host-state is of a watch of a fabric; links takes it beside a capture");
    if (options.dry_run || options.rate != usual_sa_rate || options.scenario != "default")
        throw UsageError("--dry-run, --rate and --scenario are of a fabric, whose administrator is asked");
    const bool prints_events = options.events == "-";
    refuse_same_files({prints_events ? std::string{} : options.events, options.metrics}, {options.source});
    watch::Options run{.source = options.source,
                       .duration = milliseconds(options.seconds),
                       .interval = milliseconds(interval_of(options, usual_look)),
                       .threads = options.threads,
                       .judge = judge_options(options.knowledge)};
    Files files{options};
    watch::Outlets outlets{.event = files.event, .metrics = files.metrics};
    if (!options.report.quiet && !prints_events)
        outlets.violation = [](const rules::Rule& rule, const reports::Detail& detail) {
            print(fmt::format("{} frame {}: {} {}: {} is {}, expected {} ({} on {}){}\n",
                              detail.time ? wall_time(detail.time) : std::string{}, detail.frame, rule.checks[0]->id,
                              rule.title, detail.field, detail.actual, detail.expected, detail.subject, detail.link,
                              reports::assumed_text(detail)));
        };
    stop_on_interrupt();
    watch::Watch watch{std::move(run), std::move(outlets)};
    auto results = watch.run();
    if (results.captures.front().packets == 0) {
        const auto& error = results.captures.front().error;
        complain("ipoib-conform", error.empty() ? options.source + " holds no frame" : error);
        return exit_usage;
    }
    return show(results, options, files.are_lost());
}

Action set_up_watch(CLI::App& command, const std::string&) {
    auto options = std::make_shared<WatchOptions>();
    command
        .add_option("SOURCE", options->source,
                    "A capture that is being written, a folder of such that take turns, '-' for standard input, or a "
                    "fabric whose subnet administrator is asked again and again: " +
                        fabric_kinds().help(FabricUse::audit))
        ->required()
        ->type_name("CAPTURE|DIR|-|FABRIC");
    command.add_option("--events", options->events, "One JSON object a line for what is new; '-' is standard output")
        ->type_name("FILE")
        ->check(not_empty());
    command.add_option("--metrics", options->metrics, "OpenMetrics text, replaced as a whole every --interval")
        ->type_name("FILE")
        ->check(not_empty());
    command.add_option("--for", options->seconds, "End after so much time: 90s, 10min, 1h; else by Ctrl-C")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::CASE_SENSITIVE))
        ->check(from_to(0.001, 1e9))
        ->type_name("TIME");
    command
        .add_option("--interval", options->interval,
                    "Between two looks at findings and metrics (10 s), or two surveys of a fabric (60 s)")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::CASE_SENSITIVE))
        ->check(from_to(0.01, 1e6))
        ->type_name("TIME");
    add_knowledge_options(command, options->knowledge, false);
    add_host_state_option(command, options->host_states);
    add_rate_option(command, options->rate);
    add_threads_option(command, options->threads);
    command.add_option("--scenario", options->scenario, "With simulated: how the link is set up")
        ->type_name("NAME")
        ->check(not_empty());
    command.add_flag("--dry-run", options->dry_run,
                     "Of a fabric: send nothing; tell what would be asked, and how fast");
    command.add_flag("--strict", options->report.strict, "Advice that is not kept counts as a failure");
    command.add_flag("--quiet", options->report.quiet, "Only failures and the counts at the end");
    add_color_options(command, options->report.color);
    command.footer(
        "Exit code: that of ipoib-conform check for what was judged, of a fabric that of ipoib-conform audit for the "
        "last "
        "survey; a watch that is stopped is no fault.");
    return [options, &command] {
        return is_fabric(options->source) ? watch_fabric(*options, words_of(command, {})) : watch_captures(*options);
    };
}

}  // namespace

namespace command {

extern const Command watch{.name = "watch",
                           .about =
                               "Go on judging: a capture that grows, rotated captures in a folder, a pipe, a subnet "
                               "administrator; events and metrics",
                           .set_up = set_up_watch};

}  // namespace command
}  // namespace ipoib::conformance

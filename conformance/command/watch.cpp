// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform watch: go on judging what is still being captured.
#include "conformance/watch/watch.hpp"
#include "base/atomic_file.hpp"
#include "base/clock_text.hpp"
#include "base/complain.hpp"
#include "base/output_path.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

namespace ipoib::conformance {
namespace {

struct WatchOptions {
    std::string source, events, metrics;
    double seconds = 0, interval = 10;
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
    throw UsageError("'" + source +
                     "' is no file or folder; the administrator of a fabric is asked by ipoib-conform audit");
}

int run_watch(const WatchOptions& options) {
    refuse_what_is_not_there(options.source);
    const bool prints_events = options.events == "-";
    refuse_same_files({prints_events ? std::string{} : options.events, options.metrics}, {options.source});
    watch::Options run{.source = options.source,
                       .duration = milliseconds(options.seconds),
                       .interval = milliseconds(options.interval),
                       .judge = judge_options(options.knowledge)};
    watch::Outlets outlets;
    std::shared_ptr<EventFile> events;
    if (!options.events.empty() && !prints_events) {
        events = std::make_shared<EventFile>(options.events);
        outlets.event = [events](const std::string& line) { (*events)(line); };
    } else if (prints_events) {
        outlets.event = [](const std::string& line) { print(line, Notation::json); };
    }
    bool is_lost = false;
    if (!options.metrics.empty()) {
        if (const auto why_not = why_not_writable(options.metrics); !why_not.empty())
            throw Fault("--metrics " + why_not);
        outlets.metrics = [&](const std::string& text) {
            const auto problem = write_atomically(options.metrics, text);
            if (!problem.empty() && !is_lost) complain("ipoib-conform", "--metrics " + problem);
            is_lost = !problem.empty();
        };
    }
    if (!options.report.quiet && !prints_events)
        outlets.violation = [](const rules::Rule& rule, const reports::Detail& detail) {
            print(fmt::format("{} frame {}: {} {}: {} is {}, expected {} ({} on {})\n",
                              detail.time ? wall_time(detail.time) : std::string{}, detail.frame, rule.checks[0]->id,
                              rule.title, detail.field, detail.actual, detail.expected, detail.subject, detail.link));
        };
    stop_on_interrupt();
    watch::Watch watch{std::move(run), std::move(outlets)};
    auto results = watch.run();
    if (results.captures.front().packets == 0) {
        const auto& error = results.captures.front().error;
        complain("ipoib-conform", error.empty() ? options.source + " holds no frame" : error);
        return exit_usage;
    }
    auto shown = options.report;
    shown.quiet = shown.quiet || prints_events;
    is_report_on_output() = prints_events;
    const auto code = report(results, shown, {});
    return is_lost || (events && events->is_lost()) ? exit_fault : code;
}

Action set_up_watch(CLI::App& command, const std::string&) {
    auto options = std::make_shared<WatchOptions>();
    command
        .add_option("SOURCE", options->source,
                    "A capture that is being written, a folder of such that take turns, or '-' for standard input")
        ->required()
        ->type_name("CAPTURE|DIR|-");
    command.add_option("--events", options->events, "One JSON object a line for what is new; '-' is standard output")
        ->type_name("FILE")
        ->check(not_empty());
    command.add_option("--metrics", options->metrics, "OpenMetrics text, replaced as a whole every --interval")
        ->type_name("FILE")
        ->check(not_empty());
    command.add_option("--for", options->seconds, "End after so much time: 90s, 10min, 1h; else by Ctrl-C")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::CASE_SENSITIVE))
        ->check(CLI::Range(0.001, 1e9))
        ->type_name("TIME");
    command.add_option("--interval", options->interval, "Between two looks at findings and metrics (10 s)")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}},
                                          CLI::AsNumberWithUnit::CASE_SENSITIVE))
        ->check(CLI::Range(0.01, 1e6))
        ->type_name("TIME");
    add_knowledge_options(command, options->knowledge, false);
    command.add_flag("--strict", options->report.strict, "Advice that is not kept counts as a failure");
    command.add_flag("--quiet", options->report.quiet, "Only failures and the counts at the end");
    command.add_flag("--no-color", options->report.no_color, "No colours");
    command.footer("Exit code: that of ipoib-conform check for what was judged; a watch that is stopped is no fault.");
    return [options] { return run_watch(*options); };
}

}  // namespace

namespace command {

extern const Command watch{
    .name = "watch",
    .about = "Go on judging: a capture that grows, rotated captures in a folder, a pipe; events and metrics",
    .set_up = set_up_watch};

}  // namespace command
}  // namespace ipoib::conformance

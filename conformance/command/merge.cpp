// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform merge: runs of many hosts in one report.
#include "reports/merge.hpp"
#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "generated/version.hpp"
#include "reports/file.hpp"
#include "reports/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <thread>

namespace ipoib::conformance {
namespace {

struct MergeOptions {
    std::vector<std::string> arguments;
    std::string list;
    ReportOptions report;
};

/// One file, and whose results it holds; without a host the file says so itself.
struct Source {
    std::string host, file;
};

bool is_there(const std::string& path) {
    std::error_code unknown;
    return path == "-" || std::filesystem::exists(path, unknown) || unknown;
}

/// "HOST=FILE", unless the whole is a file, or a path of which a folder has the "=".
Source source_of(const std::string& argument) {
    const auto sign = argument.find('=');
    const auto host = argument.substr(0, sign);
    if (sign == std::string::npos || host.find('/') != std::string::npos || is_there(argument)) return {{}, argument};
    if (host.empty() || printable(host, Lines::join) != host)
        throw UsageError(fmt::format("'{}' names no host before the '='", printable(argument)));
    if (sign + 1 == argument.size()) throw UsageError("'" + argument + "' names no file behind the '='");
    return {host, argument.substr(sign + 1)};
}

std::vector<Source> sources(const MergeOptions& options) {
    std::vector<Source> all;
    for (const auto& argument : options.arguments) all.push_back(source_of(argument));
    if (!options.list.empty()) {
        constexpr std::size_t longest_list = std::size_t{64} << 20U;
        const auto text = reports::read_whole(options.list, longest_list);
        if (!text) throw UsageError(text.error);
        std::string_view rest = *text;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            if (const auto line = rest.substr(0, end); !line.empty()) all.push_back(source_of(std::string(line)));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
    }
    if (all.empty()) throw UsageError("no results are named (run --json FILE writes them)");
    const auto inputs = std::ranges::count(all, "-", &Source::file) + (options.list == "-" ? 1 : 0);
    if (inputs > 1) throw UsageError("standard input can be read only once");
    return all;
}

/// What FILE.error says: whoever ran the suite knows why it ended early. Nothing when there is no such file.
std::optional<std::string> reason_beside(const std::string& file) {
    constexpr std::size_t longest_file = 65536, longest_reason = 400;
    const auto path = file + ".error";
    if (file == "-" || !is_there(path)) return std::nullopt;
    const auto text = reports::read_whole(path, longest_file);
    const auto reason = one_line(text ? *text : text.error, longest_reason);
    return reason.empty() ? path + " is there, but gives no reason" : reason;
}

/// What a file holds, or why it is none, and what its results left of a memory of their own.
struct Read {
    reports::Loaded<reports::Results> results;
    reports::ResultsMemory memory;
};

/// Files that are read ahead, one on each processor, and handed out in their order.
class Reading {
public:
    explicit Reading(const std::vector<Source>& all) : all_(all) { go_on(); }
    Read next() {
        auto read = ahead_.front().get();
        ahead_.pop_front();
        go_on();
        if (read.results && !memory_.take(read.memory))
            read.results = reports::Loaded<reports::Results>::failed(
                fmt::format("{}: with it there is more than results files of this size can hold",
                            printable(all_[begun_ - ahead_.size() - 1].file, Lines::join)));
        return read;
    }

private:
    void go_on() {
        const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
        while (ahead_.size() < most && begun_ < all_.size())
            ahead_.push_back(std::async(std::launch::async, [&file = all_[begun_++].file] {
                Read read;
                read.results = reports::read_json(file, read.memory);
                return read;
            }));
    }

    const std::vector<Source>& all_;
    std::size_t begun_ = 0;
    std::deque<std::future<Read>> ahead_;
    reports::ResultsMemory memory_;
};

void take(reports::Merger& merger, const Source& source, reports::Loaded<reports::Results> results) {
    const auto reason = reason_beside(source.file);
    if (!results && source.host.empty()) throw UsageError(results.error);
    if (!results) {
        auto why = reason.value_or("the file is missing");
        if (is_there(source.file)) why = (reason ? *reason + "; " : "") + results.error;
        return merger.fault(source.host, "no results: " + why);
    }
    std::vector<std::string> hosts;
    for (const auto& host : results->hosts) hosts.push_back(host.name);
    if (hosts.empty()) hosts.push_back(source.host.empty() ? results->host : source.host);
    if (const auto wrong = merger.add(source.host, std::move(*results), source.file); !wrong.empty())
        throw UsageError(wrong);
    if (reason)
        for (const auto& host : hosts) merger.fault(host, *reason);
}

reports::Results joined(const std::vector<Source>& all, const ReportOptions& options,
                        const std::vector<std::string>& command) {
    const RunClock clock;
    reports::Merger merger;
    Reading reading(all);
    for (const auto& source : all) take(merger, source, reading.next().results);
    auto results = merger.results(suite_version);
    const auto seconds = results.seconds;
    clock.complete(results, options, command);
    // When the first of the runs began, and how long all of them took.
    results.seconds = seconds;
    for (const auto& host : results.hosts)
        if (!host.started.empty()) results.started = std::min(results.started, host.started);
    return results;
}

int run_merge(const MergeOptions& options, const std::vector<std::string>& command) {
    const auto all = sources(options);
    std::vector<std::string> taken;
    taken.reserve(all.size() + 1);
    for (const auto& source : all) taken.push_back(source.file);
    if (!options.list.empty()) taken.push_back(options.list);
    refuse_overwriting(options.report, std::move(taken));
    const auto comparisons = load_comparisons(options.report);
    try_reports(options.report);
    auto results = joined(all, options.report, command);
    const auto exhibits = exhibits_for(options.report, results);
    return report(results, options.report, comparisons, exhibits);
}

Action set_up_merge(CLI::App& command, const std::string&) {
    auto options = std::make_shared<MergeOptions>();
    command
        .add_option("RESULTS", options->arguments,
                    "Results as JSON (run --json), also merged ones: FILE, whose host is the one it names, or "
                    "HOST=FILE; several files of one host, such as its shards, are one host. A HOST whose FILE is "
                    "missing or damaged is an ERROR of that host; FILE.error, a text beside it, says why")
        ->type_name("...");
    command.add_option("--list", options->list, "Take more of them from this file, one a line; '-': standard input")
        ->check(not_empty())
        ->type_name("FILE");
    add_report_options(command, options->report, "Kept in the report; merge itself uses no random numbers");
    command.footer(
        "Exit code: 3 an ERROR, a host without all its results, 1 a failure, 5 inconclusive, 4 nothing was judged on\n"
        "one of the hosts or on all, 0 nothing against any of them, 2 wrong usage or a FILE without HOST is "
        "unreadable.");
    return [options, &command] { return run_merge(*options, words_of(command, options->arguments)); };
}

}  // namespace

namespace command {

extern const Command merge{
    .name = "merge", .about = "Join the results of many hosts into one report", .set_up = set_up_merge};

}  // namespace command
}  // namespace ipoib::conformance

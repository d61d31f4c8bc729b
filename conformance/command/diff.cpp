// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform diff and baseline: what changed between two runs, and which failures are known.
#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/usage.hpp"
#include "reports/baseline.hpp"
#include "reports/compare.hpp"
#include "reports/json.hpp"

#include <fmt/format.h>

#include <set>

namespace ipoib::conformance {
namespace {

reports::Results load(const std::string& path) {
    auto loaded = reports::read_json(path);
    if (!loaded) throw UsageError(loaded.error);
    return std::move(*loaded);
}

/// What lost everything has lost the failures too: a run, or a host of a merged report.
std::vector<std::string> silent_in(const reports::Results& after, const reports::Results& before) {
    const auto judged_hosts = [](const reports::Results& results) {
        std::set<std::string_view> hosts;
        for (const auto& result : results.results)
            if (reports::judged(result)) hosts.insert(result.host);
        return hosts;
    };
    const auto then = judged_hosts(before), now = judged_hosts(after);
    std::vector<std::string> silent;
    if (now.empty() && !then.empty()) silent.emplace_back("the second run judged nothing");
    if (now.empty() || before.hosts.empty() || after.hosts.empty()) return silent;
    for (const auto host : then)
        if (!now.contains(host)) silent.push_back(fmt::format("{} judged nothing in the second run", printable(host)));
    return silent;
}

}  // namespace

void add_diff(CLI::App& program, int& exit_code) {
    struct Options {
        std::string before, after;
    };
    auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand("diff", "Compare two runs; exit code 1 when something is worse");
    command->add_option("BEFORE", options->before, "Results as JSON (check --json, merge --json)")
        ->required()
        ->type_name(" ");
    command->add_option("AFTER", options->after, "Results as JSON")->required()->type_name(" ");
    command->callback([options, &exit_code] {
        const auto before = load(options->before), after = load(options->after);
        const auto comparison = reports::compare(before, after);
        for (const auto& line : comparison.lines) fmt::print("{}\n", line);
        exit_code = reports::exit_code(comparison);
        for (const auto& line : silent_in(after, before)) {
            fmt::print("{}\n", line);
            exit_code = exit_worse;
        }
    });
}

void add_baseline(CLI::App& program, int& exit_code) {
    auto path = std::make_shared<std::string>();
    auto* command =
        program.add_subcommand("baseline", "Print a baseline with one entry per failure; fill the reasons in");
    command->add_option("RESULTS", *path, "Results as JSON (check --json)")->required()->type_name(" ");
    command->callback([path, &exit_code] {
        fmt::print("{}", reports::write_baseline(load(*path)));
        exit_code = exit_ok;
    });
}

}  // namespace ipoib::conformance

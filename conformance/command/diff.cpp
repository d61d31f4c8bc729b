// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform diff and baseline: what changed between two runs, and which failures are known.
#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
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

Action set_up_diff(CLI::App& command, const std::string&) {
    struct Options {
        std::string before, after;
    };
    auto options = std::make_shared<Options>();
    command.add_option("BEFORE", options->before, "Results as JSON (check --json, merge --json)")
        ->required()
        ->type_name(" ");
    command.add_option("AFTER", options->after, "Results as JSON")->required()->type_name(" ");
    return [options] {
        const auto before = load(options->before), after = load(options->after);
        const auto comparison = reports::compare(before, after);
        const auto silent = silent_in(after, before);
        std::string text;
        for (const auto* lines : {&comparison.lines, &silent})
            for (const auto& line : *lines) text += line + '\n';
        print(text);
        return silent.empty() ? reports::exit_code(comparison) : exit_worse;
    };
}

Action set_up_baseline(CLI::App& command, const std::string&) {
    auto path = std::make_shared<std::string>();
    command.add_option("RESULTS", *path, "Results as JSON (check --json)")->required()->type_name(" ");
    return [path] {
        print(reports::write_baseline(load(*path)), Notation::toml);
        return exit_ok;
    };
}

}  // namespace

namespace command {

extern const Command diff{
    .name = "diff", .about = "Compare two runs; exit code 1 when something is worse", .set_up = set_up_diff};

extern const Command baseline{.name = "baseline",
                              .about = "Print a baseline with one entry per failure; fill the reasons in",
                              .set_up = set_up_baseline};

}  // namespace command
}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform diff and baseline: what changed between two runs, and which failures are known.
#include "conformance/command/commands.hpp"
#include "conformance/command/usage.hpp"
#include "reports/baseline.hpp"
#include "reports/compare.hpp"
#include "reports/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance {
namespace {

reports::Results load(const std::string& path) {
    auto loaded = reports::read_json(path);
    if (!loaded) throw UsageError(loaded.error);
    return std::move(*loaded);
}

}  // namespace

void add_diff(CLI::App& program, int& exit_code) {
    struct Options {
        std::string before, after;
    };
    auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand("diff", "Compare two runs; exit code 1 when something is worse");
    command->add_option("BEFORE", options->before, "Results as JSON (check --json)")->required()->type_name(" ");
    command->add_option("AFTER", options->after, "Results as JSON")->required()->type_name(" ");
    command->callback([options, &exit_code] {
        const auto before = load(options->before), after = load(options->after);
        const auto comparison = reports::compare(before, after);
        for (const auto& line : comparison.lines) fmt::print("{}\n", line);
        exit_code = reports::exit_code(comparison);
        // A run that lost everything has lost the failures too.
        if (std::ranges::none_of(after.results, reports::judged) && comparison.gone > 0) {
            fmt::print("the second run judged nothing\n");
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

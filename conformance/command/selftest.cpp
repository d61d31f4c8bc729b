// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform selftest: whether every case passes the reference, and every mutant dies by what it breaks.
#include "conformance/engine/selftest.hpp"

#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/terminal.hpp"

#include <fmt/format.h>

namespace ipoib::conformance {
namespace {

struct Options {
    std::vector<std::string> selectors;
    std::uint64_t seed = 1;
    bool is_full = false;
};

int run_selftest(const Options& options) {
    const Selection selection{options.selectors};
    if (const auto wrong = selection.unmatched(selectable_cases()); wrong)
        throw UsageError("no case matches '" + *wrong + "' (ipoib-conform list)");
    SelftestRun run{.is_full = options.is_full, .cases = selected_cases(selection), .seed = options.seed};
    if (run.cases.empty()) throw UsageError("the selectors leave no case");
    StatusLine line;
    if (progress_is_seen())
        run.progress = [&](std::string_view mutant, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, mutant));
        };
    stop_on_interrupt();
    const auto outcome = selftest(run);
    line.clear();
    print(kill_matrix(outcome));
    return outcome.is_complete ? exit_ok : exit_worse;
}

}  // namespace

void add_selftest(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand(
        "selftest", "Judge the judge: the cases against the reference and its mutants, on the simulated fabric");
    command->add_option("SELECTOR", options->selectors, "Cases, as for run; none: all")->type_name("...");
    command->add_flag("--full", options->is_full,
                      "Every mutant against every case; else against those that check what it breaks");
    add_seed_option(*command, options->seed, "Where random numbers begin");
    command->footer(
        "Exit code: 0 complete, 1 a mutant survives, a case kills none, or a reference fails, 2 wrong usage.");
    command->callback([options, &exit_code] { exit_code = run_selftest(*options); });
}

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform selftest: whether every case passes the reference, and every mutant dies by what it breaks.
#include "conformance/selftest/selftest.hpp"

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/metamorphic.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/recall.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/documents/pages.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "generated/version.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ipoib::conformance {
namespace {

constexpr unsigned most_shuffles = 1000;

struct SelftestOptions {
    std::vector<std::string> selectors;
    std::string json, markdown, pages;
    std::uint64_t seed = 1;
    bool is_full = false;
    unsigned shuffles = 2;
    MetamorphicOptions metamorphic{};
    RecallOptions recall{};
};

/// In the order of the ids, and in so many others; the seeds count on from that of the run.
std::vector<Order> orders_of(const SelftestOptions& options) {
    if (!options.is_full) return {};
    std::vector<Order> orders{Order{}};
    for (unsigned i = 0; i < options.shuffles; ++i) orders.push_back({options.seed + i});
    return orders;
}

/// Writes what was asked for; whether all could be.
bool write_reports(const SelftestOptions& options, const SelftestOutcome& outcome, const CaseStories& stories) {
    std::vector<std::function<std::string()>> writers;
    const auto add = [&](const std::filesystem::path& file, const std::string& text) {
        writers.emplace_back([file, text] { return write_atomically(file, text); });
    };
    if (!options.json.empty()) add(options.json, printable_json(kill_matrix_json(outcome, suite_version)));
    if (!options.markdown.empty()) add(options.markdown, kill_matrix_page(outcome));
    // Half a selftest would tell half of each case.
    if (!options.pages.empty() && !fabric::Loop::stop_requested())
        for (const auto& page : case_pages(outcome, stories))
            add(std::filesystem::path(options.pages) / page.file, page.text);
    return write_each(writers);
}

int run_selftest(const SelftestOptions& options) {
    refuse_same_files({options.json, options.markdown}, {});
    make_folder_for("pages", options.pages, "README.md");
    if (!options.pages.empty() && !options.selectors.empty())
        throw UsageError("--pages tells of all cases: it goes with no selector");
    const Selection selection{options.selectors};
    if (const auto wrong = selection.unmatched(selectable_cases()); wrong)
        throw UsageError("no case matches '" + *wrong + "'" + nearest_selector(*wrong, selectable_cases()) +
                         " (ipoib-conform list)");
    SelftestRun run{.is_full = options.is_full,
                    .cases = selected_cases(selection),
                    .seed = options.seed,
                    .lasting = orders_of(options)};
    if (run.cases.empty()) throw UsageError("the selectors leave no case");
    require_path({options.json, options.markdown});
    StatusLine line;
    if (progress_is_seen())
        run.progress = [&](std::string_view mutant, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, mutant));
        };
    CaseStories stories;
    if (!options.pages.empty())
        run.witness = [&](const Mutant* mutant, const Case& one, const Recorder& recorder,
                          const reports::Result& result) { stories.take(mutant, one, recorder, result); };
    stop_on_interrupt();
    const auto outcome = selftest(run);
    line.clear();
    print(kill_matrix(outcome));
    if (!write_reports(options, outcome, stories)) return exit_fault;
    return outcome.is_complete ? exit_ok : exit_worse;
}

int run_any(const SelftestOptions& options) {
    const auto& metamorphic = options.metamorphic;
    if (options.recall.is_asked)
        return run_recall(options.recall, {metamorphic.frames, options.markdown, metamorphic.not_below},
                          options.selectors, options.seed);
    if (metamorphic.is_asked) {
        if (!options.markdown.empty()) throw UsageError("--markdown goes with no --metamorphic: see --decisiveness");
        return run_metamorphic(metamorphic, options.selectors, options.seed);
    }
    if (!metamorphic.frames.empty() || !metamorphic.not_below.empty())
        throw UsageError("--frames and --not-below go with --metamorphic or --recall");
    return run_selftest(options);
}

Action set_up_selftest(CLI::App& command, const std::string&) {
    auto options = std::make_shared<SelftestOptions>();
    command
        .add_option("SELECTOR", options->selectors,
                    "Cases, as for run; none: all. With --metamorphic: captures, besides what there is. With --recall: "
                    "situations; none: all")
        ->type_name("...");
    command.add_flag("--full", options->is_full,
                     "Every mutant against every case, with a new DUT for each, and with one DUT for all; else against "
                     "those that check what it breaks");
    command
        .add_option("--shuffles", options->shuffles,
                    "With --full: with one DUT for all cases, in so many shuffled orders beside the declared one")
        ->check(from_to(0u, most_shuffles))
        ->type_name("N");
    command.add_option("--json", options->json, "Write the kill matrix as JSON")->check(not_empty())->type_name("FILE");
    command.add_option("--markdown", options->markdown, "Write it as a page")->check(not_empty())->type_name("FILE");
    command.add_option("--pages", options->pages, "Write a page for each case into a folder")
        ->check(not_empty())
        ->type_name("DIR");
    add_seed_option(command, options->seed, "Where random numbers begin");
    add_metamorphic_options(command, options->metamorphic);
    add_recall_options(command, options->recall);
    command
        .add_option("--frames", options->metamorphic.frames,
                    "With --metamorphic or --recall: write the frames of each broken relation, or of each violation "
                    "that is not found, into a folder")
        ->check(not_empty())
        ->type_name("DIR");
    command
        .add_option(
            "--not-below", options->metamorphic.not_below,
            "With --metamorphic or --recall: a file that --decisiveness or --floor has written: less than there "
            "fails")
        ->check(not_empty())
        ->type_name("FILE");
    command.footer(
        "Exit code: 0 complete, 1 a mutant survives, a case kills none, a reference fails, a relation is broken, a "
        "legal "
        "capture is accused, or less is found than --not-below says, 2 wrong usage.");
    return [options] { return run_any(*options); };
}

}  // namespace

namespace command {

extern const Command selftest{
    .name = "selftest",
    .about = "Judge the judge: the cases against the reference and its mutants, on the simulated fabric",
    .set_up = set_up_selftest};

}  // namespace command
}  // namespace ipoib::conformance

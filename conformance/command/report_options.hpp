// SPDX-License-Identifier: GPL-2.0-or-later
// What every command that judges has in common: the options of its reports, and how they are written.
#pragma once

#include "reports/baseline.hpp"
#include "reports/format.hpp"
#include "reports/results.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// A report of one format.
struct ReportFile {
    const reports::Format* format;
    std::string path;     ///< empty: none is asked for
    std::string setting;  ///< of the format's own option
};

struct ReportOptions {
    std::vector<ReportFile> files = one_of_each();
    std::string expect, compare;
    std::vector<std::string> reported_as;  ///< the command line that reports name; empty: that of this program
    bool strict = false, quiet = false;
    std::string color = "auto";  ///< "auto", "always", "never"
    std::uint64_t seed = 1;

    /// One for each format, in their order.
    [[nodiscard]] static std::vector<ReportFile> one_of_each();
    /// Whether a report is asked for that shows packets and earlier runs.
    [[nodiscard]] bool is_illustrated() const;
};

/// Refuses "" as a file name.
[[nodiscard]] CLI::Validator not_empty();

/// `seed` tells what the seed means to this command.
void add_report_options(CLI::App& command, ReportOptions& options, const std::string& seed);
/// "--seed", alone.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& description);

/// Throws UsageError where an output would replace what is taken otherwise, or another output. Empty ones are none.
void refuse_same_files(const std::vector<std::string>& outputs, std::vector<std::string> taken);
/// Throws UsageError where a report would replace what is read or written otherwise, or another report.
void refuse_overwriting(const ReportOptions& options, std::vector<std::string> taken);

using Facts = std::vector<std::pair<std::string, std::string>>;
/// Each name once, as in an object of JSON; several texts of one name are one, with "; " between them.
[[nodiscard]] Facts each_once(const Facts& facts);

/// Before the work begins: tells of each report that cannot be written.
void try_reports(const ReportOptions& options);
/// The same before a run: throws Fault where none of those asked for can be written.
void require_report(const ReportOptions& options);

/// Makes a folder for what is written there, if one was named. Throws UsageError where there is none afterwards, or a
/// file of that name cannot be written into it. `what`: "evidence".
void make_folder_for(std::string_view what, const std::string& path, std::string_view file);
inline void make_evidence_folder(const std::string& path) { make_folder_for("evidence", path, "evidence.pcapng"); }

/// The command line as the reports keep it: the arguments, then the options in the order of the help.
[[nodiscard]] std::vector<std::string> words_of(const CLI::App& command, const std::vector<std::string>& arguments);

/// When a run began; completes what every report tells of a run.
class RunClock {
public:
    RunClock();
    void complete(reports::Results& results, const ReportOptions& options, std::vector<std::string> command) const;

private:
    std::string started_;
    std::chrono::steady_clock::time_point begin_;
};

/// Which definition of its rule or case each result is of.
void add_revisions(reports::Results& results);

/// What proves the judge that gave them; a merged report has what its hosts' results tell.
void add_proofs(reports::Results& results);

/// What is compared with a run, read before it begins.
struct Comparisons {
    std::optional<reports::Baseline> baseline;  ///< --expect
    std::optional<reports::Results> earlier;    ///< --compare
};
/// The ids that a baseline may name: of requirements; of rules and cases.
[[nodiscard]] reports::KnownIds known_ids();

/// Throws UsageError when a file cannot be read.
[[nodiscard]] Comparisons load_comparisons(const ReportOptions& options);

/// What --max-failures counts: a FAIL, or a WARN with --strict, that no baseline excuses. Both must live longer.
[[nodiscard]] std::function<bool(const reports::Result&, const reports::Results&)> counted_failures(
    const ReportOptions& options, const Comparisons& comparisons);

/// What illustrated reports show of the findings, also after an interrupt; nothing where none is asked for.
[[nodiscard]] std::vector<reports::Exhibit> exhibits_for(const ReportOptions& options, const reports::Results& results);

/// What was kept only for the report has no place in the results.
void forget_evidence(reports::Results& results);

/// Applies --strict and the baseline, rolls up, writes the reports, prints the table where no report takes its place;
/// the exit code, which is 3 when a report could not be written. `exhibits` are for illustrated reports.
[[nodiscard]] int report(reports::Results& results, const ReportOptions& options, const Comparisons& comparisons,
                         const std::vector<reports::Exhibit>& exhibits = {});

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Reports as the command line asks for them.
#include "conformance/command/report_options.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "base/nearest.hpp"
#include "base/output_path.hpp"
#include "conformance/audit/rule.hpp"
#include "conformance/bench/case.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/proofs.hpp"
#include "conformance/command/revisions.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/exhibits/exhibits.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/capture/reader.hpp"
#include "generated/version.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "reports/json.hpp"
#include "reports/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace ipoib::conformance {
namespace {

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

std::chrono::year_month_day today() { return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()); }

std::vector<std::string> paths_of(const ReportOptions& options) {
    std::vector<std::string> paths;
    for (const auto& file : options.files) paths.push_back(file.path);
    return paths;
}

/// Writes the reports that were asked for; whether all could be.
bool write_reports(const reports::Results& results, const ReportOptions& options, const reports::Extras& extras) {
    std::vector<std::function<std::string()>> writers;
    for (const auto& file : options.files)
        if (!file.path.empty())
            writers.emplace_back(
                [&] { return reports::write_report(*file.format, file.path, results, extras, file.setting); });
    return write_each(writers);
}

void add_format(CLI::App& command, ReportFile& file) {
    const std::string group = "Reports";
    command.add_option("--" + std::string(file.format->name), file.path, std::string(file.format->help))
        ->check(not_empty())
        ->type_name("FILE")
        ->group(group);
    const auto& setting = file.format->setting;
    if (!setting) return;
    const std::vector<std::string> choices{setting->choices.begin(), setting->choices.end()};
    command.add_option("--" + std::string(setting->option), file.setting, std::string(setting->help))
        ->check(one_of(choices))
        ->type_name("NAME")
        ->group(group);
}

/// "--html", of the formats that are illustrated.
std::string illustrated_options() {
    std::string names;
    for (const auto* format : reports::formats())
        if (format->is_illustrated) names += (names.empty() ? "--" : " or --") + std::string(format->name);
    return names;
}

}  // namespace

void add_revisions(reports::Results& results) {
    if (!results.hosts.empty()) return;
    for (auto& result : results.results) {
        const auto found = std::ranges::find(revisions(), result.id, &Revision::id);
        if (found != revisions().end()) result.revision = found->number;
    }
}

void add_proofs(reports::Results& results) {
    if (!results.hosts.empty()) return;
    results.proofs.assign(proofs().begin(), proofs().end());
}

CLI::Validator not_empty() {
    return CLI::Validator{[](std::string& value) { return value.empty() ? "is empty" : std::string{}; }, ""};
}

std::vector<ReportFile> ReportOptions::one_of_each() {
    std::vector<ReportFile> all;
    for (const auto* format : reports::formats()) all.push_back({.format = format, .path = {}, .setting = {}});
    return all;
}

bool ReportOptions::is_illustrated() const {
    return std::ranges::any_of(
        files, [](const ReportFile& file) { return file.format->is_illustrated && !file.path.empty(); });
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& description) {
    constexpr double most_seed = 9007199254740992;  // 2^53: what every JSON reader keeps
    command.add_option("--seed", seed, description)->check(from_to(0.0, most_seed))->type_name("N");
}

void add_report_options(CLI::App& command, ReportOptions& options, const std::string& seed) {
    for (auto& file : options.files) add_format(command, file);
    command.add_option("--expect", options.expect, "Baseline of known failures")
        ->check(not_empty())
        ->type_name("BASELINE.toml");
    command
        .add_option("--compare", options.compare,
                    "An earlier run (its --json), with which " + illustrated_options() + " compares")
        ->check(not_empty())
        ->type_name("RESULTS.json");
    command.add_flag("--strict", options.strict, "A SHOULD that is not met is a failure");
    add_seed_option(command, options.seed, seed);
    command.add_flag("--quiet", options.quiet, "Only failures and the summary");
    add_color_options(command, options.color);
    command
        .add_option("--reported-as", options.reported_as,
                    "For programs that call this one: a word of the command line that reports name; once for each word")
        ->allow_extra_args(false)
        ->type_name("WORD");
}

/// Devices and pipes may be named twice, but for standard output: two reports in one cannot be read.
void refuse_same_files(const std::vector<std::string>& outputs, std::vector<std::string> taken) {
    const auto is_same = [](const std::string& a, const std::string& b) {
        std::error_code none;
        if (std::filesystem::exists(a, none) && !std::filesystem::is_regular_file(a, none) &&
            !std::filesystem::is_directory(a, none))
            return false;
        const auto absolute = [&](const std::string& path) {
            // A name that does not exist yet stays as relative as it is.
            return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none);
        };
        return std::filesystem::equivalent(a, b, none) || absolute(a) == absolute(b);
    };
    std::string on_output;
    for (const auto& output : outputs) {
        if (output.empty()) continue;
        if (is_standard_output(output)) {
            if (!on_output.empty())
                throw UsageError(fmt::format("{} and {} are both standard output", on_output, output));
            on_output = output;
        }
        if (output == "-") throw UsageError("a report needs a file name; /dev/stdout is standard output");
        for (const auto& other : taken)
            if (is_same(output, other)) throw UsageError(output + " would be overwritten");
        taken.push_back(output);
    }
}

void refuse_overwriting(const ReportOptions& options, std::vector<std::string> taken) {
    for (const auto& read : {options.expect, options.compare})
        if (!read.empty()) taken.push_back(read);
    refuse_same_files(paths_of(options), std::move(taken));
}

Facts each_once(const Facts& facts) {
    Facts single;
    for (const auto& [name, text] : facts) {
        const auto known = std::ranges::find(single, name, &Facts::value_type::first);
        if (known == single.end())
            single.emplace_back(name, text);
        else
            known->second += "; " + text;
    }
    return single;
}

void try_reports(const ReportOptions& options) { static_cast<void>(try_paths(paths_of(options))); }
void require_report(const ReportOptions& options) { require_path(paths_of(options)); }

void make_folder_for(std::string_view what, const std::string& path, std::string_view file) {
    if (path.empty()) return;
    auto problem = make_output_folder(path);
    if (problem.empty()) problem = why_not_writable(std::filesystem::path(path) / file);
    if (!problem.empty()) throw UsageError(path + " is no folder for the " + std::string(what) + ": " + problem);
}

reports::KnownIds known_ids() {
    const auto requirement = [](std::string_view id) -> std::optional<std::string> {
        if (requirements::find(id)) return std::nullopt;
        return did_you_mean(id, requirements::all(), [](const auto* one) { return one->id; });
    };
    const auto judge = [](std::string_view id) -> std::optional<std::string> {
        if (find_case(id) || rules::find(id) || audit::find(id)) return std::nullopt;
        Nearest nearest{id};
        for (const auto* one : all_cases()) nearest.offer(one->id);
        for (const auto& one : rules::all()) nearest.offer(one.id);
        for (const auto& one : audit::rules()) nearest.offer(one.id);
        return nearest.question();
    };
    return {.requirement = requirement, .judge = judge};
}

std::function<bool(const reports::Result&, const reports::Results&)> counted_failures(const ReportOptions& options,
                                                                                      const Comparisons& comparisons) {
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    return [&options, &comparisons, today](const reports::Result& one, const reports::Results& of) {
        if (one.verdict != reports::Verdict::fail && one.verdict != reports::Verdict::warn) return false;
        reports::Results alone;
        alone.dut = of.dut;
        alone.results.push_back(one);
        if (options.strict) reports::apply_strict(alone);
        if (comparisons.baseline) (void)reports::apply(alone, *comparisons.baseline, today);
        return alone.results.front().verdict == reports::Verdict::fail;
    };
}

Comparisons load_comparisons(const ReportOptions& options) {
    Comparisons comparisons;
    const auto load = [](const std::string& file, auto read, auto& into) {
        if (file.empty()) return;
        auto loaded = read(file);
        if (!loaded) throw UsageError(loaded.error);
        into = std::move(*loaded);
    };
    if (!options.compare.empty() && !options.is_illustrated())
        throw UsageError("--compare is for a report that shows it: " + illustrated_options() +
                         " is missing (see also: ipoib-conform diff)");
    load(
        options.expect, [](const std::string& file) { return reports::load_baseline(file, known_ids()); },
        comparisons.baseline);
    load(
        options.compare, [](const std::string& file) { return reports::read_json(file); }, comparisons.earlier);
    return comparisons;
}

std::vector<std::string> words_of(const CLI::App& command, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"ipoib-conform", command.get_name()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    for (const auto* option : command.get_options())
        if (option->count() && !option->get_lnames().empty()) {
            words.push_back("--" + option->get_lnames().front());
            if (option->get_items_expected_min() > 0)
                words.insert(words.end(), option->results().begin(), option->results().end());
        }
    return words;
}

RunClock::RunClock() : started_(utc_now()), begin_(std::chrono::steady_clock::now()) {}

void RunClock::complete(reports::Results& results, const ReportOptions& options,
                        std::vector<std::string> command) const {
    add_revisions(results);
    add_proofs(results);
    results.suite = suite_version;
    results.command = std::move(command);
    if (!options.reported_as.empty()) results.command = options.reported_as;
    results.seed = options.seed;
    results.started = started_;
    results.host = host_name();
    results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::vector<reports::Exhibit> exhibits_for(const ReportOptions& options, const reports::Results& results) {
    if (!options.is_illustrated()) return {};
    capture::clear_stop();
    return exhibits_of(results);
}

void forget_evidence(reports::Results& results) {
    results.captures.clear();
    for (auto& result : results.results) {
        result.evidence.clear();
        result.capture = 0;
        for (auto& detail : result.details) detail.capture = 0;
    }
}

int report(reports::Results& results, const ReportOptions& options, const Comparisons& comparisons,
           const std::vector<reports::Exhibit>& exhibits) {
    if (options.strict) reports::apply_strict(results);
    std::vector<std::string> remarks;
    if (comparisons.baseline) remarks = reports::apply(results, *comparisons.baseline, today());
    reports::roll_up(results, catalogue_for_reports());
    const bool is_all_written = write_reports(results, options,
                                              {.exhibits = exhibits,
                                               .baseline = options.expect,
                                               .remarks = remarks,
                                               .earlier = comparisons.earlier ? &*comparisons.earlier : nullptr,
                                               .earlier_file = options.compare});
    auto text = reports::to_table(
        results, {.colour = is_coloured(options.color), .quiet = options.quiet, .width = output_width()});
    for (const auto& remark : remarks) text += "note: " + remark + '\n';
    print(text);
    if (is_report_on_output())
        for (const auto& remark : remarks) complain("ipoib-conform", "note: " + remark);
    return is_all_written ? reports::exit_code(results) : exit_fault;
}

}  // namespace ipoib::conformance

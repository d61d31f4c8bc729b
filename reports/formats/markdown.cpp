// SPDX-License-Identifier: GPL-2.0-or-later
// What a person wants to know first: is it well, and if not, what is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/failure.hpp"
#include "reports/format.hpp"
#include "reports/junit_suites.hpp"
#include "reports/markdown.hpp"
#include "reports/matrix.hpp"
#include "reports/suspicions.hpp"

namespace ipoib::reports::format {
using namespace markdown;

namespace {

constexpr std::size_t told_in_full = 40, told_by_id = 500, violations_told = 5, longest_text = 1500;
constexpr std::array wrong{Verdict::fail, Verdict::xpass, Verdict::error, Verdict::inconc, Verdict::warn};

std::string cell(std::string_view text) { return plain(one_line(text, longest_text)); }

std::string heading(const Results& results) {
    return "## IP over InfiniBand conformance\n\n" + cell(called(results)) + "\n\n";
}

std::string counts(const Results& results, const std::vector<Result>& lost) {
    std::string names = "|", lines = "|", numbers = "|";
    for (const auto verdict : all_verdicts) {
        const auto of = [&](const Result& one) { return one.verdict == verdict; };
        const auto count = std::ranges::count_if(results.results, of) + std::ranges::count_if(lost, of);
        if (count == 0) continue;
        names += fmt::format(" {} |", name(verdict));
        lines += "---|";
        numbers += fmt::format(" {} |", count);
    }
    return numbers.size() == 1 ? "Nothing was judged.\n\n" : names + '\n' + lines + '\n' + numbers + "\n\n";
}

std::string facts(std::string_view of, const std::vector<std::pair<std::string, std::string>>& facts) {
    const auto text = facts_text(facts);
    return text.empty() ? text : fmt::format("{}: {}\n\n", of, cell(text));
}

/// Who is well, who is not, and what they do not keep.
std::string hosts(const Results& results) {
    constexpr std::size_t most_alone = 50, most_rows = 100, longest_cell = 400;
    const auto short_cell = [](std::string_view text) { return cell(clipped(text, longest_cell)); };
    const auto found = matrix(results);
    auto text = head({"verdict", "hosts", "results"});
    std::size_t rows = 0, untold = 0;
    for (const auto& [verdict, faults, some] : groups(results, most_alone)) {
        if (++rows > most_rows) {
            untold += some.size();
            continue;
        }
        auto what = results.hosts.size() > most_alone ? fmt::format("{} hosts", some.size())
                                                      : counted(found.counts[some.front()]);
        if (!faults.empty()) what += (what.empty() ? "" : "; ") + faults;
        text += row({name(verdict), short_cell(named(results, some)), short_cell(what)});
    }
    if (untold > 0) text += fmt::format("\nAnd {} more hosts.\n", untold);
    std::string differing;
    for (const auto& one : found.rows)
        if (!one.is_well())
            differing += row(
                {name(one.worst()), cell(results.requirements[one.requirement].id), short_cell(where(results, one))});
    if (!differing.empty()) differing = "\n" + head({"verdict", "requirement", "where"}) + differing;
    return text + differing + "\n";
}

/// What is wrong, and where.
struct Wrong {
    const Result* result;
    std::string name, where;
};

/// The worst first; what is wrong on many hosts once, and a host without results not again.
std::vector<Wrong> all_wrong(const Results& results, const std::vector<Suite>& suites) {
    std::vector<Wrong> all;
    for (const auto verdict : wrong) {
        std::map<const Result*, Hosts> told;
        for (auto& [result, on] : findings(results, verdict)) told.emplace(result, std::move(on));
        for (const auto& suite : suites)
            for (const auto& one : suite.cases) {
                if (one.result->verdict != verdict) continue;
                const auto found = told.find(one.result);
                if (!suite.host)
                    all.push_back({one.result, one.name, suite.capture ? "in " + suite.capture->file : std::string{}});
                else if (found != told.end())
                    all.push_back(
                        {one.result, one.result->id + " " + one.result->title, on_hosts(results, found->second)});
                else if (one.result->id == "CAPTURE")
                    all.push_back({one.result, one.name, "in " + results.captures[one.result->capture].file});
            }
    }
    return all;
}

std::string finding(const Results& results, const Requirements& requirements, const Wrong& one) {
    const auto& result = *one.result;
    auto text = fmt::format("### {} {}\n\n", verdict_name(result), cell(one.name));
    if (!one.where.empty()) text += cell(one.where) + "\n\n";
    auto lines = clipped(printable(explanation(results, requirements, result, violations_told)), longest_text);
    text += "```\n";
    // A fence in it would end the block.
    for (std::size_t at = 0; (at = lines.find("```", at)) != std::string::npos;) lines.replace(at, 3, "'''");
    text += lines + (lines.ends_with('\n') ? "" : "\n") + "```\n\n";
    if (!result.repeat.empty()) text += "Repeat: " + cell(result.repeat) + "\n\n";
    return text;
}

/// What is not decided for a doubt.
std::string suspicions(const Results& results) {
    const auto groups = groups_of(results.suspicions, results.captures);
    std::string text;
    for (std::size_t i = 0; i < std::min(groups.size(), suspicions_shown); ++i) {
        const auto& one = groups[i];
        text += fmt::format("### Suspicion: {}\n\n", cell(one.head));
        for (const auto& frame : one.frames) text += "- " + cell(frame) + "\n";
        text += "\n" + cell(one.innocent) + "\n\n";
        if (!one.command.empty()) text += "Settled by: " + cell(one.command) + "\n\n";
        text += (one.command.empty() ? "Settled by: " : "Or by: ") + cell(one.settled_by) + "\n\n";
    }
    if (const auto rest = rest_of(groups); !rest.empty()) text += "And " + rest + ".\n\n";
    return text;
}

/// How much was judged, a count of each verdict, and what is wrong: the first findings in full, the rest by their ids.
/// Never more than what a job may show (GitHub: 1 MiB).
std::string to_job_summary(const Results& results) {
    const auto lost = faults(results);
    const auto suites = suites_of(results, lost, "ipoib-conform");
    const Requirements requirements(results);
    auto text = heading(results) + facts("Fabric", results.fabric) + facts("DUT", results.dut);
    if (!results.requirements.empty()) text += cell(coverage_sentence(results)) + "\n\n";
    text += counts(results, lost);
    if (!results.hosts.empty()) text += hosts(results);
    std::size_t told = 0;
    std::string rest;
    for (const auto& one : all_wrong(results, suites)) {
        if (is_suspicion(results, *one.result)) continue;
        ++told;
        if (told <= told_in_full)
            text += finding(results, requirements, one);
        else if (told <= told_in_full + told_by_id)
            rest += fmt::format("- {} {}\n", verdict_name(*one.result), cell(one.name));
    }
    if (!rest.empty()) text += fmt::format("And {} more:\n\n{}", told - told_in_full, rest);
    if (told > told_in_full + told_by_id) text += fmt::format("- and {} others\n", told - told_in_full - told_by_id);
    return text + suspicions(results);
}

}  // namespace

extern const Format markdown{.name = "markdown",
                             .help = "Write a page for the summary of a CI job",
                             .documents = [](const Material& of) { return std::vector{to_job_summary(of.results)}; }};

}  // namespace ipoib::reports::format

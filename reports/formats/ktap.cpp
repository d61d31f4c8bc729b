// SPDX-License-Identifier: GPL-2.0-or-later
// KTAP version 1, as the kernel's CI reads it: Documentation/dev-tools/ktap.rst of Linux. A subtest for each section.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/one_line.hpp"
#include "reports/failure.hpp"
#include "reports/format.hpp"
#include "reports/junit_suites.hpp"

namespace ipoib::reports::format {
namespace {

constexpr std::size_t longest_line = 500, violations_told = 10;

/// One line. Readers end a name at "#" and know no way to write one.
std::string plain(std::string_view text) {
    auto line = one_line(text, longest_line);
    std::ranges::replace(line, '#', '_');
    return line;
}

/// Stands before the line of the test that it is about.
std::string diagnostics(std::string_view indent, std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines += fmt::format("{}# {}\n", indent, one_line(text.substr(0, end), longest_line));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

bool is_ok(const Result& result) {
    const auto outcome = outcome_of(result.verdict);
    return outcome == Outcome::passed || outcome == Outcome::skipped;
}

std::string directive(const Result& result) {
    if (result.verdict == Verdict::na) return " # SKIP " + plain(why_not_judged(result));
    if (result.verdict == Verdict::xfail)
        return " # XFAIL " + plain(result.reference.empty() ? message_of(result) : result.reference);
    if (result.verdict == Verdict::error) return " # ERROR";
    return {};
}

/// The cases of one class of a suite, in their order.
struct Group {
    std::string name;
    std::vector<const TestCase*> cases;
};

std::vector<Group> groups_of(const std::vector<Suite>& suites) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;
    for (const auto& suite : suites)
        for (const auto& one : suite.cases) {
            const auto name = plain(suites.size() > 1 ? suite.name + ": " + one.class_name : one.class_name);
            const auto [place, is_new] = places.emplace(name, groups.size());
            if (is_new) groups.push_back({name, {}});
            groups[place->second].cases.push_back(&one);
        }
    return groups;
}

std::string to_ktap(const Results& results) {
    constexpr std::string_view indent = "  ";
    const auto lost = cases_besides(results);
    const auto suites = suites_of(results, lost, "ipoib-conform");
    const auto groups = groups_of(suites);
    const Requirements requirements(results);
    auto text = "KTAP version 1\n" +
                (groups.empty() ? "1..0 # SKIP nothing was judged\n" : fmt::format("1..{}\n", groups.size()));
    text += diagnostics("", coverage_sentence(results));
    std::size_t number = 0;
    for (const auto& group : groups) {
        text +=
            fmt::format("{0}KTAP version 1\n{0}# Subtest: {1}\n{0}1..{2}\n", indent, group.name, group.cases.size());
        std::size_t within = 0;
        for (const auto* one : group.cases) {
            const auto& result = *one->result;
            if (is_finding(result))
                text += diagnostics(indent, "FINDING: " + result.message);
            else if (!is_ok(result) || result.verdict == Verdict::warn)
                text += diagnostics(
                    indent, verdict_name(result) + ": " + explanation(results, requirements, result, violations_told));
            text += fmt::format("{}{}ok {} {}{}\n", indent, is_ok(result) ? "" : "not ", ++within, plain(one->name),
                                directive(result));
        }
        const bool all_are = std::ranges::all_of(group.cases, [](const auto* one) { return is_ok(*one->result); });
        const bool none_was =
            std::ranges::all_of(group.cases, [](const auto* one) { return one->result->verdict == Verdict::na; });
        text += fmt::format("{}ok {} {}{}\n", all_are ? "" : "not ", ++number, group.name,
                            none_was ? " # SKIP nothing of it was judged" : "");
    }
    return text;
}

}  // namespace

extern const Format ktap{.name = "ktap",
                         .help = "Write KTAP 1, for the kernel's CI",
                         .documents = [](const Material& of) { return std::vector{to_ktap(of.results)}; }};

}  // namespace ipoib::reports::format

// SPDX-License-Identifier: GPL-2.0-or-later
// testanything.org, version 13; Documentation/dev-tools/ktap.rst of Linux.
#include <fmt/format.h>

#include "base/one_line.hpp"
#include "reports/failure.hpp"
#include "reports/format.hpp"
#include "reports/junit_suites.hpp"

namespace ipoib::reports::format {
namespace {

constexpr std::size_t longest_line = 500, violations_told = 10;

/// One line in which "#" begins no directive.
std::string description(std::string_view text) {
    std::string escaped;
    for (const char c : one_line(text, longest_line)) {
        if (c == '#' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string diagnostics(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines += "# " + one_line(text.substr(0, end), longest_line) + "\n";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// Behind the description.
std::string directive(const Result& result) {
    if (result.verdict == Verdict::na) return " # SKIP " + description(why_not_judged(result));
    if (result.verdict == Verdict::xfail)
        return " # SKIP known: " + description(result.reference.empty() ? message_of(result) : result.reference);
    return {};
}

/// A line for each result: "ok" for PASS, WARN and FINDING, "# SKIP" for NA and XFAIL, "not ok" for the rest, the
/// reason in lines that begin with "#". No YAML, which KTAP has not.
std::string to_tap(const Results& results) {
    const auto lost = cases_besides(results);
    const auto suites = suites_of(results, lost, "ipoib-conform");
    const Requirements requirements(results);
    std::string lines;
    std::size_t number = 0;
    for (const auto& suite : suites)
        for (const auto& one : suite.cases) {
            const auto& result = *one.result;
            const auto outcome = outcome_of(result.verdict);
            const bool is_ok = outcome == Outcome::passed || outcome == Outcome::skipped;
            // Several captures have the same rules; a host is in the name.
            const auto where = suites.size() > 1 && !suite.host ? suite.name + ": " : std::string{};
            lines += fmt::format("{}ok {} - {}{}\n", is_ok ? "" : "not ", ++number, description(where + one.name),
                                 directive(result));
            if (is_finding(result))
                lines += diagnostics("FINDING: " + result.message);
            else if (!is_ok || result.verdict == Verdict::warn)
                lines += diagnostics(verdict_name(result) + ": " +
                                     explanation(results, requirements, result, violations_told));
        }
    const std::string plan = number == 0 ? "1..0 # SKIP nothing was judged\n" : fmt::format("1..{}\n", number);
    return "TAP version 13\n" + plan + diagnostics(coverage_sentence(results)) + lines;
}

}  // namespace

extern const Format tap{.name = "tap",
                        .help = "Write TAP 13, which readers of KTAP take, too",
                        .documents = [](const Material& of) { return std::vector{to_tap(of.results)}; }};

}  // namespace ipoib::reports::format

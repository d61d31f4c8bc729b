// SPDX-License-Identifier: GPL-2.0-or-later
// The first page: what came of it, where, and what is new, for who reads no further.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/compare.hpp"
#include "reports/table.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t most_links = 6, most_changes = 10;

/// What was found of a section's requirements.
struct Line {
    SectionKey section;
    std::array<std::size_t, verdicts> counts{};
    std::vector<std::size_t> findings;  ///< indexes of results, the worst first
};

std::vector<Line> lines_of(const Context& context) {
    std::vector<Line> lines;
    for (const auto& requirement : context.results.requirements) {
        const auto section = section_of(requirement);
        auto found = std::ranges::find(lines, section.key, [](const Line& one) { return one.section.key; });
        if (found == lines.end()) found = lines.insert(lines.end(), Line{section, {}, {}});
        ++found->counts[static_cast<std::size_t>(requirement.verdict)];
    }
    for (const auto& finding : context.findings) {
        const auto sections = ' ' + context.sections_of(context.results.results[finding.index]) + ' ';
        for (auto& line : lines)
            if (sections.find(' ' + line.section.key + ' ') != std::string::npos)
                line.findings.push_back(finding.index);
    }
    return lines;
}

void counts(Element row, const Line& line) {
    for (const auto some : {std::array{Verdict::fail, Verdict::xpass}, std::array{Verdict::error, Verdict::inconc},
                            std::array{Verdict::warn, Verdict::xfail}, std::array{Verdict::pass, Verdict::pass},
                            std::array{Verdict::na, Verdict::na}}) {
        auto count = line.counts[static_cast<std::size_t>(some[0])];
        if (some[0] != some[1]) count += line.counts[static_cast<std::size_t>(some[1])];
        auto cell = row.add("td", {{"class", "n"}});
        if (count != 0) cell.literal(std::to_string(count));
    }
}

void by_section(Element part, const Context& context) {
    const auto lines = lines_of(context);
    const auto is_troubled = [](const Line& line) { return !line.findings.empty(); };
    if (std::ranges::none_of(lines, is_troubled)) return;
    part.add("h3").literal("Findings by section");
    auto rows = table(wide(part, "Findings by section"), "plain",
                      {"section", "fail", "undecided", "warn, known", "pass", "not judged", "findings"});
    for (const auto& line : lines) {
        if (!is_troubled(line)) continue;
        auto row = rows.add("tr");
        row.add("th", {{"scope", "row"}}).text(line.section.title);
        counts(row, line);
        auto cell = row.add("td");
        for (std::size_t i = 0; i < std::min(most_links, line.findings.size()); ++i) {
            if (i > 0) cell.literal(", ");
            cell.add("a", {{"href", fmt::format("#f{}", line.findings[i])}})
                .text(context.results.results[line.findings[i]].id);
        }
        if (line.findings.size() > most_links)
            cell.literal(fmt::format(" and {} more", line.findings.size() - most_links));
    }
    part.add("p").add("small").literal("Counted are requirements. Sections without a finding are left out.");
}

void changes(Element part, const Context& context) {
    if (!context.extras.earlier) return;
    const auto found = compare(*context.extras.earlier, context.results);
    part.add("p").literal("Since ").text(context.extras.earlier_file).literal(": ").text(found.lines.back());
    std::vector<const std::string*> worse;
    for (const auto& line : found.lines)
        if (line.starts_with("worse:")) worse.push_back(&line);
    if (worse.empty()) return;
    auto list = part.add("ul", {{"class", "changes"}});
    for (std::size_t i = 0; i < std::min(most_changes, worse.size()); ++i)
        list.add("li", {{"class", "worse"}}).text(*worse[i]);
    if (worse.size() > most_changes)
        list.add("li")
            .add("a", {{"href", "#comparison"}})
            .literal(fmt::format("and {} more", worse.size() - most_changes));
}

}  // namespace

void summary(Element main, const Context& context) {
    auto part = section(main, "summary", "Summary", false);
    part.add("p").literal("Rules and cases: ").text(reports::summary(context.results)).literal(".");
    if (!context.findings.empty()) {
        const auto causes = static_cast<std::size_t>(
            std::ranges::count_if(context.findings, [](const Finding& one) { return !one.same_as; }));
        const auto all = context.findings.size() + context.left_out;
        part.add("p").literal(fmt::format("{} finding{}{}.", all, all == 1 ? "" : "s",
                                          causes == context.findings.size()
                                              ? std::string{}
                                              : fmt::format(" of {} cause{}", causes, causes == 1 ? "" : "s")));
    }
    grounds(part, context);
    by_section(part, context);
    changes(part, context);
}

}  // namespace ipoib::reports::html

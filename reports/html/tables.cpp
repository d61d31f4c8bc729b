// SPDX-License-Identifier: GPL-2.0-or-later
// The tables: requirements, rules and cases, captures; and what changed since an earlier run.
#include "base/secret_hash.hpp"
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

#include "base/utf8.hpp"
#include "reports/compare.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t longest_message = 300, lines_told = 1000, most_links = 100;
/// More of them no browser shows.
constexpr std::size_t most_rows = 20'000;

Element row(Element rows, char kind, std::size_t index, Verdict verdict, std::string_view sections) {
    return rows.add("tr",
                    {{"id", fmt::format("{}{}", kind, index)}, {"data-v", key_of(verdict)}, {"data-s", sections}});
}

void number(Element row, std::uint64_t value) { row.add("td", {{"class", "n"}}).literal(std::to_string(value)); }

/// The results that have a row, in their order: all, or as many as a page holds, the worst ones first of all.
std::vector<std::size_t> with_row(const Results& results) {
    std::vector<std::size_t> rows(results.results.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (rows.size() <= most_rows) return rows;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](auto a, auto b) { return results.results[a].verdict < results.results[b].verdict; });
    rows.resize(most_rows);
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// Links to the rows of results by their id: the first one of each.
class Rows {
public:
    explicit Rows(const Results& results) {
        for (const auto i : with_row(results)) rows_.emplace(results.results[i].id, i);
    }
    void links(Element cell, std::span<const std::string> ids) const {
        std::string_view between;
        for (const auto& id : ids.first(std::min(ids.size(), most_links))) {
            cell.literal(between);
            between = ", ";
            if (const auto found = rows_.find(id); found != rows_.end())
                cell.add("a", {{"href", fmt::format("#r{}", found->second)}}).text(id);
            else
                cell.text(id);
        }
        if (ids.size() > most_links) cell.literal(fmt::format(" and {} more", ids.size() - most_links));
    }

private:
    std::unordered_map<std::string_view, std::size_t, SecretHash> rows_;
};

std::string sentence_of(const Result& result) {
    auto text = result.verdict == Verdict::na ? why_not_judged(result) : message_of(result);
    return clipped(text, longest_message);
}

void known_failures(Element part, const Context& context) {
    part.add("h3").literal("Baseline ").text(context.extras.baseline);
    const auto is_known = [](const Result& one) {
        return one.verdict == Verdict::xfail || one.verdict == Verdict::xpass;
    };
    if (context.extras.remarks.empty() && std::ranges::none_of(context.results.results, is_known)) {
        part.add("p").literal("It excuses nothing here.");
        return;
    }
    auto list = part.add("ul");
    for (std::size_t i = 0; i < context.results.results.size(); ++i) {
        const auto& result = context.results.results[i];
        if (!is_known(result)) continue;
        auto line = list.add("li");
        badge(line, result.verdict, name(result.verdict));
        line.literal(" ").add("a", {{"href", fmt::format("#r{}", i)}}).text(result.id);
        line.literal(" ").text(result.reference);
    }
    for (const auto& remark : context.extras.remarks) list.add("li").text(remark);
}

void since_earlier(Element part, const Context& context) {
    const auto comparison = compare(*context.extras.earlier, context.results);
    part.add("h3")
        .literal("Since ")
        .text(context.extras.earlier_file)
        .literal(", ")
        .text(context.extras.earlier->started);
    part.add("p").text(comparison.lines.back());
    const auto changes = comparison.lines.size() - 1, told = std::min(lines_told, changes);
    if (told == 0) return;
    auto list = part.add("ul", {{"class", "changes"}});
    for (std::size_t i = 0; i < told; ++i) {
        const auto& line = comparison.lines[i];
        list.add("li", {{"class", line.substr(0, line.find(':'))}}).text(line);
    }
    if (told < changes) part.add("p").literal(fmt::format("and {} more", changes - told));
}

void reason(Element cell, const RequirementResult& one) {
    if (one.verdict == Verdict::na) cell.text(name(one.na));
    if (one.verdict == Verdict::na && !name(one.na).empty() && !one.reason.empty()) cell.literal(": ");
    cell.text(clipped(one.reason, longest_message));
}

void left_out_on_paper(Element part) {
    part.add("p", {{"class", "on-paper"}}).literal("PASS and NA are on the screen, and in the JSON report.");
}

}  // namespace

void comparison(Element main, const Context& context) {
    const bool has_baseline = !context.extras.baseline.empty();
    if (!has_baseline && !context.extras.earlier) return;
    auto part = section(main, "comparison", "Comparison", false);
    if (has_baseline) known_failures(part, context);
    if (context.extras.earlier) since_earlier(part, context);
}

void requirement_table(Element main, const Context& context) {
    const auto& all = context.results.requirements;
    if (all.empty()) return;
    const Rows rows{context.results};
    auto part = section(main, "requirements", "Requirements", true);
    left_out_on_paper(part);
    auto body = table(part, "list", {"verdict", "requirement", "statement", "judged by"});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        auto line = row(body, 'q', i, one.verdict, section_of(one).key);
        badge(line.add("td"), one.verdict, name(one.verdict));
        auto who = line.add("td");
        who.add("b").text(one.id);
        who.add("br");
        who.add("small").text(place_of(one)).literal(", ").text(force_of(one));
        line.add("td").text(one.statement);
        auto by = line.add("td");
        rows.links(by, one.by);
        if (!one.by.empty() && (!one.reason.empty() || one.verdict == Verdict::na)) by.literal("; ");
        reason(by, one);
    }
}

void result_table(Element main, const Context& context) {
    const auto& all = context.results.results;
    const auto rows = with_row(context.results);
    auto part = section(main, "results", "Rules and cases", true);
    if (rows.size() < all.size())
        part.add("p").literal(fmt::format("The worst {} of {}; the JSON report has all.", rows.size(), all.size()));
    auto body = table(part, "list", {"verdict", "rule or case", "what was found", "observed", "violations"});
    std::vector<bool> is_told(all.size());
    for (const auto& one : context.findings) is_told[one.index] = true;
    for (const auto i : rows) {
        const auto& one = all[i];
        auto line = row(body, 'r', i, one.verdict, context.sections_of(one));
        badge(line.add("td"), one.verdict, verdict_name(one));
        auto who = line.add("td");
        who.add("b").text(one.id);
        if (!one.host.empty()) who.literal(" on ").add("b").text(one.host);
        if (is_told[i]) who.literal(" ").add("a", {{"href", fmt::format("#f{}", i)}}).literal("finding");
        who.add("br");
        auto title = who.add("small").text(one.title);
        if (const auto capture = context.capture_name(one); !capture.empty()) title.literal(" in ").text(capture);
        line.add("td").text(sentence_of(one));
        number(line, one.observed);
        number(line, one.violations);
    }
}

void captures(Element main, const Context& context) {
    const auto& all = context.results.captures;
    if (all.empty()) return;
    auto rows =
        table(section(main, "captures", "Captures", false), "plain", {"capture", "packets", "of them IPoIB", "notes"});
    for (const auto& one : all) {
        auto line = rows.add("tr");
        if (one.file == "-")
            line.add("td").literal("standard input");
        else
            line.add("td").add("a").whole("href", link(one.file, context.folder)).text(one.file);
        number(line, one.packets);
        number(line, one.ipoib);
        auto notes = line.add("td").text(one.error);
        bool is_first = one.error.empty();
        const auto begin = [&](std::string_view word) {
            notes.literal(is_first ? "" : "; ").literal(word);
            is_first = false;
        };
        if (!one.host.empty()) {
            begin("on ");
            notes.text(one.host);
        }
        for (const auto& note : one.notes) {
            begin("");
            notes.text(note);
        }
    }
}

}  // namespace ipoib::reports::html

// SPDX-License-Identifier: GPL-2.0-or-later
// What a verdict rests on, for who was not there: claims, what of it was judged, how far the judge can be relied on.
#include "reports/html/parts.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ipoib::reports::html {
namespace {

constexpr std::size_t most_reasons = 6;

/// Columns of what binding statements came to.
enum : std::size_t { kept, not_kept, warned, undecided, not_judged, not_selected, columns };

std::size_t column_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass:
        case Verdict::xpass:
            return kept;
        case Verdict::fail:
        case Verdict::xfail:
            return not_kept;
        case Verdict::warn:
            return warned;
        case Verdict::na:
            return not_judged;
        default:
            return undecided;
    }
}

struct Line {
    std::string_view document;
    std::array<std::size_t, columns> counts{};
};

void number(Element row, std::size_t value) {
    auto cell = row.add("td", {{"class", "n"}});
    if (value != 0) cell.literal(std::to_string(value));
}

void claimed(Element part, const Context& context) {
    const auto& results = context.results;
    part.add("h3").literal("Claimed");
    if (results.claims.empty()) {
        part.add("p").literal("Nothing: these results say what was seen, not what the implementation claims to be.");
        return;
    }
    auto list = part.add("dl", {{"class", "claims"}});
    for (const auto& [claim, value] : results.claims) {
        list.add("dt").text(claim);
        list.add("dd").text(value);
    }
}

void judged(Element part, const Context& context) {
    std::vector<Line> lines;
    Line sum{.document = "all"};
    for (const auto& one : context.results.requirements) {
        if (!is_binding(one)) continue;
        const auto document = std::string_view{one.id}.substr(0, one.id.find('-'));
        auto line = std::ranges::find(lines, document, &Line::document);
        if (line == lines.end()) line = lines.insert(lines.end(), Line{.document = document});
        const auto column = is_selected(context.results, one) ? column_of(one.verdict) : not_selected;
        for (auto* into : {&*line, &sum}) ++into->counts[column];
    }
    if (lines.empty()) return;
    lines.push_back(sum);
    part.add("h3").literal("Judged");
    std::vector<std::string_view> headings{
        "binding statements of", "there are", "kept", "not kept", "warned of", "undecided", "not judged"};
    // A page that leaves out what nobody asked for reads as if the rest were all there is.
    const bool is_selection = sum.counts[not_selected] > 0;
    if (is_selection) headings.emplace_back("not selected");
    auto rows = table(wide(part, "Judged"), "plain judged", headings);
    for (const auto& line : lines) {
        auto row = rows.add("tr", {{"class", &line == &lines.back() ? "sum" : ""}});
        row.add("th", {{"scope", "row"}}).text(line.document);
        std::size_t all = 0;
        for (const auto count : line.counts) all += count;
        number(row, all);
        for (std::size_t i = 0; i < columns; ++i)
            if (i != not_selected || is_selection) number(row, line.counts[i]);
    }
}

void why_not(Element part, const Context& context) {
    struct Reason {
        NotJudged kind;
        std::string_view words;
        std::size_t count;
    };
    std::vector<Reason> reasons;
    for (const auto& one : context.results.requirements) {
        if (!is_binding(one) || one.verdict != Verdict::na || !is_selected(context.results, one)) continue;
        const auto found = std::ranges::find_if(
            reasons, [&](const Reason& known) { return known.kind == one.na && known.words == one.reason; });
        if (found == reasons.end())
            reasons.push_back({one.na, one.reason, 1});
        else
            ++found->count;
    }
    if (reasons.empty()) return;
    std::ranges::stable_sort(reasons, std::ranges::greater{}, &Reason::count);
    part.add("h3").literal("Not judged, and why");
    auto rows = table(wide(part, "Not judged, and why"), "plain why", {"statements", "why", "more exactly"});
    std::size_t others = 0;
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (i >= most_reasons) {
            others += reasons[i].count;
            continue;
        }
        auto row = rows.add("tr");
        number(row, reasons[i].count);
        row.add("td").literal(meaning(reasons[i].kind));
        row.add("td").text(clipped(std::string(reasons[i].words), 120));
    }
    if (others == 0) return;
    auto row = rows.add("tr");
    number(row, others);
    row.add("td").literal("for other reasons");
    row.add("td").add("a", {{"href", "#requirements"}}).literal("each statement has its own");
}

void proofs(Element part, const Context& context) {
    if (context.results.proofs.empty()) return;
    part.add("h3").literal("What proves the judge");
    auto rows = table(wide(part, "What proves the judge"), "plain proofs", {"by", "what came of it", "page, revision"});
    for (const auto& proof : context.results.proofs) {
        auto row = rows.add("tr");
        row.add("th", {{"scope", "row"}}).text(proof.name);
        row.add("td").text(proof.found);
        row.add("td").text(proof.page).literal(" ").add("code").text(proof.revision);
    }
}

}  // namespace

void grounds(Element part, const Context& context) {
    claimed(part, context);
    judged(part, context);
    why_not(part, context);
    proofs(part, context);
}

}  // namespace ipoib::reports::html

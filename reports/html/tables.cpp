// SPDX-License-Identifier: GPL-2.0-or-later
// The tables: requirements, rules and cases, captures; and what changed since an earlier run.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "reports/compare.hpp"
#include "reports/text.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t longest_message = 300, lines_told = 1000;

std::string row_begin(char kind, std::size_t index, Verdict verdict, std::string_view sections) {
    return fmt::format("<tr id=\"{}{}\" data-v=\"{}\" data-s=\"{}\">", kind, index, key_of(verdict), plain(sections));
}

std::string table_begin(std::string_view id, std::string_view title, std::string_view columns) {
    return fmt::format(
        "<section id=\"{}\"><h2>{} <small class=\"count\"></small></h2>\n"
        "<table class=\"list\"><thead><tr>{}</tr></thead><tbody>\n",
        id, title, columns);
}

std::string head_cell(std::string_view text) { return fmt::format("<th scope=\"col\">{}</th>", text); }

/// Links to the rows of results by their id: the first one of each.
class Rows {
public:
    explicit Rows(const Results& results) {
        for (std::size_t i = 0; i < results.results.size(); ++i) rows_.emplace(results.results[i].id, i);
    }
    [[nodiscard]] std::string links(const std::vector<std::string>& ids) const {
        std::string text;
        for (const auto& id : ids) {
            const auto found = rows_.find(id);
            if (!text.empty()) text += ", ";
            text += found == rows_.end() ? plain(id) : fmt::format("<a href=\"#r{}\">{}</a>", found->second, plain(id));
        }
        return text;
    }

private:
    std::unordered_map<std::string_view, std::size_t> rows_;
};

std::string on_host(const Result& result) { return result.host.empty() ? "" : "</b> on <b>" + plain(result.host); }

std::string sentence_of(const Result& result) {
    auto text = result.verdict == Verdict::na ? why_not_judged(result) : message_of(result);
    return plain(clipped(text, longest_message));
}

std::string known_failures(const Context& context) {
    std::string text;
    for (std::size_t i = 0; i < context.results.results.size(); ++i) {
        const auto& result = context.results.results[i];
        if (result.verdict != Verdict::xfail && result.verdict != Verdict::xpass) continue;
        text += fmt::format("<li>{} <a href=\"#r{}\">{}</a> {}</li>\n", badge(result.verdict, name(result.verdict)), i,
                            plain(result.id), plain(result.reference));
    }
    for (const auto& remark : context.extras.remarks) text += "<li>" + plain(remark) + "</li>\n";
    return fmt::format("<h3>Baseline {}</h3>\n{}", plain(context.extras.baseline),
                       text.empty() ? "<p>It excuses nothing here.</p>\n" : "<ul>\n" + text + "</ul>\n");
}

std::string since_earlier(const Context& context) {
    const auto comparison = compare(*context.extras.earlier, context.results);
    auto text = fmt::format("<h3>Since {}, {}</h3>\n<p>{}</p>\n", plain(context.extras.earlier_file),
                            plain(context.extras.earlier->started), plain(comparison.lines.back()));
    const auto changes = comparison.lines.size() - 1, told = std::min(lines_told, changes);
    for (std::size_t i = 0; i < told; ++i) {
        const auto& line = comparison.lines[i];
        text += fmt::format("{}<li class=\"{}\">{}</li>\n", i == 0 ? "<ul class=\"changes\">\n" : "",
                            plain(line.substr(0, line.find(':'))), plain(line));
    }
    if (told > 0) text += "</ul>\n";
    if (told < changes) text += fmt::format("<p>and {} more</p>\n", changes - told);
    return text;
}

}  // namespace

std::string comparison(const Context& context) {
    const bool has_baseline = !context.extras.baseline.empty();
    if (!has_baseline && !context.extras.earlier) return {};
    return "<section id=\"comparison\"><h2>Comparison</h2>\n" + (has_baseline ? known_failures(context) : "") +
           (context.extras.earlier ? since_earlier(context) : "") + "</section>\n";
}

std::string requirement_table(const Context& context) {
    const auto& all = context.results.requirements;
    if (all.empty()) return {};
    const Rows rows{context.results};
    auto text =
        table_begin("requirements", "Requirements",
                    head_cell("verdict") + head_cell("requirement") + head_cell("statement") + head_cell("judged by"));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        auto reason = one.verdict == Verdict::na ? plain(name(one.na)) : std::string{};
        if (!one.reason.empty()) reason += (reason.empty() ? "" : ": ") + plain(clipped(one.reason, longest_message));
        text += row_begin('q', i, one.verdict, section_of(one).key) +
                fmt::format("<td>{}</td><td><b>{}</b><br/><small>{}, {}</small></td><td>{}</td><td>{}{}</td></tr>\n",
                            badge(one.verdict, name(one.verdict)), plain(one.id), plain(place_of(one)),
                            plain(force_of(one)), plain(one.statement), rows.links(one.by), reason);
    }
    return text + "</tbody></table></section>\n";
}

std::string result_table(const Context& context) {
    const auto& all = context.results.results;
    auto text = table_begin("results", "Rules and cases",
                            head_cell("verdict") + head_cell("rule or case") + head_cell("what was found") +
                                head_cell("observed") + head_cell("violations"));
    std::vector<bool> is_told(all.size());
    for (const auto& told : context.findings) is_told[told.index] = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        const auto capture = context.capture_name(one);
        text += row_begin('r', i, one.verdict, context.sections_of(one)) +
                fmt::format(
                    "<td>{}</td><td><b>{}</b>{}<br/><small>{}{}</small></td><td>{}</td><td class=\"n\">{}</td>"
                    "<td class=\"n\">{}</td></tr>\n",
                    badge(one.verdict, verdict_name(one)), plain(one.id) + on_host(one),
                    is_told[i] ? fmt::format(" <a href=\"#f{}\">finding</a>", i) : "", plain(one.title),
                    capture.empty() ? "" : " in " + plain(capture), sentence_of(one), one.observed, one.violations);
    }
    return text + "</tbody></table></section>\n";
}

std::string captures(const Context& context) {
    const auto& all = context.results.captures;
    if (all.empty()) return {};
    std::string text = "<section id=\"captures\"><h2>Captures</h2>\n<table class=\"plain\"><thead><tr>" +
                       head_cell("capture") + head_cell("packets") + head_cell("of them IPoIB") + head_cell("notes") +
                       "</tr></thead><tbody>\n";
    for (const auto& one : all) {
        std::string notes = plain(one.error);
        if (!one.host.empty()) notes += (notes.empty() ? "on " : "; on ") + plain(one.host);
        for (const auto& note : one.notes) notes += (notes.empty() ? "" : "; ") + plain(note);
        text += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                            one.file == "-"
                                ? "standard input"
                                : fmt::format("<a href=\"{}\">{}</a>", link(one.file, context.folder), plain(one.file)),
                            one.packets, one.ipoib, notes);
    }
    return text + "</tbody></table></section>\n";
}

}  // namespace ipoib::reports::html

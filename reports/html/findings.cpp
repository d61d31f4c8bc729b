// SPDX-License-Identifier: GPL-2.0-or-later
// Each finding: what is demanded, what was sent instead, what passed before it, how to see it again.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t violations_told = 20;

std::string demanded(const Context& context, const Result& result) {
    std::string text;
    for (const auto id : concerned(result)) {
        const auto* requirement = context.requirements.find(id);
        if (!requirement) {
            text += fmt::format("<dt>{}</dt><dd></dd>\n", plain(id));
            continue;
        }
        const auto row = requirement - context.results.requirements.data();
        text +=
            fmt::format("<dt><a href=\"#q{}\">{}</a> <small>{}, {}</small></dt><dd>{}</dd>\n", row, plain(id),
                        plain(place_of(*requirement)), plain(force_of(*requirement)), plain(requirement->statement));
    }
    return text.empty() ? text : "<dl class=\"demanded\">\n" + text + "</dl>\n";
}

std::string violations(const Context& context, const Result& result) {
    if (result.details.empty()) return {};
    const auto shown = std::min(violations_told, result.details.size());
    std::string text;
    for (const auto& line : case_lines(result)) text += "<li>" + plain(line) + "</li>\n";
    for (std::size_t i = 0; i < shown; ++i)
        text += "<li>" + plain(violation_line(context.results, result.details[i])) + "</li>\n";
    if (result.violations > shown) text += fmt::format("<li>and {} more</li>\n", result.violations - shown);
    return fmt::format(
        "<details{}><summary>Violations <small>{} in {} observed</small></summary>\n<ul>\n{}</ul></details>\n",
        shown <= 3 ? " open=\"open\"" : "", result.violations, result.observed, text);
}

std::string notes(const Result& result) {
    if (result.notes.empty()) return {};
    std::string text;
    for (const auto& note : result.notes) text += "<li>" + plain(note) + "</li>\n";
    return "<details><summary>Notes</summary><ul>\n" + text + "</ul></details>\n";
}

std::string frames(const Context& context, std::size_t index) {
    const auto* exhibit = context.exhibits[index];
    if (!exhibit) return {};
    auto text = packet(*exhibit);
    if (exhibit->ladder.empty()) return text;
    const auto& first = exhibit->ladder.front();
    const auto& last = exhibit->ladder.back();
    text += fmt::format("<h4>What passed, frames {} to {}</h4>\n", first.number, last.number);
    if (exhibit->left_out > 0)
        text += fmt::format("<p><small>{} frames stand before them.</small></p>\n", exhibit->left_out);
    return text + ladder(*exhibit, "frames around the finding of " + context.results.results[index].id);
}

std::string command(std::string_view label, const std::string& line) {
    return fmt::format(
        "<p class=\"command\">{} <code>{}</code> <button type=\"button\" class=\"copy\">Copy</button></p>\n", label,
        verbatim(line));
}

std::string where(const Context& context, const Result& result, const Exhibit* exhibit) {
    std::string text;
    if (!result.repeat.empty()) text += command("Repeat:", result.repeat);
    std::string links;
    const auto& capture = result.evidence.empty() ? context.capture_name(result) : result.evidence;
    if (!capture.empty() && capture != "-")
        links += fmt::format("<a href=\"{}\">{}</a>", link(capture, context.folder), plain(capture));
    if (exhibit && !exhibit->pcapng.empty())
        links += fmt::format(
            "{}<a download=\"{}.pcapng\" href=\"data:application/octet-stream;base64,{}\">these frames as pcapng</a>",
            links.empty() ? "" : ", ", plain(result.id), base64(exhibit->pcapng));
    return links.empty() ? text : text + "<p>Capture: " + links + "</p>\n";
}

std::string finding(const Context& context, const Told& told) {
    const auto index = told.index;
    const auto& result = context.results.results[index];
    const auto capture = context.capture_name(result);
    auto text = fmt::format(
        "<article class=\"finding {}\" id=\"f{}\" data-v=\"{}\" data-s=\"{}\">\n<h3>{} {} <small>{}{}</small></h3>\n",
        key_of(result.verdict), index, key_of(result.verdict), plain(context.sections_of(result)),
        badge(result.verdict, verdict_name(result)), plain(result.id), plain(result.title),
        capture.empty() ? "" : " in " + plain(capture));
    text += "<p class=\"message\">" + lines(message_of(result)) + "</p>\n";
    if (!told.hosts.empty())
        text += fmt::format("<p class=\"where\">{}{}</p>\n", plain(on_hosts(context.results, told.hosts)),
                            told.hosts.size() > 1 ? "; this is " + plain(result.host) : "");
    if (!result.reference.empty()) text += "<p>Known: " + plain(result.reference) + "</p>\n";
    return text + demanded(context, result) + frames(context, index) + violations(context, result) + notes(result) +
           where(context, result, context.exhibits[index]) + "</article>\n";
}

}  // namespace

std::string findings(const Context& context) {
    if (context.findings.empty()) return {};
    std::string text = "<section id=\"findings\"><h2>Findings <small class=\"count\"></small></h2>\n";
    for (const auto& told : context.findings) text += finding(context, told);
    if (context.left_out > 0)
        text += fmt::format("<p>{} more are in the table of rules and cases.</p>\n", context.left_out);
    return text + "</section>\n";
}

}  // namespace ipoib::reports::html

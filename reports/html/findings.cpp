// SPDX-License-Identifier: GPL-2.0-or-later
// Each finding: what is demanded, what was sent instead, what passed before it, how to see it again.
#include "reports/html/parts.hpp"
#include "reports/suspicions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::reports::html {
namespace {

constexpr std::size_t violations_told = 20;

void demanded(Element article, const Context& context, const Result& result) {
    const auto ids = concerned(result);
    if (ids.empty()) return;
    auto list = article.add("dl", {{"class", "demanded"}});
    for (const auto id : ids) {
        const auto* requirement = context.requirements.find(id);
        if (!requirement) {
            list.add("dt").text(id);
            list.add("dd");
            continue;
        }
        const auto row = requirement - context.results.requirements.data();
        auto term = list.add("dt");
        term.add("a", {{"href", fmt::format("#q{}", row)}}).text(id);
        term.literal(" ").add("small").text(place_of(*requirement)).literal(", ").text(force_of(*requirement));
        list.add("dd").text(requirement->statement);
    }
}

void violations(Element article, const Context& context, const Result& result) {
    if (result.details.empty()) return;
    const auto shown = std::min(violations_told, result.details.size());
    auto part = article.add("details");
    if (shown <= 3) part.whole("open", "open");
    part.add("summary")
        .literal("Violations ")
        .add("small")
        .literal(fmt::format("{} in {} observed", result.violations, result.observed));
    auto list = part.add("ul");
    for (const auto& line : case_lines(result, result.cases.size())) list.add("li").text(line);
    for (std::size_t i = 0; i < shown; ++i) list.add("li").text(violation_line(context.results, result.details[i]));
    if (result.violations > shown) list.add("li").literal(fmt::format("and {} more", result.violations - shown));
}

void notes(Element article, const Result& result) {
    if (result.notes.empty()) return;
    auto part = article.add("details");
    part.add("summary").literal("Notes");
    auto list = part.add("ul");
    for (const auto& note : result.notes) list.add("li").text(note);
}

void frames(Element article, const Context& context, std::size_t index) {
    const auto* exhibit = context.exhibits[index];
    if (!exhibit) return;
    packet(article, *exhibit);
    if (exhibit->ladder.empty()) return;
    article.add("h4").literal(
        fmt::format("What passed, frames {} to {}", exhibit->ladder.front().number, exhibit->ladder.back().number));
    if (exhibit->left_out > 0)
        article.add("p").add("small").literal(fmt::format("{} frames stand before them.", exhibit->left_out));
    ladder(article, *exhibit, "frames around the finding of " + context.results.results[index].id);
}

void command(Element article, std::string_view label, const std::string& line) {
    auto part = article.add("p", {{"class", "command"}});
    part.literal(label).literal(" ").add("code").verbatim(line);
    part.literal(" ").add("button", {{"type", "button"}, {"class", "copy"}}).literal("Copy");
}

void where(Element article, const Context& context, const Result& result, const Exhibit* exhibit) {
    if (!result.repeat.empty()) command(article, "Repeat:", result.repeat);
    const auto& capture = result.evidence.empty() ? context.capture_name(result) : result.evidence;
    const bool has_capture = !capture.empty() && capture != "-", has_frames = exhibit && !exhibit->pcapng.empty();
    if (!has_capture && !has_frames) return;
    auto part = article.add("p").literal("Capture: ");
    if (has_capture) part.add("a").whole("href", link(capture, context.folder)).text(capture);
    if (has_capture && has_frames) part.literal(", ");
    if (has_frames)
        part.add("a", {{"download", result.id + ".pcapng"}})
            .whole("href", "data:application/octet-stream;base64," + base64(exhibit->pcapng))
            .literal("these frames as pcapng");
}

void heading(Element article, const Context& context, const Result& result) {
    auto title = article.add("h3");
    badge(title, result.verdict, verdict_name(result));
    auto rest = title.literal(" ").text(result.id).literal(" ").add("small").text(result.title);
    if (const auto capture = context.capture_name(result); !capture.empty()) rest.literal(" in ").text(capture);
}

void finding(Element part, const Context& context, const Finding& one) {
    const auto& result = context.results.results[one.index];
    const auto key = key_of(result.verdict);
    auto article = part.add("article", {{"class", fmt::format("finding {}{}", key, one.same_as ? " same" : "")},
                                        {"id", fmt::format("f{}", one.index)},
                                        {"data-v", key},
                                        {"data-s", context.sections_of(result)}});
    heading(article, context, result);
    article.add("p", {{"class", "message"}}).lines(message_of(result));
    if (!one.hosts.empty()) {
        auto on = article.add("p", {{"class", "where"}}).text(on_hosts(context.results, one.hosts));
        if (one.hosts.size() > 1) on.literal("; this is ").text(result.host);
    }
    if (!result.reference.empty()) article.add("p").literal("Known: ").text(result.reference);
    demanded(article, context, result);
    if (one.same_as)
        article.add("p")
            .literal("Of the same cause as ")
            .add("a", {{"href", fmt::format("#f{}", *one.same_as)}})
            .text(context.results.results[*one.same_as].id);
    else
        frames(article, context, one.index);
    violations(article, context, result);
    notes(article, result);
    where(article, context, result, context.exhibits[one.index]);
}

}  // namespace

void findings(Element main, const Context& context) {
    if (context.findings.empty()) return;
    auto part = section(main, "findings", "Findings", true);
    for (const auto& one : context.findings) finding(part, context, one);
    if (context.left_out > 0)
        part.add("p").literal(fmt::format("{} more are in the table of rules and cases.", context.left_out));
}

void suspicions(Element main, const Context& context) {
    const auto groups = groups_of(context.results.suspicions, context.results.captures);
    if (groups.empty()) return;
    auto part = section(main, "suspicions", "Suspicions", false);
    for (std::size_t i = 0; i < std::min(groups.size(), suspicions_shown); ++i) {
        const auto& one = groups[i];
        auto article = part.add("article", {{"class", "suspicion"}});
        article.add("h3").text(one.head);
        auto list = article.add("ul");
        for (const auto& frame : one.frames) list.add("li").text(frame);
        article.add("p").text(one.innocent);
        if (!one.command.empty()) command(article, "Settled by:", one.command);
        article.add("p").literal(one.command.empty() ? "Settled by: " : "Or by: ").text(one.settled_by);
    }
    if (const auto rest = rest_of(groups); !rest.empty()) part.add("p").literal("And ").text(rest).literal(".");
}

}  // namespace ipoib::reports::html

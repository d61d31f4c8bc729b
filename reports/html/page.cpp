// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together.
#include "generated/html_assets.hpp"
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "reports/junit_suites.hpp"
#include "reports/text.hpp"

namespace ipoib::reports {
namespace html {
namespace {

constexpr std::array wrong{Verdict::fail,   Verdict::xpass, Verdict::error,
                           Verdict::inconc, Verdict::warn,  Verdict::xfail};

struct Outcome {
    Verdict verdict;
    std::string sentence;
};

/// Of which hosts something is FAIL or XPASS; empty where nothing is. A run of one host has the empty name.
std::set<std::string_view> failed_hosts(const Results& results) {
    std::set<std::string_view> failed;
    for (const auto& one : results.results)
        if (one.verdict == Verdict::fail || one.verdict == Verdict::xpass) failed.insert(one.host);
    return failed;
}

/// "It does not conform", "n2 and n5 do not conform", "12 of 1000 hosts do not conform".
std::string who_does_not_conform(const Results& results, const std::set<std::string_view>& failed) {
    constexpr std::size_t most_named = 3;
    if (results.hosts.empty() || failed.empty()) return "It does not conform";
    if (failed.size() > most_named)
        return fmt::format("{} of {} hosts do not conform", failed.size(), results.hosts.size());
    std::string names;
    for (std::size_t i = 0; const auto host : failed) {
        names += i == 0 ? "" : i + 1 == failed.size() ? " and " : ", ";
        names += host;
        ++i;
    }
    return names + (failed.size() == 1 ? " does not conform" : " do not conform");
}

Outcome outcome_of(const Results& results) {
    const auto failed = failed_hosts(results);
    switch (exit_code(results)) {
        case 0:
            return {Verdict::pass, "Nothing against it"};
        case 1:
            return {Verdict::fail, who_does_not_conform(results, failed)};
        case 3:
            return failed.empty() ? Outcome{Verdict::error, "Tester, fabric, adapter or capture was at fault"}
                                  : Outcome{Verdict::fail, who_does_not_conform(results, failed) +
                                                               "; and tester, fabric, adapter or capture was at fault"};
        case 5:
            return {Verdict::inconc, "Evidence is missing"};
        default:
            return {Verdict::na, "Nothing was judged"};
    }
}

std::size_t count_of(const Results& results, Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(results.results, verdict, &Result::verdict));
}

void add_fact(Element list, std::string_view of, std::string_view value) {
    if (value.empty()) return;
    list.add("dt").literal(of);
    list.add("dd").text(value);
}

void facts(Element header, const Results& results) {
    std::string command;
    for (const auto& word : results.command) command += (command.empty() ? "" : " ") + sh_word(word);
    auto list = header.add("dl", {{"class", "facts"}});
    add_fact(list, "Command", command);
    add_fact(list, "DUT", facts_text(results.dut));
    add_fact(list, "Fabric", facts_text(results.fabric));
    add_fact(list, "Begun", results.started.empty() ? "" : results.started + " UTC");
    add_fact(list, "Lasted", results.started.empty() ? "" : fmt::format("{:.3f} s", results.seconds));
    add_fact(list, "Host", results.host);
    add_fact(list, "Hosts", results.hosts.empty() ? "" : std::to_string(results.hosts.size()));
    add_fact(list, "Seed", std::to_string(results.seed));
    add_fact(list, "Suite", results.suite.empty() ? "" : "ipoib-conform " + results.suite);
}

/// Links to the sections that there are.
void contents(Element nav, const Element& main) {
    constexpr std::array<std::array<std::string_view, 2>, 9> sections{{{"summary", "Summary"},
                                                                       {"hosts", "Hosts"},
                                                                       {"findings", "Findings"},
                                                                       {"suspicions", "Suspicions"},
                                                                       {"coverage", "Coverage"},
                                                                       {"comparison", "Comparison"},
                                                                       {"requirements", "Requirements"},
                                                                       {"results", "Rules and cases"},
                                                                       {"captures", "Captures"}}};
    for (const auto& [id, title] : sections) {
        if (!main.has_child_with_id(std::string(id))) continue;
        nav.add("a", {{"href", fmt::format("#{}", id)}}).literal(title);
        nav.literal(" ");
    }
}

/// Captures that were not read to their end, and hosts without all their results.
void lost(Element header, const Results& results) {
    constexpr std::size_t most = 50;
    const auto all = faults(results);
    if (all.empty()) return;
    auto list = header.add("ul", {{"class", "lost"}});
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
        const auto& one = all[i];
        auto line = list.add("li");
        badge(line, one.verdict, name(one.verdict));
        line.literal(" ");
        if (!one.host.empty()) line.text(one.host).literal(": ");
        line.text(one.message);
    }
    if (all.size() > most) list.add("li").literal(fmt::format("and {} more", all.size() - most));
}

/// By any of which two findings are of one cause: the same field of the same frame, the same wrong value, the same
/// field and requirement; or what kept both from a verdict.
std::vector<std::string> cause_keys(const Result& result, const Hosts& hosts) {
    std::string on;
    for (const auto host : hosts) on += fmt::format("{} ", host);
    if (result.details.empty()) return {on + '\n' + cause_of(result)};
    const auto& first = result.details.front();
    std::vector<std::string> keys{fmt::format("{}\n{}\n{}\n{}", on, first.field, first.expected, first.actual)};
    if (first.field.empty()) return keys;
    if (first.frame > 0) keys.push_back(fmt::format("{}\n{} {}\n{}", on, first.capture, first.frame, first.field));
    for (const auto id : concerned(result)) keys.push_back(fmt::format("{}\n{}\n{}", on, first.field, id));
    return keys;
}

/// Findings of one cause stand behind the first of them.
void put_together(Context& context) {
    std::map<std::string, std::size_t> places;
    std::vector<std::vector<Finding>> causes;
    for (auto& finding : context.findings) {
        const auto keys = cause_keys(context.results.results[finding.index], finding.hosts);
        const auto known = std::ranges::find_if(keys, [&](const auto& key) { return places.contains(key); });
        const auto place = known == keys.end() ? causes.size() : places.at(*known);
        if (place == causes.size())
            causes.emplace_back();
        else
            finding.same_as = causes[place].front().index;
        for (const auto& key : keys) places.emplace(key, place);
        causes[place].push_back(std::move(finding));
    }
    context.findings.clear();
    for (auto& same : causes) std::ranges::move(same, std::back_inserter(context.findings));
}

Context context_of(const Results& results, const Extras& extras, const std::filesystem::path& folder,
                   const Requirements& requirements) {
    Context context{.results = results,
                    .extras = extras,
                    .folder = folder,
                    .requirements = requirements,
                    .exhibits = std::vector<const Exhibit*>(results.results.size()),
                    .findings = {},
                    .is_by_capture = is_by_capture(results)};
    for (const auto& exhibit : extras.exhibits)
        if (exhibit.result < context.exhibits.size()) context.exhibits[exhibit.result] = &exhibit;
    for (const auto verdict : wrong)
        for (auto& finding : reports::findings(results, verdict)) {
            if (context.findings.size() < Exhibit::most)
                context.findings.push_back(
                    {static_cast<std::size_t>(finding.result - results.results.data()), std::move(finding.hosts)});
            else
                ++context.left_out;
        }
    put_together(context);
    return context;
}

}  // namespace

void head(Element body, const Context& context) {
    const auto& results = context.results;
    const auto [verdict, sentence] = outcome_of(results);
    auto header = body.add("header");
    header.add("h1").literal("IP over InfiniBand conformance");
    header.add("p", {{"class", fmt::format("outcome {}", key_of(verdict))}}).text(sentence);
    if (!results.requirements.empty()) header.add("p").text(coverage_sentence(results)).literal(".");
    lost(header, results);
    facts(header, results);
}

void filter(Element body, const Context& context) {
    auto form = body.add("form", {{"id", "filter"}, {"role", "search"}, {"aria-label", "Filter"}});
    auto chips = form.add("div", {{"class", "verdicts"}, {"role", "group"}, {"aria-label", "Verdicts"}});
    for (const auto verdict : all_verdicts)
        if (const auto count = count_of(context.results, verdict))
            chips
                .add("button", {{"type", "button"},
                                {"class", fmt::format("badge {}", key_of(verdict))},
                                {"data-v", key_of(verdict)},
                                {"aria-pressed", "false"}})
                .literal(fmt::format("{} {}", count, name(verdict)));
    form.add("label").literal("Search ").add("input",
                                             {{"type", "search"}, {"id", "search"}, {"placeholder", "press /"}});
    auto choice = form.add("label").literal("Section ").add("select", {{"id", "section"}});
    choice.add("option", {{"value", ""}}).literal("all");
    std::vector<std::string> seen;
    for (const auto& requirement : context.results.requirements) {
        auto section = section_of(requirement);
        if (std::ranges::find(seen, section.key) != seen.end()) continue;
        choice.add("option", {{"value", section.key}}).text(section.title);
        seen.push_back(std::move(section.key));
    }
    form.add("button", {{"type", "button"}, {"id", "all"}}).literal("Show all");
    form.literal("\n").add("output", {{"id", "shown"}, {"aria-live", "polite"}});
}

void document_head(Element root, const Results& results) {
    auto head = root.add("head");
    head.add("meta", {{"charset", "utf-8"}});
    head.add("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    head.add("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    // Even what a browser made of a text against all rules can fetch nothing.
    head.add("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content",
                       "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
                       "form-action 'none'"}});
    head.add("title").text(outcome_of(results).sentence).literal(" \u00b7 IP over InfiniBand conformance");
    head.add("style").literal(style_sheet);
}

}  // namespace html

std::string to_html(const Results& results, const Extras& extras, const std::filesystem::path& folder) {
    using namespace html;
    const Requirements requirements{results};
    const auto context = context_of(results, extras, folder, requirements);
    Page page;
    auto root = page.root();
    root.whole("lang", "en").whole("xmlns", "http://www.w3.org/1999/xhtml");
    document_head(root, results);
    auto body = root.add("body");
    head(body, context);
    auto nav = body.add("nav", {{"aria-label", "Sections"}});
    filter(body, context);
    auto main = body.add("main");
    html::summary(main, context);
    html::hosts(main, context);
    html::findings(main, context);
    html::suspicions(main, context);
    coverage(main, context);
    comparison(main, context);
    requirement_table(main, context);
    result_table(main, context);
    captures(main, context);
    contents(nav, main);
    // For readers of XML, the script is no markup either.
    body.add("script").literal("//<![CDATA[\n").literal(script).literal("//]]>");
    return page.text();
}

}  // namespace ipoib::reports

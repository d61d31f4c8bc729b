// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the page together.
#include "generated/html_assets.hpp"
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/junit_suites.hpp"
#include "reports/text.hpp"

namespace ipoib::reports {
namespace html {
namespace {

constexpr std::array wrong{Verdict::fail,   Verdict::xpass, Verdict::error,
                           Verdict::inconc, Verdict::warn,  Verdict::xfail};

struct Outcome {
    Verdict verdict;
    std::string_view sentence;
};

bool has_failed(const Results& results) {
    return std::ranges::any_of(results.results, [](const Result& one) {
        return one.verdict == Verdict::fail || one.verdict == Verdict::xpass;
    });
}

Outcome outcome_of(const Results& results) {
    switch (exit_code(results)) {
        case 0:
            return {Verdict::pass, "Nothing against it"};
        case 1:
            return {Verdict::fail, "It does not conform"};
        case 3:
            return has_failed(results)
                       ? Outcome{Verdict::fail,
                                 "It does not conform; and tester, fabric, adapter or capture was at fault"}
                       : Outcome{Verdict::error, "Tester, fabric, adapter or capture was at fault"};
        case 5:
            return {Verdict::inconc, "Evidence is missing"};
        default:
            return {Verdict::na, "Nothing was judged"};
    }
}

std::size_t count_of(const Results& results, Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(results.results, verdict, &Result::verdict));
}

void add_fact(std::string& text, std::string_view of, std::string_view value) {
    if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", plain(of), plain(value));
}

std::string facts(const Results& results) {
    std::string text, command;
    for (const auto& word : results.command) command += (command.empty() ? "" : " ") + sh_word(word);
    add_fact(text, "Command", command);
    add_fact(text, "DUT", facts_text(results.dut));
    add_fact(text, "Fabric", facts_text(results.fabric));
    add_fact(text, "Begun", results.started.empty() ? "" : results.started + " UTC");
    add_fact(text, "Lasted", results.started.empty() ? "" : fmt::format("{:.3f} s", results.seconds));
    add_fact(text, "Host", results.host);
    add_fact(text, "Hosts", results.hosts.empty() ? "" : std::to_string(results.hosts.size()));
    add_fact(text, "Seed", std::to_string(results.seed));
    add_fact(text, "Suite", results.suite.empty() ? "" : "ipoib-conform " + results.suite);
    return text;
}

std::string contents(std::string_view page) {
    constexpr std::array<std::array<std::string_view, 2>, 7> sections{{{"hosts", "Hosts"},
                                                                       {"findings", "Findings"},
                                                                       {"coverage", "Coverage"},
                                                                       {"comparison", "Comparison"},
                                                                       {"requirements", "Requirements"},
                                                                       {"results", "Rules and cases"},
                                                                       {"captures", "Captures"}}};
    std::string text = "<nav aria-label=\"Sections\">";
    for (const auto& [id, title] : sections)
        if (page.find(fmt::format("<section id=\"{}\"", id)) != std::string_view::npos)
            text += fmt::format("<a href=\"#{}\">{}</a> ", id, title);
    return text + "</nav>\n";
}

/// Captures that were not read to their end, and hosts without all their results.
std::string lost(const Results& results) {
    constexpr std::size_t most = 50;
    const auto all = faults(results);
    std::string text;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
        const auto& one = all[i];
        text += fmt::format("<li>{} {}{}</li>\n", badge(one.verdict, name(one.verdict)),
                            one.host.empty() ? "" : plain(one.host) + ": ", plain(one.message));
    }
    if (all.size() > most) text += fmt::format("<li>and {} more</li>\n", all.size() - most);
    return text.empty() ? text : "<ul class=\"lost\">\n" + text + "</ul>\n";
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
    return context;
}

}  // namespace

std::string head(const Context& context) {
    const auto& results = context.results;
    const auto [verdict, sentence] = outcome_of(results);
    auto text = fmt::format("<header>\n<h1>IP over InfiniBand conformance</h1>\n<p class=\"outcome {}\">{}</p>\n",
                            key_of(verdict), sentence);
    if (!results.requirements.empty()) text += "<p>" + plain(coverage_sentence(results)) + ".</p>\n";
    return text + lost(results) + "<dl class=\"facts\">\n" + facts(results) + "</dl>\n</header>\n";
}

std::string filter(const Context& context) {
    std::string text =
        "<form id=\"filter\" role=\"search\" aria-label=\"Filter\">\n<div class=\"verdicts\" role=\"group\" "
        "aria-label=\"Verdicts\">";
    for (const auto verdict : all_verdicts)
        if (const auto count = count_of(context.results, verdict))
            text += fmt::format(
                "<button type=\"button\" class=\"badge {0}\" data-v=\"{0}\" aria-pressed=\"false\">{1} {2}</button>",
                key_of(verdict), count, name(verdict));
    text +=
        "</div>\n<label>Search <input type=\"search\" id=\"search\" placeholder=\"press /\"/></label>\n"
        "<label>Section <select id=\"section\"><option value=\"\">all</option>";
    std::vector<std::string> seen;
    for (const auto& requirement : context.results.requirements) {
        auto section = section_of(requirement);
        if (std::ranges::find(seen, section.key) != seen.end()) continue;
        text += fmt::format("<option value=\"{}\">{}</option>", plain(section.key), plain(section.title));
        seen.push_back(std::move(section.key));
    }
    return text +
           "</select></label>\n<button type=\"button\" id=\"all\">Show all</button>\n<output id=\"shown\" "
           "aria-live=\"polite\"></output>\n</form>\n";
}

}  // namespace html

std::string to_html(const Results& results, const Extras& extras, const std::filesystem::path& folder) {
    using namespace html;
    const Requirements requirements{results};
    const auto context = context_of(results, extras, folder, requirements);
    const auto body = html::hosts(context) + html::findings(context) + coverage(context) + comparison(context) +
                      requirement_table(context) + result_table(context) + captures(context);
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
        "charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
        // Even what got past the escaping can fetch nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n";
    text +=
        fmt::format("<title>{} &#183; IP over InfiniBand conformance</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                    outcome_of(results).sentence, style_sheet);
    text += head(context) + contents(body) + filter(context) + "<main>\n" + body + "</main>\n";
    text += fmt::format("<script>//<![CDATA[\n{}//]]></script>\n</body>\n</html>\n", script);
    return text;
}

}  // namespace ipoib::reports

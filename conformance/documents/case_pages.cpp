// SPDX-License-Identifier: GPL-2.0-or-later
// docs/cases/: what each case wants, what it does, and what its failure looks like.
#include "conformance/documents/pages.hpp"
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance {
using namespace reports::markdown;

namespace {

std::string_view judges(const Case& one) {
    if (one.subject == Subject::sa) return "the subnet administrator";
    return one.role == Role::router ? "an IP multicast router" : "an IPoIB interface";
}

std::string_view who_notices(Impact impact) {
    switch (impact) {
        case Impact::observe:
            return "Nobody notices that it runs.";
        case Impact::dut:
            return "Only the DUT notices that it runs.";
        case Impact::link:
            return "Other nodes of the partition may notice that it runs.";
        case Impact::fabric:
            return "The subnet manager, and nodes of other partitions, may notice that it runs.";
    }
    return {};
}

std::string_view if_violated(requirements::Strength strength) {
    using requirements::Strength;
    return strength == Strength::must ? "FAIL" : strength == Strength::should ? "WARN" : "a note";
}

std::string requirements_of(const Case& one) {
    auto text = "## Requirements\n\n" + head({"requirement", "level", "statement", "if violated"});
    for (const auto* requirement : one.checks)
        text += row(
            {requirement->id, requirement->level, plain(requirement->statement), if_violated(requirement->strength)});
    return text + '\n';
}

std::string requests(const Case& one) {
    std::vector<std::string> names;
    for (const auto request : one.dut_can) names.push_back(code(request));
    return listed(names);
}

std::string set_up(const Case& one) {
    using fabric::Ability;
    const bool two = one.needs.has(Ability::two_ports);
    std::string text = two ? "The tester has two ports" : "The tester has a port";
    if (one.subject == Subject::sa)
        text += " on the subnet whose administrator is judged; no IPoIB stack takes part.";
    else
        text += one.begin == Begin::running
                    ? " on the link of the DUT, whose interface is up and has been found by the tester."
                    : " on the link of the DUT, whose interface is down when the case begins.";
    if (const auto needs = in_words(one.needs); !needs.empty()) text += " The fabric must " + needs + '.';
    if (!one.dut_can.empty()) text += " The DUT's adapter must know " + requests(one) + '.';
    text += fmt::format(" {} It lasts at most {} s.", who_notices(one.impact), one.longest().count());
    return "## Set-up\n\n" + paragraph(text);
}

std::string steps_of(const Case& one, const CaseStory& story) {
    std::string text = "## Steps\n\n";
    std::vector<std::string_view> told;
    for (const auto& step : story.steps) {
        // A step in a loop is told once.
        if (std::ranges::find(told, step.title) != told.end()) continue;
        told.push_back(step.title);
        text += fmt::format("{}. {}", told.size(), plain(step.title));
        if (step.judges.size() < one.checks.size()) text += fmt::format(" ({})", listed(step.judges));
        text += '\n';
    }
    return text + '\n' + paragraph(fmt::format("It passes if {}.", plain(one.pass_if)));
}

/// The failure that shows most: by a field of a frame, else by a frame; of these the one of the mutant that the fewest
/// cases find.
const Failure* most_telling(const CaseStory& story, const SelftestOutcome& outcome) {
    const auto killers = [&](const Failure& failure) {
        const auto found = std::ranges::find(outcome.mutants, failure.mutant, &MutantOutcome::mutant);
        return found == outcome.mutants.end() ? 0 : found->killed_by.size();
    };
    const auto rank = [&](const Failure& failure) {
        const int shows = !failure.wrong_header.empty() ? 0 : failure.wrong_frame > 0 ? 1 : 2;
        return std::pair{shows, killers(failure)};
    };
    const auto best = std::ranges::min_element(story.failures, {}, rank);
    return best == story.failures.end() ? nullptr : &*best;
}

std::string in_frames(const Failure& failure) {
    std::string text = "```\n";
    if (failure.left_out > 0) text += fmt::format("   ... {} frames of the step before these\n", failure.left_out);
    for (const auto& frame : failure.frames) {
        text += fmt::format("{:>4} {:<7} {}", frame.number, frame.sender, frame.text);
        if (frame.number == failure.wrong_frame)
            text += "   <- " + (failure.what_is_wrong.empty() ? "this one" : failure.what_is_wrong);
        text += '\n';
    }
    if (!failure.wrong_header.empty()) text += '\n' + failure.wrong_header;
    return text + "```\n\n";
}

std::string failure_of(const Case& one, const CaseStory& story, const SelftestOutcome& outcome) {
    const auto* failure = most_telling(story, outcome);
    if (!failure) return "## A failure\n\n" + paragraph("It observes and leaves a note; nothing makes it fail.");
    auto text = "## A failure\n\n" + paragraph(fmt::format("Against {} ({}): {}.", code(failure->mutant->name),
                                                           plain(failure->mutant->what), name(failure->verdict)));
    text += paragraph(plain(failure->message), "> ");
    if (!failure->frames.empty()) text += in_frames(*failure);
    return text + fmt::format("    ipoib-conform run {} {}\n\n", one.id, options_of(*failure->mutant));
}

std::string mutants_of(const CaseStory& story) {
    if (story.failures.empty()) return {};
    auto text = "## Mutants that it finds\n\n" + head({"mutant", "of", "what it does", "breaks"});
    for (const auto& failure : story.failures) {
        std::vector<std::string_view> broken;
        for (const auto* requirement : failure.mutant->breaks) broken.push_back(requirement->id);
        text += row({code(failure.mutant->name), kind(*failure.mutant), plain(failure.mutant->what), listed(broken)});
    }
    return text;
}

std::string page_of(const Case& one, const CaseStory& story, const SelftestOutcome& outcome) {
    auto page =
        fmt::format("# {}\n\n", one.id) + paragraph(fmt::format("**{}.**", plain(one.title))) +
        paragraph(fmt::format("It judges {}. Made by `scripts/update-docs`; not edited by hand.", judges(one))) +
        requirements_of(one) + set_up(one) + steps_of(one, story) + failure_of(one, story, outcome) + mutants_of(story);
    while (page.ends_with("\n\n")) page.pop_back();
    return page;
}

std::string index() {
    auto page =
        "# The cases\n\n" +
        paragraph(
            "Made by `scripts/update-docs`; not edited by hand. What each case wants of a stack, what it "
            "does, and what its failure looks like. Which requirements have a case tells "
            "[coverage](../../reports/coverage.md), which mutants each finds the [kill matrix](../kill-matrix.md).") +
        head({"case", "judges", "what it claims", "requirements"});
    for (const auto* one : all_cases()) {
        std::vector<std::string_view> ids;
        for (const auto* requirement : one->checks) ids.push_back(requirement->id);
        page += row({fmt::format("[{0}]({0}.md)", one->id), judges(*one), plain(one->title), listed(ids)});
    }
    return page;
}

}  // namespace

std::vector<CasePage> case_pages(const SelftestOutcome& outcome, const CaseStories& stories) {
    std::vector<CasePage> pages;
    for (const auto* one : all_cases())
        pages.push_back({std::string(one->id) + ".md", page_of(*one, stories.of(*one), outcome)});
    pages.push_back({"README.md", index()});
    return pages;
}

}  // namespace ipoib::conformance

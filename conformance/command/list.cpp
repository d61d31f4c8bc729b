// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform list and requirements: what there is to check, and what checks it.
#include "base/json_text.hpp"
#include "conformance/command/choice.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/documents/pages.hpp"
#include "conformance/judge/passive.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace ipoib::conformance {
namespace {

using nlohmann::ordered_json;

struct ListOptions {
    std::vector<std::string> selectors;
    TargetOptions target;
    bool json = false, is_placed = false;  ///< placed: any of `target` was given
};

/// The requirements that a case or rule checks; a rule's list has room for more.
template <class Judge>
std::vector<std::string_view> checked_by(const Judge& judge) {
    std::vector<std::string_view> ids;
    for (const auto* requirement : judge.checks)
        if (requirement) ids.push_back(requirement->id);
    return ids;
}

/// A fabric and a DUT, and what a case could not do there.
class Place {
public:
    explicit Place(const TargetOptions& options) : aim_(aim(options, 1)), abilities_(abilities_at(aim_.target)) {}
    [[nodiscard]] std::optional<Obstacle> obstacle(const Case& one) const {
        return conformance::obstacle(one, aim_.run, abilities_);
    }

private:
    Aim aim_;
    fabric::Abilities abilities_;
};

/// How many cases cannot run for each reason, the most frequent first.
std::string count_of_obstacles(const std::map<std::string, std::size_t>& counts) {
    std::vector<std::pair<std::size_t, std::string>> sorted;
    sorted.reserve(counts.size());
    for (const auto& [why, count] : counts) sorted.emplace_back(count, why);
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto& one) { return one.first; });
    std::string text;
    for (const auto& [count, why] : sorted) text += fmt::format("{:>6} {}\n", count, why);
    return text;
}

std::string_view subject_name(Subject subject) { return subject == Subject::sa ? "sa" : "stack"; }

ordered_json to_json(const Case& one) {
    return {{"id", one.id},
            {"kind", "case"},
            {"title", one.title},
            {"checks", checked_by(one)},
            {"pass_if", one.pass_if},
            {"tags", one.tags},
            {"subject", subject_name(one.subject)},
            {"impact", name(one.impact)},
            {"needs", in_words(one.needs)},
            {"dut_can", one.dut_can},
            {"lasts_at_most", one.longest().count()}};
}

/// `kind`: "rule", or "audit" for those of that command.
template <class Rule>
ordered_json to_json(const Rule& rule, std::string_view kind) {
    return {{"id", rule.id}, {"kind", kind}, {"title", rule.title}, {"checks", checked_by(rule)}};
}

void add_obstacle(ordered_json& entry, const std::optional<Obstacle>& why_not) {
    entry["can_run"] = !why_not;
    entry["na"] = why_not ? ordered_json(reports::name(why_not->reason)) : ordered_json(nullptr);
    entry["why"] = why_not ? why_not->why : "";
}

void print_json(const Choice& choice, const Place* place) {
    auto listed = ordered_json::array();
    for (const auto* one : choice.cases) {
        listed.push_back(to_json(*one));
        if (place) add_obstacle(listed.back(), place->obstacle(*one));
    }
    for (const auto* rule : choice.rules) {
        listed.push_back(to_json(*rule, "rule"));
        if (place) add_obstacle(listed.back(), {});
    }
    for (const auto* rule : choice.audits) listed.push_back(to_json(*rule, "audit"));
    print(json_text(listed, 2) + '\n', Notation::json);
}

template <class Judge>
void print_entry(const Judge& judge) {
    say("{:<36} {}\n{:<36} checks {}\n", judge.id, judge.title, "", fmt::join(checked_by(judge), ", "));
}

void print_text(const Choice& choice, const Place* place) {
    std::size_t can_run = 0;
    std::map<std::string, std::size_t> obstacles;
    for (const auto* one : choice.cases) {
        print_entry(*one);
        if (!place) continue;
        const auto why_not = place->obstacle(*one);
        can_run += !why_not;
        if (!why_not) continue;
        const auto reason = fmt::format("NA ({}): {}", reports::name(why_not->reason), why_not->why);
        say("{:<36} {}\n", "", reason);
        ++obstacles[reason];
    }
    for (const auto* rule : choice.rules) print_entry(*rule);
    for (const auto* rule : choice.audits) print_entry(*rule);
    if (place) say("{} of {} cases can run there.\n{}", can_run, choice.cases.size(), count_of_obstacles(obstacles));
    say("{} cases (ipoib-conform run), {} rules (run and check), {} rules on what an administrator holds (audit).\n",
        choice.cases.size(), choice.rules.size(), choice.audits.size());
}

void run_list(const ListOptions& options) {
    const auto choice = choose(options.selectors);
    const auto place = options.is_placed ? std::make_optional<Place>(options.target) : std::nullopt;
    const auto* at = place ? &*place : nullptr;
    options.json ? print_json(choice, at) : print_text(choice, at);
}

ordered_json to_json(const Coverage& covered) {
    const auto& requirement = *covered.requirement;
    return {{"id", requirement.id},
            {"section", requirement.section()},
            {"level", requirement.level},
            {"strength", strength_name(requirement.strength)},
            {"force", force_name(requirement)},
            {"document_status", name(requirement.status())},
            {"statement", requirement.statement},
            {"status", covered.status()},
            {"by", covered.by()},
            {"reason", covered.ground ? covered.ground->reason : ""}};
}

void print_text(const Coverage& covered) {
    const auto& requirement = *covered.requirement;
    const auto by = covered.by();
    say("{:<22} {:<12} {}\n{:<35} {}{}{}\n", requirement.id, requirement.level, requirement.statement, "",
        covered.status(), by.empty() ? "" : ": ", fmt::join(by, ", "));
    if (covered.ground) say("{:<35} {}\n", "", covered.ground->reason);
}

void run_requirements(bool json, bool gaps) {
    auto chosen = coverage();
    const auto count = chosen.size();
    if (gaps) std::erase_if(chosen, [](const Coverage& one) { return !one.is_open(); });
    if (json) {
        auto listed = ordered_json::array();
        for (const auto& one : chosen) listed.push_back(to_json(one));
        return print(json_text(listed, 2) + '\n', Notation::json);
    }
    for (const auto& one : chosen) print_text(one);
    say("{} of {} requirements{}.\n", chosen.size(), count, gaps ? " are open" : "");
}

Action set_up_list(CLI::App& command, const std::string&) {
    auto options = std::make_shared<ListOptions>();
    command.add_option("SELECTOR", options->selectors, "As for run")->type_name("...");
    command.add_flag("--json", options->json, "As JSON");
    add_target_options(command, options->target);
    add_permission_options(command, options->target);
    command.footer(
        "With options of where and on what, it also tells which cases can run there, and why others cannot.");
    return [options, &command] {
        const std::set<std::string> of_the_list{"--help", "--json", "SELECTOR"};
        for (const auto* const option : command.get_options())
            if (option->count() > 0 && !of_the_list.contains(option->get_name())) options->is_placed = true;
        run_list(*options);
        return exit_ok;
    };
}

Action set_up_requirements(CLI::App& command, const std::string&) {
    struct Options {
        bool json = false, markdown = false, gaps = false;
    };
    auto options = std::make_shared<Options>();
    command.add_flag("--json", options->json, "As JSON");
    command.add_flag("--gaps", options->gaps,
                     "Only those that wait for a case, a rule, or the reason why there is none");
    command.add_flag("--markdown", options->markdown, "As a page: section by section, what covers each")
        ->excludes("--json", "--gaps");
    return [options] {
        if (options->markdown)
            print(coverage_page());
        else
            run_requirements(options->json, options->gaps);
        return exit_ok;
    };
}

}  // namespace

namespace command {

extern const Command list{
    .name = "list", .about = "Cases and rules, and the requirements that they check", .set_up = set_up_list};

extern const Command requirements{.name = "requirements",
                                  .about = "The catalogue of statements, and what checks each",
                                  .set_up = set_up_requirements};

}  // namespace command
}  // namespace ipoib::conformance

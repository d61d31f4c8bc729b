// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform list and requirements: what there is to check, and what checks it.
#include "conformance/command/commands.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/engine/passive.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ipoib::conformance {
namespace {

using nlohmann::ordered_json;

std::vector<std::string_view> checked_by(const rules::Rule& rule) {
    std::vector<std::string_view> ids;
    for (const auto* requirement : rule.checks)
        if (requirement) ids.push_back(requirement->id);
    return ids;
}

void run_list(const std::vector<std::string>& selectors, bool json) {
    const Selection selection{selectors};
    if (const auto wrong = selection.unmatched(selectable_rules()); wrong)
        throw UsageError("no rule matches '" + *wrong + "'");
    auto listed = ordered_json::array();
    const auto selected = selected_rules(selection);
    for (const auto* rule : selected) {
        const auto checks = checked_by(*rule);
        if (json)
            listed.push_back({{"id", rule->id}, {"kind", "rule"}, {"title", rule->title}, {"checks", checks}});
        else
            fmt::print("{:<36} {}\n{:<36} checks {}\n", rule->id, rule->title, "", fmt::join(checks, ", "));
    }
    if (json)
        fmt::print("{}\n", listed.dump(2));
    else
        fmt::print("{} rules; all judge captures (ipoib-conform check).\n", selected.size());
}

/// What checks a requirement: rules that name it, or that name one which implies it.
std::vector<std::string_view> rules_for(std::string_view requirement) {
    std::vector<std::string_view> ids;
    for (const auto& rule : rules::all())
        for (const auto* checked : rule.checks) {
            if (!checked) continue;
            const auto closure = requirements::closure(*checked);
            if (std::ranges::find(closure, requirement) == closure.end()) continue;
            if (ids.empty() || ids.back() != rule.id) ids.push_back(rule.id);
        }
    return ids;
}

std::string_view status_of(const requirements::Requirement& requirement, bool is_checked) {
    using requirements::Test;
    if (is_checked) return "rule";
    if (has(requirement.test, Test::active)) return "open: needs a case";
    if (has(requirement.test, Test::passive)) return "open: needs a rule";
    return "inspection";
}

void run_requirements(bool json, bool gaps) {
    auto listed = ordered_json::array();
    std::size_t shown = 0;
    for (const auto* requirement : requirements::all()) {
        const auto by = rules_for(requirement->id);
        const auto status = status_of(*requirement, !by.empty());
        if (gaps && !status.starts_with("open")) continue;
        ++shown;
        if (json)
            listed.push_back({{"id", requirement->id},
                              {"section", requirement->section()},
                              {"level", requirement->level},
                              {"statement", requirement->statement},
                              {"status", status},
                              {"by", by}});
        else
            fmt::print("{:<22} {:<12} {}\n{:<35} {}{}{}\n", requirement->id, requirement->level, requirement->statement,
                       "", status, by.empty() ? "" : ": ", fmt::join(by, ", "));
    }
    if (json)
        fmt::print("{}\n", listed.dump(2));
    else
        fmt::print("{} of {} requirements{}.\n", shown, requirements::all().size(), gaps ? " are open" : "");
}

}  // namespace

void add_list(CLI::App& program, int& exit_code) {
    struct Options {
        std::vector<std::string> selectors;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand("list", "The rules, and the requirements that they check");
    command->add_option("SELECTOR", options->selectors, "As for check")->type_name("...");
    command->add_flag("--json", options->json, "As JSON");
    command->callback([options, &exit_code] {
        run_list(options->selectors, options->json);
        exit_code = exit_ok;
    });
}

void add_requirements(CLI::App& program, int& exit_code) {
    struct Options {
        bool json = false, gaps = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = program.add_subcommand("requirements", "The catalogue of statements, and what checks each");
    command->add_flag("--json", options->json, "As JSON");
    command->add_flag("--gaps", options->gaps, "Only those that nothing checks yet");
    command->callback([options, &exit_code] {
        run_requirements(options->json, options->gaps);
        exit_code = exit_ok;
    });
}

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// The kill matrix as docs/kill-matrix.md and as JSON.
#include "conformance/documents/pages.hpp"
#include "reports/markdown.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ipoib::conformance {
using namespace reports::markdown;

namespace {

using nlohmann::ordered_json;

std::vector<std::string_view> ids_of(const std::vector<const requirements::Requirement*>& requirements) {
    std::vector<std::string_view> ids;
    ids.reserve(requirements.size());
    for (const auto* requirement : requirements) ids.push_back(requirement->id);
    return ids;
}

template <class Outcome>
std::vector<std::string> killers(const Outcome& outcome, bool cases) {
    std::vector<std::string> ids;
    for (const auto& id : outcome.killed_by)
        if ((find_case(id) != nullptr) == cases) ids.push_back(id);
    return ids;
}

std::string_view fate(const MutantOutcome& outcome) {
    if (outcome.is_permitted()) return outcome.is_right() ? "permitted" : "accused";
    return outcome.is_right() ? "dead" : "alive";
}

ordered_json lasting_json(const MutantOutcome& outcome) {
    auto orders = ordered_json::array();
    for (const auto& one : outcome.lasting)
        orders.push_back({{"order", text(one.order)},
                          {"is_right", outcome.is_right_with(one)},
                          {"cases", killers(one, true)},
                          {"rules", killers(one, false)},
                          {"extra", one.extra},
                          {"wrongly_failed", one.wrongly_failed}});
    return orders;
}

ordered_json to_json(const MutantOutcome& outcome) {
    const auto& mutant = *outcome.mutant;
    return {{"name", mutant.name},
            {"kind", kind(mutant)},
            {"scenario", mutant.scenario},
            {"what", mutant.what},
            {"breaks", ids_of(mutant.breaks)},
            {"sometimes", ids_of(mutant.sometimes)},
            {"spares", mutant.spares},
            {"fate", fate(outcome)},
            {"cases", killers(outcome, true)},
            {"rules", killers(outcome, false)},
            {"missing", outcome.missing},
            {"extra", outcome.extra},
            {"blind", outcome.blind},
            {"wrongly_spared", outcome.wrongly_spared},
            {"accusing", outcome.accusing},
            {"inconclusive", outcome.inconclusive},
            {"wrongly_failed", outcome.wrongly_failed},
            {"lasting", lasting_json(outcome)}};
}

/// The mutants that a case finds.
std::vector<std::string_view> victims(const SelftestOutcome& outcome, const Case& one) {
    std::vector<std::string_view> names;
    for (const auto& judged : outcome.mutants)
        if (std::ranges::find(judged.killed_by, one.id) != judged.killed_by.end()) names.push_back(judged.mutant->name);
    return names;
}

std::string linked(const std::vector<std::string>& cases) {
    std::string text;
    for (const auto& id : cases) text += (text.empty() ? "" : ", ") + fmt::format("[{0}](cases/{0}.md)", id);
    return text;
}

/// What finds a mutant: its cases; the rules where no case does.
std::string found_by(const MutantOutcome& outcome) {
    const auto cases = killers(outcome, true);
    const auto rules = listed(killers(outcome, false));
    if (!cases.empty()) return linked(cases);
    return rules.empty() ? "nothing" : "rules only: " + rules;
}

/// What finds it with one DUT for all cases: "the same", or for each order what does not, and what does besides.
std::string found_with_one_dut(const MutantOutcome& outcome) {
    const auto alone = killers(outcome, true);
    std::string text;
    for (const auto& one : outcome.lasting) {
        const auto found = killers(one, true);
        const auto less = linked(missing_in(found, alone)), more = linked(missing_in(alone, found));
        if (less.empty() && more.empty()) continue;
        text += (text.empty() ? "" : "; ") + conformance::text(one.order) + ": ";
        text += found.empty() ? "nothing" : less.empty() ? "" : "without " + less;
        if (!more.empty()) text += (less.empty() ? "also " : ", but ") + more;
    }
    return text.empty() && !outcome.lasting.empty() ? "the same" : text;
}

std::string table(const SelftestOutcome& outcome, std::string_view of_kind) {
    const bool is_permitted = of_kind == "permitted";
    std::string rows;
    std::size_t count = 0;
    for (const auto& one : outcome.mutants) {
        const auto& mutant = *one.mutant;
        if (kind(mutant) != of_kind) continue;
        ++count;
        const auto name = code(mutant.name) + (mutant.scenario.empty() ? "" : fmt::format(" ({})", mutant.scenario));
        const auto what = plain(mutant.what);
        if (is_permitted)
            rows += row({name, what, found_by(one), found_with_one_dut(one)});
        else
            rows += row({name, what, listed(ids_of(mutant.breaks)), found_by(one), found_with_one_dut(one),
                         listed(mutant.spares)});
    }
    if (count == 0) return {};
    const auto begin = is_permitted ? head({"way", "what it does", "found by", "with one DUT"})
                                    : head({"mutant", "what it does", "breaks", "found by", "with one DUT", "spares"});
    return begin + rows + '\n';
}

std::string by_case(const SelftestOutcome& outcome) {
    auto text = "## By case\n\n" + head({"case", "what it claims", "mutants that it finds"});
    for (const auto* one : all_cases()) {
        std::string names;
        for (const auto name : victims(outcome, *one)) names += (names.empty() ? "" : ", ") + code(name);
        text += row({linked({std::string(one->id)}), plain(one->title), names.empty() ? "none: it observes" : names});
    }
    return text;
}

}  // namespace

std::string kill_matrix_page(const SelftestOutcome& outcome) {
    const auto right = std::ranges::count_if(outcome.mutants, &MutantOutcome::is_right);
    auto page =
        std::string("# The kill matrix\n\n") +
        paragraph(
            "Made by `scripts/update-docs`; not edited by hand. A mutant is an implementation with one deliberate "
            "fault. Each must be found by the cases that judge what it breaks, and by nothing that judges anything "
            "else; what is permitted must be found by nothing. `ipoib-conform selftest --full` does it again.") +
        paragraph(
            "A mutant shows in every scenario, or in the one named with it. It breaks what is listed and all that "
            "this implies. It spares a case that judges what it breaks, but in a way that the fault does not touch, "
            "or not as far as that; every other case that judges it must fail.") +
        paragraph(
            "Found by: with a new DUT for each case. With one DUT: one fabric and one DUT live through all cases, with "
            "their caches, memberships and clock, in declared order and in shuffled ones (`run --order`); another case "
            "may find the mutant then, one must.") +
        paragraph(fmt::format("{} of {} are as they should be.", right, outcome.mutants.size()));
    constexpr std::array<std::array<std::string_view, 2>, 4> kinds{{{"stack", "Stacks"},
                                                                    {"HCA", "Channel adapters"},
                                                                    {"SA", "Subnet administrators"},
                                                                    {"permitted", "Permitted ways"}}};
    for (const auto& [of_kind, title] : kinds)
        if (const auto rows = table(outcome, of_kind); !rows.empty()) page += fmt::format("## {}\n\n", title) + rows;
    return page + by_case(outcome);
}

std::string kill_matrix_json(const SelftestOutcome& outcome, std::string_view suite) {
    auto mutants = ordered_json::array();
    for (const auto& one : outcome.mutants) mutants.push_back(to_json(one));
    auto cases = ordered_json::array();
    for (const auto* one : all_cases()) cases.push_back({{"id", one->id}, {"finds", victims(outcome, *one)}});
    const ordered_json all{{"format", "ipoib-conform-kill-matrix/1"},
                           {"suite", suite},
                           {"complete", outcome.is_complete},
                           {"mutants", std::move(mutants)},
                           {"cases", std::move(cases)},
                           {"idle_cases", outcome.idle_cases},
                           {"reference_failures", outcome.reference_failures}};
    return all.dump(1) + '\n';
}

}  // namespace ipoib::conformance

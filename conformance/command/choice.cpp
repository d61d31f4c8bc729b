// SPDX-License-Identifier: GPL-2.0-or-later
// Narrowing down what runs.
#include "conformance/command/choice.hpp"

#include "conformance/audit/audit.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/passive.hpp"
#include "reports/json.hpp"

#include <algorithm>
#include <set>

namespace ipoib::conformance {
namespace {

bool is_bad(reports::Verdict verdict) {
    using reports::Verdict;
    constexpr std::array bad{Verdict::fail, Verdict::xpass, Verdict::error, Verdict::inconc, Verdict::warn};
    return std::ranges::find(bad, verdict) != bad.end();
}

/// The case whose evidence a capture is; nothing when no case names it.
const Case* case_of(const reports::Results& results, std::uint32_t capture) {
    if (capture >= results.captures.size()) return nullptr;
    for (const auto& result : results.results)
        if (result.evidence == results.captures[capture].file)
            if (const auto* one = find_case(result.id)) return one;
    return nullptr;
}

reports::Results results_in(const std::string& path) {
    auto results = reports::read_json(path);
    if (!results) throw UsageError(results.error);
    return std::move(*results);
}

/// "IPOIB-4391-6-VAL-001" of "IPOIB-4391-6-VAL-001-2", its second repetition.
std::string_view without_repetition(std::string_view id) { return find_case(id) ? id : id.substr(0, id.rfind('-')); }

/// The cases that provoked a rule's violations, or every case when that is not known.
std::set<const Case*> provokers(const reports::Results& results, const reports::Result& rule) {
    std::set<const Case*> cases;
    for (const auto& found : rule.cases)
        if (const auto* one = find_case(without_repetition(found.id))) cases.insert(one);
    if (!cases.empty()) return cases;
    for (const auto& detail : rule.details) cases.insert(case_of(results, detail.capture));
    if (cases.empty() || cases.contains(nullptr)) return {all_cases().begin(), all_cases().end()};
    return cases;
}

}  // namespace

Choice choose(const std::vector<std::string>& selectors) {
    const Selection selection{selectors};
    auto candidates = selectable_cases();
    std::ranges::move(selectable_rules(), std::back_inserter(candidates));
    std::ranges::move(audit::selectable_rules(), std::back_inserter(candidates));
    if (const auto wrong = selection.unmatched(candidates); wrong)
        throw UsageError("no case and no rule matches '" + *wrong + "'" + nearest_selector(*wrong, candidates) +
                         " (ipoib-conform list)");
    return {selected_cases(selection), selected_rules(selection), audit::selected_rules(selection)};
}

std::optional<std::vector<std::string>> requirements_of_run(const std::vector<std::string>& selectors,
                                                            const Choice& chosen, bool is_narrowed) {
    if (selectors.empty() && !is_narrowed) return std::nullopt;
    auto judges = selectable_cases();
    std::ranges::move(selectable_rules(), std::back_inserter(judges));
    const Selection selection{selectors};
    auto selected = selected_requirements(selection, judges);
    if (!is_narrowed) return selected;
    const auto is_left = [&](const std::string& id) {
        const auto checks = [&](const auto* judge) {
            return std::ranges::any_of(judge->checks, [&](const auto* one) { return one && one->id == id; });
        };
        return std::ranges::any_of(chosen.cases, checks) || std::ranges::any_of(chosen.rules, checks);
    };
    std::erase_if(selected, [&](const std::string& id) { return !is_left(id); });
    return selected;
}

std::vector<std::string> keep_failed(Choice& choice, const std::string& path) {
    const auto results = results_in(path);
    std::set<const Case*> cases;
    std::set<const rules::Rule*> failed_rules;
    std::vector<std::string> unknown;
    for (const auto& result : results.results) {
        if (!is_bad(result.verdict)) continue;
        if (const auto* one = find_case(result.id)) {
            cases.insert(one);
        } else if (const auto* rule = rules::find(result.id)) {
            failed_rules.insert(rule);
            cases.merge(provokers(results, result));
        } else {
            unknown.push_back(result.id);
        }
    }
    std::erase_if(choice.cases, [&](const Case* one) { return !cases.contains(one); });
    std::erase_if(choice.rules, [&](const rules::Rule* rule) { return !failed_rules.contains(rule); });
    return unknown;
}

std::vector<std::string> keep_failed(std::vector<const interop::Exchange*>& exchanges, const std::string& path) {
    const auto results = results_in(path);
    const auto& all = interop::all_exchanges();
    std::set<std::string_view> failed;
    std::set<std::string> unknown;
    /// Of "INTEROP-BROADCAST-2", its second repetition, too; whether there is one.
    const auto add = [&](std::string_view id) {
        for (const auto name : {id, id.substr(0, id.rfind('-'))})
            if (const auto found = std::ranges::find(all, name, &interop::Exchange::id); found != all.end())
                return failed.insert((*found)->id), true;
        return false;
    };
    for (const auto& result : results.results) {
        if (!is_bad(result.verdict) || add(result.id)) continue;
        if (!rules::find(result.id)) {
            unknown.insert(result.id);
            continue;
        }
        bool is_known = false;
        for (const auto& provoker : result.cases) is_known = add(provoker.id) || is_known;
        if (!is_known)
            for (const auto* one : all) failed.insert(one->id);
    }
    std::erase_if(exchanges, [&](const interop::Exchange* one) { return !failed.contains(one->id); });
    return {unknown.begin(), unknown.end()};
}

reports::Shard shard_named(const std::string& text) {
    const auto shard = reports::shard_of(text);
    if (!shard) throw UsageError("'" + text + "' is no shard: I/N with I from 1 to N, such as 2/4");
    return *shard;
}

Order order_named(const std::string& text) {
    const auto order = order_of(text);
    if (!order) throw UsageError("'" + text + "' is no order: declared, or seed=N such as seed=7");
    return *order;
}

}  // namespace ipoib::conformance

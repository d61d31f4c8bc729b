// SPDX-License-Identifier: GPL-2.0-or-later
// The names of verdicts and what follows from a whole run: exit code, coverage, the verdict on each requirement.
#include "reports/results.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include <fmt/format.h>

namespace ipoib::reports {
namespace {

constexpr std::array<std::string_view, 8> verdict_names{"FAIL", "XPASS", "ERROR", "INCONC",
                                                        "WARN", "XFAIL", "PASS",  "NA"};
constexpr std::array<std::string_view, 7> reason_names{"",       "profile",  "tester",    "link",
                                                       "safety", "not-seen", "inspection"};
/// Which reason for NA says most: what could have been seen but did not occur before what can never be seen.
constexpr std::array telling{NotJudged::not_seen, NotJudged::link,       NotJudged::profile, NotJudged::safety,
                             NotJudged::tester,   NotJudged::inspection, NotJudged::none};

bool is_must(const RequirementResult& requirement) {
    return requirement.strength.empty() ? requirement.level == "MUST" : requirement.strength == "must";
}

/// Indices of catalogue entries, by id.
using Index = std::map<std::string_view, std::size_t, std::less<>>;

/// Every requirement that a verdict on `from` is a verdict on; marks them in `reached`.
void reach(std::string_view from, const Index& index, std::span<const RequirementMeta> catalogue,
           std::vector<bool>& reached) {
    std::vector<std::string_view> open{from};
    while (!open.empty()) {
        const auto found = index.find(open.back());
        open.pop_back();
        if (found == index.end() || reached[found->second]) continue;
        reached[found->second] = true;
        for (const auto& id : catalogue[found->second].implies) open.emplace_back(id);
    }
}

/// For each requirement the results that bear on it, in the order of the results.
std::vector<std::vector<const Result*>> judges(const Results& results, std::span<const RequirementMeta> catalogue) {
    Index index;
    for (std::size_t i = 0; i < catalogue.size(); ++i) index.emplace(catalogue[i].id, i);
    std::vector<std::vector<const Result*>> found(catalogue.size());
    for (const auto& result : results.results) {
        std::vector<bool> reached(catalogue.size());
        for (const auto& id : result.checks) reach(id, index, catalogue, reached);
        for (std::size_t i = 0; i < catalogue.size(); ++i)
            if (reached[i]) found[i].push_back(&result);
    }
    return found;
}

bool saw_something(const Result& result) { return result.observed > 0 || result.violations > 0; }

/// An ERROR or INCONC that saw nothing yields to any verdict that rests on something.
bool is_without_ground(const Result& result) {
    return (result.verdict == Verdict::error || result.verdict == Verdict::inconc) && !saw_something(result);
}

void add_name(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void say_why_not(RequirementResult& requirement, const RequirementMeta& meta, const std::vector<const Result*>& by) {
    requirement.verdict = Verdict::na;
    if (by.empty()) {
        requirement.na = meta.unjudged;
        requirement.reason = meta.reason;
        return;
    }
    for (const auto reason : telling)
        for (const auto* result : by)
            if (result->na == reason) {
                requirement.na = reason;
                requirement.reason = result->message;
                return;
            }
}

RequirementResult rolled_up(const RequirementMeta& meta, const std::vector<const Result*>& by) {
    RequirementResult requirement{.id = meta.id,
                                  .level = meta.level,
                                  .strength = meta.strength,
                                  .section = meta.section,
                                  .statement = meta.statement,
                                  .verdict = Verdict::na,
                                  .na = NotJudged::none,
                                  .reason = {},
                                  .by = {}};
    for (const auto* result : by)
        if (judged(*result) && !is_without_ground(*result)) {
            requirement.verdict = std::min(requirement.verdict, result->verdict);
            add_name(requirement.by, result->id);
        }
    if (requirement.verdict == Verdict::na)
        for (const auto* result : by)
            if (is_without_ground(*result)) {
                requirement.verdict = std::min(requirement.verdict, result->verdict);
                add_name(requirement.by, result->id);
            }
    if (requirement.verdict != Verdict::na) return requirement;
    say_why_not(requirement, meta, by);
    for (const auto* result : by) add_name(requirement.by, result->id);
    return requirement;
}

}  // namespace

std::string_view name(Verdict verdict) { return verdict_names.at(static_cast<std::size_t>(verdict)); }

std::string_view name(NotJudged reason) { return reason_names.at(static_cast<std::size_t>(reason)); }

std::optional<Verdict> verdict_of(std::string_view name) {
    const auto found = std::find(verdict_names.begin(), verdict_names.end(), name);
    if (found == verdict_names.end()) return std::nullopt;
    return static_cast<Verdict>(found - verdict_names.begin());
}

std::optional<NotJudged> not_judged_of(std::string_view name) {
    const auto found = std::find(reason_names.begin() + 1, reason_names.end(), name);
    if (found == reason_names.end()) return std::nullopt;
    return static_cast<NotJudged>(found - reason_names.begin());
}

bool judged(const Result& result) {
    switch (result.verdict) {
        case Verdict::na:
            return false;
        case Verdict::pass:
            return saw_something(result);
        default:
            return true;
    }
}

int exit_code(const Results& results) {
    const auto any = [&](auto... verdict) {
        return std::any_of(results.results.begin(), results.results.end(),
                           [&](const Result& result) { return ((result.verdict == verdict) || ...); });
    };
    const bool stopped = std::any_of(results.captures.begin(), results.captures.end(),
                                     [](const CaptureResult& capture) { return !capture.error.empty(); });
    if (stopped || any(Verdict::error)) return 3;
    if (any(Verdict::fail, Verdict::xpass)) return 1;
    if (any(Verdict::inconc)) return 5;
    return std::any_of(results.results.begin(), results.results.end(), judged) ? 0 : 4;
}

std::string coverage_sentence(const Results& results) {
    std::size_t musts = 0, known = 0, inconclusive = 0, error = 0, hidden = 0;
    std::array<std::size_t, reason_names.size()> reasons{};
    for (const auto& requirement : results.requirements) {
        if (!is_must(requirement)) continue;
        ++musts;
        switch (requirement.verdict) {
            case Verdict::na:
                ++hidden;
                ++reasons[static_cast<std::size_t>(requirement.na)];
                break;
            case Verdict::inconc:
                ++inconclusive;
                break;
            case Verdict::error:
                ++error;
                break;
            default:
                ++known;
        }
    }
    auto sentence = fmt::format("judged {} of {} MUSTs; {} not judgeable here", known, musts, hidden);
    std::string_view before = ": ";
    for (std::size_t i = 1; i < reasons.size(); ++i)
        if (reasons[i] > 0)
            sentence += fmt::format("{}{} {}", std::exchange(before, ", "), reasons[i], reason_names[i]);
    if (reasons[0] > 0) sentence += fmt::format("{}{} without a reason", before, reasons[0]);
    if (inconclusive > 0) sentence += fmt::format("; {} inconclusive", inconclusive);
    if (error > 0) sentence += fmt::format("; {} in error", error);
    return sentence;
}

void apply_strict(Results& results) {
    for (auto& result : results.results)
        if (result.verdict == Verdict::warn) {
            result.verdict = Verdict::fail;
            result.fail_type = "FAIL.SHOULD";
        }
}

void roll_up(Results& results, std::span<const RequirementMeta> catalogue) {
    const auto by = judges(results, catalogue);
    results.requirements.clear();
    results.requirements.reserve(catalogue.size());
    for (std::size_t i = 0; i < catalogue.size(); ++i) results.requirements.push_back(rolled_up(catalogue[i], by[i]));
}

}  // namespace ipoib::reports

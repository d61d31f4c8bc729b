// SPDX-License-Identifier: GPL-2.0-or-later
// The names of verdicts and what follows from a whole run: exit code, coverage, the verdict on each requirement.
#include "reports/results.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

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

/// A verdict on one requirement, and the result that it comes from.
struct Judgement {
    const Result* from;
    Verdict verdict;
    NotJudged na;
    bool saw_something;

    /// An ERROR or INCONC that saw nothing yields to any verdict that rests on something.
    [[nodiscard]] bool is_without_ground() const {
        return (verdict == Verdict::error || verdict == Verdict::inconc) && !saw_something;
    }
    [[nodiscard]] bool judged() const { return verdict != Verdict::na && (verdict != Verdict::pass || saw_something); }
};
using Judgements = std::vector<Judgement>;

bool saw_something(const Result& result) { return result.observed > 0 || result.violations > 0; }

/// What a result says of one of its checks.
Judgement judgement(const Result& result, std::string_view check) {
    for (const auto& part : result.parts)
        if (part.id == check) return {&result, part.verdict, part.na, part.observed > 0};
    return {&result, result.verdict, result.na, saw_something(result)};
}

/// For each requirement what bears on it, in the order of the results.
std::vector<Judgements> judgements(const Results& results, std::span<const RequirementMeta> catalogue) {
    Index index;
    for (std::size_t i = 0; i < catalogue.size(); ++i) index.emplace(catalogue[i].id, i);
    std::vector<Judgements> found(catalogue.size());
    for (const auto& result : results.results) {
        std::vector<bool> taken(catalogue.size());
        for (const auto& id : result.checks) {
            const auto one = judgement(result, id);
            std::vector<bool> reached(catalogue.size());
            reach(id, index, catalogue, reached);
            for (std::size_t i = 0; i < catalogue.size(); ++i) {
                if (!reached[i] || (taken[i] && result.parts.empty())) continue;
                taken[i] = true;
                found[i].push_back(one);
            }
        }
    }
    return found;
}

void add_name(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void say_why_not(RequirementResult& requirement, const RequirementMeta& meta, const Judgements& by) {
    requirement.verdict = Verdict::na;
    if (by.empty()) {
        requirement.na = meta.unjudged;
        requirement.reason = meta.reason;
        return;
    }
    for (const auto reason : telling)
        for (const auto& one : by)
            if (one.na == reason) {
                requirement.na = reason;
                requirement.reason = one.from->message;
                return;
            }
}

RequirementResult rolled_up(const RequirementMeta& meta, const Judgements& by) {
    RequirementResult requirement{.id = meta.id,
                                  .level = meta.level,
                                  .strength = meta.strength,
                                  .section = meta.section,
                                  .statement = meta.statement,
                                  .verdict = Verdict::na,
                                  .na = NotJudged::none,
                                  .reason = {},
                                  .by = {}};
    for (const bool without_ground : {false, true}) {
        if (requirement.verdict != Verdict::na) break;
        for (const auto& one : by)
            if (one.judged() && one.is_without_ground() == without_ground) {
                requirement.verdict = std::min(requirement.verdict, one.verdict);
                add_name(requirement.by, one.from->id);
            }
    }
    if (requirement.verdict != Verdict::na) return requirement;
    say_why_not(requirement, meta, by);
    for (const auto& one : by) add_name(requirement.by, one.from->id);
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

bool is_by_capture(const Results& results) {
    if (results.captures.size() < 2) return false;
    std::set<std::string_view> ids;
    return !std::all_of(results.results.begin(), results.results.end(),
                        [&](const Result& result) { return ids.insert(result.id).second; });
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
    for (auto& result : results.results)
        for (auto& part : result.parts)
            if (part.verdict == Verdict::warn) part.verdict = Verdict::fail;
}

void roll_up(Results& results, std::span<const RequirementMeta> catalogue) {
    const auto by = judgements(results, catalogue);
    results.requirements.clear();
    results.requirements.reserve(catalogue.size());
    for (std::size_t i = 0; i < catalogue.size(); ++i) results.requirements.push_back(rolled_up(catalogue[i], by[i]));
}

}  // namespace ipoib::reports

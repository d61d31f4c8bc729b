// SPDX-License-Identifier: GPL-2.0-or-later
// From what rules and cases found to a verdict on each requirement: of the whole run, and of each host of a merged one.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/secret_hash.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {
namespace {

/// Which reason for NA says most: what could have been seen but did not occur before what can never be seen.
constexpr std::array telling{NotJudged::not_seen, NotJudged::link,       NotJudged::profile, NotJudged::safety,
                             NotJudged::tester,   NotJudged::inspection, NotJudged::none};

/// Every requirement that a verdict on another one is a verdict on, itself included, as indices into the catalogue.
class Reach {
public:
    explicit Reach(std::span<const RequirementMeta> catalogue) : catalogue_(catalogue) {
        for (std::size_t i = 0; i < catalogue.size(); ++i) index_.emplace(catalogue[i].id, i);
    }

    const std::vector<std::size_t>& from(std::string_view id) {
        const auto [found, is_new] = reached_.try_emplace(id);
        if (!is_new) return found->second;
        std::vector<bool> seen(catalogue_.size());
        std::vector<std::string_view> open{id};
        while (!open.empty()) {
            const auto known = index_.find(open.back());
            open.pop_back();
            if (known == index_.end() || seen[known->second]) continue;
            seen[known->second] = true;
            found->second.push_back(known->second);
            for (const auto& implied : catalogue_[known->second].implies) open.emplace_back(implied);
        }
        return found->second;
    }

private:
    std::span<const RequirementMeta> catalogue_;
    std::unordered_map<std::string_view, std::size_t, SecretHash> index_;
    std::unordered_map<std::string_view, std::vector<std::size_t>, SecretHash> reached_;
};

/// A verdict on one requirement, and the result that it comes from.
struct Judgement {
    const Result* from;
    Verdict verdict;
    NotJudged na;
    bool saw_something;
    std::string_view fail_type;
    bool is_lessened = false;  ///< the verdict was worse than the requirement's strength

    /// An ERROR or INCONC that saw nothing yields to any verdict that rests on something.
    [[nodiscard]] bool is_without_ground() const {
        return (verdict == Verdict::error || verdict == Verdict::inconc) && !saw_something;
    }
    [[nodiscard]] bool judged() const { return verdict != Verdict::na && (verdict != Verdict::pass || saw_something); }
};
using Judgements = std::vector<Judgement>;

/// What a result says of one of its checks.
Judgement judgement(const Result& result, std::string_view check) {
    for (const auto& part : result.parts)
        if (part.id == check) return {&result, part.verdict, part.na, part.observed > 0, part.fail_type};
    return {&result, result.verdict, result.na, result.observed > 0 || result.violations > 0, result.fail_type};
}

/// The same for a requirement of this strength: a text that advises or permits is not violated as one that binds is.
Judgement lessened(Judgement one, std::string_view strength, bool is_strict) {
    const auto to = [&](Verdict verdict) {
        one.verdict = verdict;
        one.is_lessened = one.saw_something = true;
    };
    if (strength == "may" &&
        (one.verdict == Verdict::fail || one.verdict == Verdict::warn || one.verdict == Verdict::xfail))
        to(Verdict::pass);
    if (strength == "should" && one.verdict == Verdict::fail && !is_strict && one.fail_type != "FAIL.SHOULD")
        to(Verdict::warn);
    return one;
}

/// A check of a result: what it says is a judgement.
struct Check {
    std::uint32_t result, index;
};

/// For each requirement the checks that bear on it, in the order of the results.
class Bearing {
public:
    Bearing(const Results& results, std::span<const RequirementMeta> catalogue)
        : results_(results), catalogue_(catalogue), checks_(catalogue.size()) {
        Reach reach(catalogue);
        std::vector<const Result*> taken(catalogue.size());
        for (std::uint32_t i = 0; i < results.results.size(); ++i) {
            const auto& result = results.results[i];
            for (std::uint32_t k = 0; k < result.checks.size(); ++k)
                for (const auto requirement : reach.from(result.checks[k])) {
                    if (taken[requirement] == &result && result.parts.empty()) continue;
                    taken[requirement] = &result;
                    checks_[requirement].push_back({i, k});
                }
        }
    }

    /// Of one requirement. All of them at once would take more memory than the results.
    [[nodiscard]] Judgements on(std::size_t requirement) const {
        Judgements found;
        found.reserve(checks_[requirement].size());
        for (const auto& check : checks_[requirement]) {
            const auto& result = results_.results[check.result];
            found.push_back(lessened(judgement(result, result.checks[check.index]), catalogue_[requirement].strength,
                                     results_.is_strict));
        }
        return found;
    }

private:
    const Results& results_;
    std::span<const RequirementMeta> catalogue_;
    std::vector<std::vector<Check>> checks_;
};

/// Ids of results, each once, in the order in which they came; the first thousand.
class Ids {
public:
    void add(std::string_view id) {
        if (names_.size() < most_ids && seen_.insert(id).second) names_.emplace_back(id);
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
    static constexpr std::size_t most_ids = 1000;
    std::unordered_set<std::string_view, SecretHash> seen_;
    std::vector<std::string> names_;
};

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

/// The worst of the judgements; calls `each` with every one that the verdict rests on.
template <class Each>
Verdict worst_of(const Judgements& by, Each each) {
    auto worst = Verdict::na;
    for (const bool without_ground : {false, true}) {
        if (worst != Verdict::na) break;
        for (const auto& one : by)
            if (one.judged() && one.is_without_ground() == without_ground) {
                worst = std::min(worst, one.verdict);
                each(one);
            }
    }
    return worst;
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
                                  .by = {},
                                  .force = meta.force,
                                  .status = meta.status};
    Ids ids;
    requirement.verdict = worst_of(by, [&](const Judgement& one) { ids.add(one.from->id); });
    requirement.by = ids.take();
    for (const auto& one : by)
        if (one.is_lessened && one.verdict == requirement.verdict) {
            requirement.reason =
                fmt::format("{} is {}; this statement {}", one.from->id,
                            one.from->fail_type.empty() ? name(one.from->verdict) : one.from->fail_type,
                            meta.strength == "may" ? "permits only" : "advises only");
            break;
        }
    if (requirement.verdict != Verdict::na) return requirement;
    say_why_not(requirement, meta, by);
    Ids all;
    for (const auto& one : by) all.add(one.from->id);
    requirement.by = all.take();
    return requirement;
}

/// The verdicts of each host on each requirement, and on the whole.
class HostVerdicts {
public:
    explicit HostVerdicts(Results& results, std::size_t requirements)
        : results_(results), on_host_(results.hosts.size()) {
        for (auto& host : results.hosts) {
            index_.emplace(host.name, index_.size());
            has_fault_.push_back(!faults_of(host).empty());
            host.verdict = has_fault_.back() ? Verdict::error : Verdict::na;
            host.requirements.assign(requirements, Verdict::na);
        }
        for (const auto& result : results.results)
            if (const auto found = index_.find(result.host); found != index_.end() && judged(result))
                results.hosts[found->second].verdict = std::min(results.hosts[found->second].verdict, result.verdict);
    }

    /// Takes what bears on a requirement, and the verdict of all hosts together.
    void roll_up(std::size_t requirement, const Judgements& by, Verdict of_all) {
        for (auto& some : on_host_) some.clear();
        for (const auto& one : by)
            if (const auto found = index_.find(one.from->host); found != index_.end())
                on_host_[found->second].push_back(one);
        for (std::size_t host = 0; host < on_host_.size(); ++host) {
            auto& verdict = results_.hosts[host].requirements[requirement];
            verdict = worst_of(on_host_[host], [](const Judgement&) {});
            if (verdict == Verdict::na && of_all != Verdict::na && has_fault_[host]) verdict = Verdict::error;
        }
    }

private:
    Results& results_;
    std::unordered_map<std::string_view, std::size_t, SecretHash> index_;
    std::vector<bool> has_fault_;
    std::vector<Judgements> on_host_;
};

}  // namespace

void roll_up(Results& results, std::span<const RequirementMeta> catalogue) {
    const Bearing bearing(results, catalogue);
    HostVerdicts hosts(results, catalogue.size());
    results.requirements.clear();
    results.requirements.reserve(catalogue.size());
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        const auto by = bearing.on(i);
        results.requirements.push_back(rolled_up(catalogue[i], by));
        hosts.roll_up(i, by, results.requirements.back().verdict);
    }
}

}  // namespace ipoib::reports

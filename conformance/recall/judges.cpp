// SPDX-License-Identifier: GPL-2.0-or-later
// Rules that are changed, and captures that are judged by them.
#include "conformance/recall/judges.hpp"

#include "base/parallel.hpp"
#include "conformance/metamorphic/run.hpp"
#include "conformance/metamorphic/trial.hpp"

#include <fmt/format.h>

#include <numeric>

namespace ipoib::recall {
namespace {

using metamorphic::Choice, metamorphic::Moved, metamorphic::Moves, metamorphic::Relation, metamorphic::RuleSet,
    metamorphic::Trial;

using Change = JudgeMutant::Change;

rules::Rule changed(const rules::Rule& rule, Change change) {
    auto other = rule;
    if (change == Change::without_proof) {
        other.over = nullptr;
    } else {
        other.holds = nullptr;
        other.duty.reset();
    }
    return other;
}

class Bench {
public:
    explicit Bench(const JudgesRun& run) : run_(run) {
        for (const auto& world : run.worlds)
            if (world.has_psns) sources_.push_back(world.source.get());
        for (const auto* relation : run.relations)
            if (relation->moves == Moves::nothing_new || relation->moves == Moves::same) relations_.push_back(relation);
    }

    Judges go() {
        count_doubts();
        find_all();
        const auto all = rules::all();
        for (const auto& rule : all) {
            if (rule.over) judges_.mutants.push_back({&rule, Change::without_proof});
            if (rule.holds || rule.duty) judges_.mutants.push_back({&rule, Change::dropped});
        }
        in_parallel(judges_.mutants.size(), [&](std::size_t i) {
            if (run_.is_stopped && run_.is_stopped()) return;
            auto& mutant = judges_.mutants[i];
            const auto index = static_cast<std::size_t>(mutant.rule - all.data());
            const auto other = changed(*mutant.rule, mutant.change);
            auto rules = rules::every();
            rules[index] = &other;
            mutant.killed_by = mutant.change == Change::dropped ? by_violation(index, rules) : by_innocent(rules);
        });
        return std::move(judges_);
    }

private:
    /// Variants of a source by a relation, spread evenly.
    static constexpr std::size_t of_each = 4;

    /// Calls `visit(moved, trial)` for legal variants of a source until it is true.
    template <class Visit>
    bool any_variant(const Source& source, const Relation& relation, Trial& trial, const Visit& visit) const {
        static const metamorphic::Sources none;
        const auto count = relation.systematic(source), tries = std::max<std::size_t>(of_each, 1);
        Choice choice;
        for (std::size_t n = 0; n < tries; ++n) {
            const auto number = n * count / tries + (count == 0 ? n + run_.seed : 0);
            if (count == 0 && !relation.is_random) return false;
            if (!metamorphic::choose(relation, source, none, number, choice)) continue;
            if (visit(trial.execute(relation, source, source.everything, choice), trial)) return true;
        }
        return false;
    }

    void count_doubts() {
        std::vector<std::map<std::string, std::size_t>> saved(sources_.size());
        in_parallel(sources_.size(), [&](std::size_t i) {
            Trial trial;
            for (const auto* relation : relations_)
                (void)any_variant(*sources_[i], *relation, trial, [&](const auto&, const Trial& judged) {
                    for (const auto& one : judged.suspicions()) ++saved[i][kind_of(one.doubt)];
                    return false;
                });
        });
        for (const auto& some : saved)
            for (const auto& [doubt, count] : some) judges_.doubts[doubt].saves += count;
    }

    /// What is found by which rule.
    void find_all() {
        const Run sample{.worlds = run_.worlds, .seed = run_.seed, .most_each = 20};
        const auto tasks = tasks_of(sample);
        std::vector<std::vector<Said>> said(tasks.size());
        in_parallel(tasks.size(), [&](std::size_t i) {
            said[i] = judge(run_.worlds[tasks[i].world], run_.worlds[tasks[i].world].violations[tasks[i].violation]);
        });
        found_by_.resize(rules::all().size());
        for (std::size_t i = 0; i < tasks.size(); ++i)
            for (std::size_t claim = 0; claim < said[i].size(); ++claim) {
                if (said[i][claim].answer == Answer::found) found_by_[said[i][claim].rule].push_back({tasks[i], claim});
                if (said[i][claim].answer == Answer::suspected) ++judges_.doubts[said[i][claim].doubt].costs;
            }
    }

    [[nodiscard]] std::string by_violation(std::size_t rule, const RuleSet& rules) const {
        for (const auto& [task, claim] : found_by_[rule]) {
            const auto& world = run_.worlds[task.world];
            const auto& violation = world.violations[task.violation];
            if (judge(world, violation, {.rules = &rules})[claim].answer != Answer::found)
                return world.name + ", " + violation.kind;
        }
        return {};
    }

    [[nodiscard]] std::string by_innocent(const RuleSet& rules) const {
        metamorphic::Verdicts verdicts;
        for (const auto* source : sources_) {
            metamorphic::judge(source->frames(), source->is_one_subnet, source->parties(), verdicts, {.rules = &rules});
            for (const auto& charge : verdicts.charges)
                if (!source->verdicts.has(charge)) return source->name;
        }
        Trial trial;
        trial.judge_by(&rules);
        for (const auto* relation : relations_)
            for (const auto* source : sources_)
                if (any_variant(*source, *relation, trial, [](const std::vector<Moved>& moved, const Trial&) {
                        return std::ranges::any_of(moved, [](const Moved& one) { return !one.is_gone; });
                    }))
                    return std::string(relation->name) + " of " + source->name;
        return {};
    }

    struct Found {
        Task task;
        std::size_t claim;
    };
    const JudgesRun& run_;
    std::vector<const Source*> sources_;
    std::vector<const Relation*> relations_;
    std::vector<std::vector<Found>> found_by_;  ///< by rule
    Judges judges_;
};

}  // namespace

bool Judges::are_all_killed() const noexcept {
    return std::ranges::none_of(mutants, [](const auto& one) { return one.killed_by.empty(); }) &&
           std::ranges::none_of(doubts, [](const auto& one) { return one.second.saves == 0; });
}

Judges judge_judges(const JudgesRun& run) { return Bench{run}.go(); }

std::string text(const Judges& judges) {
    std::string all;
    std::size_t killed = 0;
    for (const auto& one : judges.mutants) {
        const auto what = one.change == Change::dropped ? "dropped" : "without proof";
        killed += !one.killed_by.empty();
        all += one.killed_by.empty() ? fmt::format("ALIVE {:<34} {}\n", one.rule->id, what)
                                     : fmt::format("dead  {:<34} {}: {}\n", one.rule->id, what, one.killed_by);
    }
    for (const auto& [doubt, count] : judges.doubts)
        all += fmt::format("doubt: costs {}, saves {}: {}\n", count.costs, count.saves, doubt);
    return all + fmt::format("{} of {} mutants of the judge are dead\n", killed, judges.mutants.size());
}

}  // namespace ipoib::recall

// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the reference and the mutants, and compares what each mutant breaks with what it declares.
#include "conformance/selftest/selftest.hpp"

#include "conformance/target/simulated_target.hpp"
#include "fabric/simulated/scenario.hpp"
#include "protocol/requirements/rfc4391.hpp"

#include <algorithm>
#include <set>

namespace ipoib::conformance {
using reports::Verdict;

namespace {

using Ids = std::set<std::string_view>;

void add_closure(Ids& ids, std::string_view id) {
    if (const auto* requirement = requirements::find(id))
        for (const auto implied : requirements::closure(*requirement)) ids.insert(implied);
}

Ids declared(const Mutant& mutant) {
    Ids ids;
    for (const auto* requirement : mutant.breaks) add_closure(ids, requirement->id);
    return ids;
}

bool is_violation(Verdict verdict) { return verdict == Verdict::fail || verdict == Verdict::warn; }

void add_broken(Ids& ids, const reports::Result& result) {
    if (!is_violation(result.verdict)) return;
    if (result.parts.empty())
        for (const auto& id : result.checks) add_closure(ids, id);
    for (const auto& part : result.parts)
        if (is_violation(part.verdict)) add_closure(ids, part.id);
}

Ids found_broken(const reports::Results& results) {
    Ids ids;
    for (const auto& result : results.results) add_broken(ids, result);
    return ids;
}

/// What the link of a scenario does not have though it is recommended.
Ids set_aside(std::string_view scenario) {
    constexpr auto controlled = std::uint32_t{0x80000000};
    Ids ids;
    const auto* known = fabric::find_scenario(scenario);
    if (known && (known->link.q_key & controlled) == 0) add_closure(ids, rfc4391::broadcast_group_controlled_qkey.id);
    return ids;
}

std::vector<std::string> difference(const Ids& from, const Ids& without) {
    std::vector<std::string> rest;
    for (const auto id : from)
        if (!without.contains(id)) rest.emplace_back(id);
    return rest;
}

bool claims(const Case& one, const Ids& broken) {
    return std::ranges::any_of(one.checks, [&](const auto* requirement) {
        return std::ranges::any_of(requirements::closure(*requirement),
                                   [&](std::string_view id) { return broken.contains(id); });
    });
}

/// What can be asked of the cases: what they check, and what is the same. Of what that is a part they see a part only.
Ids checked_by(const std::vector<const Case*>& cases) {
    Ids ids;
    for (const auto* one : cases)
        for (const auto* requirement : one->checks) {
            ids.emplace(requirement->id);
            ids.insert(requirement->same_as.begin(), requirement->same_as.end());
        }
    return ids;
}

/// A case whose every statement leaves a choice observes; nothing can fail it.
bool is_observation(const Case& one) {
    return std::ranges::all_of(
        one.checks, [](const auto* requirement) { return requirement->strength == requirements::Strength::may; });
}

/// Whether a requirement is broken by the mutant. What is the same as that counts; what it is part of does not, since a
/// case may judge another part.
bool is_broken(const Mutant& mutant, std::string_view id) {
    return std::ranges::any_of(mutant.breaks, [&](const auto* broken) {
        return id == broken->id || std::ranges::find(broken->same_as, id) != broken->same_as.end();
    });
}

/// Whether the case set out to judge what is broken, and found nothing at all: it judged it and passed, or it came to
/// no verdict. One that does not apply, or did not get to see it, is not blind.
bool is_blind(const reports::Result& result, const Mutant& mutant) {
    if (result.verdict == Verdict::inconc)
        return std::ranges::any_of(result.checks, [&](const std::string& id) { return is_broken(mutant, id); });
    if (result.verdict != Verdict::pass && result.verdict != Verdict::na) return false;
    return std::ranges::any_of(result.parts, [&](const reports::PartVerdict& part) {
        return part.verdict == Verdict::pass && is_broken(mutant, part.id);
    });
}

reports::Results run_on(const Target& target, std::vector<const Case*> cases, const SelftestRun& selftest,
                        const Mutant* mutant) {
    ActiveRun active;
    active.cases = std::move(cases);
    for (const auto& rule : rules::all()) active.rules.push_back(&rule);
    active.judges_sa = target.judges_sa();
    active.has_control = target.has_control();
    active.profile = reference_profile(target);
    active.seed = selftest.seed;
    if (selftest.witness && !target.is_lasting)
        active.witness = [&](const Case& one, const Recorder& recorder, const reports::Result& result) {
            selftest.witness(mutant, one, recorder, result);
        };
    const auto rig = make_rig(target);
    return run(active, *rig);
}

/// One DUT for all cases.
reports::Results run_lasting(Target target, std::vector<const Case*> cases, const Order& order,
                             const SelftestRun& selftest, const Mutant* mutant) {
    put_in(order, cases);
    target.is_lasting = true;
    target.session.seed = selftest.seed;
    return run_on(target, std::move(cases), selftest, mutant);
}

Target target_of(const Mutant& mutant) {
    Target target;
    if (!mutant.scenario.empty()) target.scenario = mutant.scenario;
    const auto name = std::string(mutant.name);
    if (mutant.sa) {
        target.fabric = std::string(sa_mutant_prefix) + name;
        target.dut = "sa";
    } else {
        target.dut = "mutant:" + name;
    }
    return target;
}

std::vector<const Case*> of_subject(const std::vector<const Case*>& cases, Subject subject) {
    std::vector<const Case*> some;
    std::ranges::copy_if(cases, std::back_inserter(some), [&](const Case* one) { return one->subject == subject; });
    return some;
}

class Selftest {
public:
    explicit Selftest(const SelftestRun& run) : run_(run) {}

    SelftestOutcome execute() {
        if (run_.has_references) references();
        std::size_t number = 0;
        for (const auto* mutant : all_mutants()) {
            if (fabric::Loop::stop_requested()) break;
            if (run_.takes && !run_.takes(*mutant)) continue;
            if (run_.progress) run_.progress(mutant->name, ++number, all_mutants().size());
            try_mutant(*mutant);
        }
        for (const auto* one : run_.cases)
            if (!is_observation(*one) && !deadly_.contains(one->id)) outcome_.idle_cases.emplace_back(one->id);
        outcome_.is_complete = outcome_.idle_cases.empty() && outcome_.reference_failures.empty() &&
                               !fabric::Loop::stop_requested() &&
                               std::ranges::all_of(outcome_.mutants, &MutantOutcome::is_right);
        return std::move(outcome_);
    }

private:
    void references() {
        outcome_.reference = reference("default", "reference", Subject::stack);
        outcome_.sa_reference = reference("default", "sa", Subject::sa);
        std::set<std::string_view> scenarios;
        for (const auto* mutant : all_mutants())
            if (!mutant->scenario.empty() && mutant->scenario != "default") scenarios.insert(mutant->scenario);
        for (const auto scenario : scenarios)
            for (const auto& [dut, subject] : {std::pair{"reference", Subject::stack}, std::pair{"sa", Subject::sa}})
                outcome_.in_scenarios.push_back(reference(scenario, dut, subject));
    }

    reports::Results reference(std::string_view scenario, const char* dut, Subject subject) {
        Target target;
        target.scenario = scenario;
        target.dut = dut;
        const auto cases = of_subject(run_.cases, subject);
        auto results = run_on(target, cases, run_, nullptr);
        const auto fails = [&](const std::string& where, const reports::Result& result) {
            outcome_.reference_failures.push_back(where + ": " + result.id + ": " +
                                                  std::string(reports::name(result.verdict)) + ": " + result.message);
        };
        const auto is_sound = [&](const reports::Result& result) {
            return result.verdict == Verdict::pass || result.verdict == Verdict::na ||
                   (target.judges_sa() && is_set_aside(result, scenario));
        };
        for (const auto& result : results.results)
            if (!is_sound(result)) fails(std::string(scenario), result);
        for (const auto& order : run_.lasting)
            for (const auto& result : run_lasting(target, cases, order, run_, nullptr).results)
                if (!is_sound(result) || lost(result, results))
                    fails(std::string(scenario) + ", one DUT, order " + text(order), result);
        return results;
    }

    /// What passes with a DUT of its own, and does not apply to one that has lived: the case has not made what it
    /// needs.
    static bool lost(const reports::Result& result, const reports::Results& alone) {
        const auto is_same = [&](const reports::Result& other) { return other.id == result.id; };
        return result.verdict == Verdict::na && find_case(result.id) &&
               std::ranges::any_of(alone.results, [&](const reports::Result& other) {
                   return is_same(other) && other.verdict == Verdict::pass;
               });
    }

    void try_mutant(const Mutant& mutant) {
        const auto expected = declared(mutant);
        auto cases = of_subject(run_.cases, mutant.sa ? Subject::sa : Subject::stack);
        if (!run_.is_full && !expected.empty())
            std::erase_if(cases, [&](const Case* one) { return !claims(*one, expected); });
        // Of a selection only what it checks can be asked for.
        const bool is_selection = run_.cases.size() < all_cases().size();
        if (is_selection && cases.empty()) return;
        const auto target = target_of(mutant);
        const auto judged = [&](reports::Results results) {
            if (target.judges_sa())
                std::erase_if(results.results,
                              [&](const auto& result) { return is_set_aside(result, target.scenario); });
            return outcome_of(mutant, results, is_selection ? &cases : nullptr, run_.is_full && !is_selection);
        };
        auto outcome = judged(run_on(target, cases, run_, &mutant));
        for (const auto& order : run_.lasting) {
            auto with_one = judged(run_lasting(target, cases, order, run_, &mutant));
            outcome.lasting.push_back(
                {.order = order,
                 .killed_by = std::move(with_one.killed_by),
                 .extra = mutant.does_not_live_on ? std::vector<std::string>{} : std::move(with_one.extra),
                 .wrongly_failed = std::move(with_one.wrongly_failed)});
        }
        for (const auto& id : outcome.killed_by)
            if (const auto* one = find_case(id)) deadly_.insert(one->id);
        outcome_.mutants.push_back(std::move(outcome));
    }

    const SelftestRun& run_;
    SelftestOutcome outcome_;
    std::set<std::string_view> deadly_;
};

std::string list_of(const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
    return text;
}

/// What a run with one DUT tells that the others do not; nothing where it is the same.
std::string told_of(const MutantOutcome& outcome, const LastingOutcome& with_one) {
    std::string text;
    if (with_one.killed_by.empty() && !outcome.is_permitted()) text = "ALIVE";
    if (const auto lost = missing_in(with_one.killed_by, outcome.killed_by); !lost.empty() && text.empty())
        text = "without " + list_of(lost);
    if (const auto more = missing_in(outcome.killed_by, with_one.killed_by); !more.empty())
        text += (text.empty() ? "also " : "; also ") + list_of(more);
    if (!with_one.extra.empty()) text += "\n            broken, not declared: " + list_of(with_one.extra);
    for (const auto& wrong : with_one.wrongly_failed) text += "\n            " + wrong;
    return text.empty() ? text : "        one DUT, order " + conformance::text(with_one.order) + ": " + text + '\n';
}

}  // namespace

std::vector<std::string> missing_in(const std::vector<std::string>& some, const std::vector<std::string>& all) {
    std::vector<std::string> missing;
    for (const auto& id : all)
        if (std::ranges::find(some, id) == some.end()) missing.push_back(id);
    return missing;
}

bool is_set_aside(const reports::Result& result, std::string_view scenario) {
    Ids broken;
    add_broken(broken, result);
    return result.verdict == Verdict::warn && difference(broken, set_aside(scenario)).empty();
}

MutantOutcome outcome_of(const Mutant& mutant, const reports::Results& results,
                         const std::vector<const Case*>* selection, bool has_all_cases) {
    const auto expected = declared(mutant);
    auto wanted = expected, allowed = expected;
    for (const auto* requirement : mutant.sometimes) add_closure(allowed, requirement->id);
    if (mutant.sa) allowed.merge(set_aside(target_of(mutant).scenario));
    if (selection) std::erase_if(wanted, [&](auto id) { return !checked_by(*selection).contains(id); });
    const auto found = found_broken(results);
    MutantOutcome outcome{.mutant = &mutant,
                          .killed_by = {},
                          .missing = difference(wanted, found),
                          .extra = difference(found, allowed),
                          .wrongly_failed = {},
                          .blind = {},
                          .wrongly_spared = {}};
    for (const auto& result : results.results) {
        const bool is_doubted = mutant.breaks.empty() && !mutant.may_doubt && result.verdict == Verdict::inconc;
        if (is_doubted) outcome.wrongly_failed.push_back(result.id + " INCONC " + result.message);
        if (result.verdict == Verdict::error) outcome.wrongly_failed.push_back(result.id + " ERROR " + result.message);
        if (is_violation(result.verdict)) outcome.killed_by.push_back(result.id);
        if (find_case(result.id) != nullptr) {
            outcome.accusing += is_violation(result.verdict);
            outcome.inconclusive += result.verdict == Verdict::inconc;
        }
        // What a rule gets to see is a matter of all cases.
        if (!has_all_cases && find_case(result.id) == nullptr) continue;
        const bool is_spared = std::ranges::find(mutant.spares, result.id) != mutant.spares.end();
        if (const bool missed = is_blind(result, mutant); missed != is_spared)
            (missed ? outcome.blind : outcome.wrongly_spared).push_back(result.id);
    }
    return outcome;
}

SelftestOutcome selftest(const SelftestRun& run) { return Selftest{run}.execute(); }

std::string options_of(const Mutant& mutant) {
    const auto target = target_of(mutant);
    const Target usual;
    auto text = "--dut " + target.dut;
    if (target.fabric != usual.fabric) text += " --fabric " + target.fabric;
    if (target.scenario != usual.scenario) text += " --scenario " + target.scenario;
    return text;
}

/// The mutants with the most of something: "arp-silent 56, maps-32-bits 23".
std::string worst(const std::vector<MutantOutcome>& mutants, std::size_t MutantOutcome::*count) {
    constexpr std::size_t most = 5;
    std::vector<const MutantOutcome*> some;
    for (const auto& one : mutants)
        if (one.*count > 1) some.push_back(&one);
    std::ranges::stable_sort(some, [&](const auto* a, const auto* b) { return a->*count > b->*count; });
    std::string text;
    for (std::size_t i = 0; i < std::min(some.size(), most); ++i)
        text.append(i == 0 ? "" : ", ").append(some[i]->mutant->name).append(" " + std::to_string(some[i]->*count));
    return text;
}

std::string kill_matrix(const SelftestOutcome& outcome) {
    std::size_t width = 0, dead = 0, permitted = 0, right = 0;
    for (const auto& one : outcome.mutants) width = std::max(width, one.mutant->name.size());
    std::string text;
    for (const auto& one : outcome.mutants) {
        auto name = std::string(one.mutant->name);
        name.resize(width + 2, ' ');
        const auto* fate = one.is_permitted() ? "permitted  " : "dead       ";
        text += (one.is_right() ? fate : one.is_permitted() ? "ACCUSED    " : "ALIVE      ") + name;
        text += (one.killed_by.empty() ? "nothing finds it" : list_of(one.killed_by)) + '\n';
        if (!one.missing.empty()) text += "        not found broken: " + list_of(one.missing) + '\n';
        if (!one.extra.empty()) text += "        broken, not declared: " + list_of(one.extra) + '\n';
        if (!one.blind.empty())
            text += "        judge what is broken, and do not find it: " + list_of(one.blind) + '\n';
        if (!one.wrongly_spared.empty())
            text += "        named as spared, and are not: " + list_of(one.wrongly_spared) + '\n';
        for (const auto& wrong : one.wrongly_failed) text += "        " + wrong + '\n';
        for (const auto& with_one : one.lasting) text += told_of(one, with_one);
        (one.is_permitted() ? permitted : dead) += 1;
        right += one.is_right() && !one.is_permitted();
    }
    for (const auto& failure : outcome.reference_failures) text += "reference " + failure + '\n';
    for (const auto& idle : outcome.idle_cases) text += "no mutant dies by " + idle + '\n';
    if (const auto most = worst(outcome.mutants, &MutantOutcome::accusing); !most.empty())
        text += "accused by the most cases: " + most + '\n';
    if (const auto most = worst(outcome.mutants, &MutantOutcome::inconclusive); !most.empty())
        text += "keep the most cases from a verdict: " + most + '\n';
    text += std::to_string(right) + " of " + std::to_string(dead) + " mutants die by just what they break\n";
    if (permitted == 0) return text;
    const auto accused = static_cast<std::size_t>(
        std::ranges::count_if(outcome.mutants, [](const auto& one) { return one.is_permitted() && !one.is_right(); }));
    return text + std::to_string(permitted - accused) + " of " + std::to_string(permitted) + " permitted ways pass\n";
}

}  // namespace ipoib::conformance

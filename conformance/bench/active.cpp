// SPDX-License-Identifier: GPL-2.0-or-later
// Runs cases one after the other, as long as there is something to judge.
#include "conformance/bench/active.hpp"

#include "conformance/bench/case_run.hpp"
#include "conformance/bench/repetitions.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace ipoib::conformance {
using reports::NotJudged;
using reports::Result;
using reports::Verdict;

namespace {

Result not_run(const Case& one, const Obstacle& obstacle) {
    Result result{.id = std::string(one.id), .title = std::string(one.title)};
    for (const auto* requirement : one.checks) result.checks.emplace_back(requirement->id);
    result.verdict = Verdict::na;
    result.na = obstacle.reason;
    result.message = obstacle.why;
    return result;
}

/// The cases of a run, one after the other.
class Sequence {
public:
    Sequence(const ActiveRun& run, Rig& rig)
        : run_(run), rig_(rig), rules_(run.rules, run.judges_sa ? Party::sa : Party::dut) {}

    void take(const Case& one) {
        if (!is_over_ && fabric::Loop::stop_requested()) end("The run goes to its end", "interrupted");
        if (is_over_) {
            ++not_begun_;
            return;
        }
        if (const auto why_not = obstacle(one, run_, rig_.abilities())) {
            results_.results.push_back(not_run(one, *why_not));
            return;
        }
        Repetitions repetitions;
        repetitions.take(execute(one, 0));
        for (unsigned repetition = 1;
             repetition < run_.repeat && !fabric::Loop::stop_requested() && not_put_back_.empty(); ++repetition)
            repetitions.take(execute(one, repetition));
        auto result = repetitions.result();
        if (is_worth_another_attempt(result)) result = try_again(one, std::move(result));
        keep(one, std::move(result));
        if (run_.max_failures != 0 && !is_over_ && failures() >= run_.max_failures) is_over_ = has_enough_ = true;
    }

    reports::Results results() {
        if (never_begun_) results_.results.push_back(*std::exchange(never_begun_, {}));
        if (not_begun_ > 0)
            results_.results.back().notes.push_back(
                (has_enough_ ? "there are " + std::to_string(run_.max_failures) + " failures (--max-failures): "
                             : std::string{}) +
                std::to_string(not_begun_) + (not_begun_ == 1 ? " case was" : " cases were") + " not begun");
        if (without_dut_ > 0)
            results_.results[first_without_dut_].notes.push_back(
                "for want of the interface " + std::to_string(without_dut_) + " more " +
                (without_dut_ == 1 ? "case was" : "cases were") + " not judged");
        if (lack_evidence_ > 0) tell_of_lost_evidence();
        rules_.add_to(results_);
        results_.fabric = rig_.fabric_facts();
        return std::move(results_);
    }

private:
    static constexpr unsigned most_broken = 3;

    [[nodiscard]] unsigned failures() const {
        unsigned count = 0;
        const auto counts = [&](const Result& one) {
            return run_.is_failure ? run_.is_failure(one, results_) : one.verdict == Verdict::fail;
        };
        for (const auto& one : results_.results) count += counts(one) ? 1 : 0;
        for (const auto& one : rules_.so_far()) count += counts(one) ? 1 : 0;
        return count;
    }

    Result execute(const Case& one, unsigned repetition) {
        CaseRun case_run{run_, rig_, rules_, one, repetition};
        auto result = case_run.execute(results_);
        broken_in_a_row_ = case_run.is_broken() ? broken_in_a_row_ + 1 : 0;
        not_put_back_ = case_run.not_put_back();
        has_begun_ = has_begun_ || case_run.has_begun();
        was_without_dut_ = case_run.was_without_dut();
        if (!run_.may_lack_evidence && !case_run.not_kept().empty() && lack_evidence_++ == 0)
            not_kept_ = std::string(one.id) + ": " + case_run.not_kept();
        return result;
    }
    /// In real time a machine that was busy leaves a case undecided that would be decided a moment later. Virtual time
    /// tells the same again.
    [[nodiscard]] bool is_worth_another_attempt(const Result& result) const {
        return result.verdict == Verdict::inconc && run_.repeat == 1 && !rig_.is_virtual() && !was_without_dut_ &&
               not_put_back_.empty() && !fabric::Loop::stop_requested();
    }
    Result try_again(const Case& one, Result first) {
        auto second = execute(one, 1);
        // What was told once, of the session say, is told with the case all the same.
        first.notes.push_back("the first attempt was undecided: " + first.message);
        second.notes.insert(second.notes.begin(), first.notes.begin(), first.notes.end());
        second.seconds += first.seconds;
        return second;
    }
    void keep(const Case& one, Result result) {
        if (!has_begun_) return keep_in_mind(std::move(result));
        if (never_begun_) results_.results.push_back(*std::exchange(never_begun_, {}));
        const bool is_in_vain = was_without_dut_ && result.verdict == Verdict::inconc;
        if (is_in_vain && first_without_dut_ < results_.results.size()) {
            ++without_dut_;
        } else {
            if (is_in_vain) first_without_dut_ = results_.results.size();
            results_.results.push_back(std::move(result));
        }
        // On a fabric that is not as it was nothing more can be judged.
        if (!not_put_back_.empty())
            end("What a case changes on the fabric is taken back",
                "after " + std::string(one.id) + ": " + not_put_back_);
        else if (broken_in_a_row_ >= most_broken)
            end("Adapter and fabric last",
                "adapter or fabric broke " + std::to_string(most_broken) + " times in a row");
    }

    /// Adapter or fabric may need a second attempt. Where that fails, too, no case can be blamed.
    void keep_in_mind(Result result) {
        if (!never_begun_) {
            never_begun_ = std::move(result);
            return;
        }
        never_begun_.reset();
        not_begun_ += 2;
        end("There is a session to begin with", result.message);
        results_.results.back().notes = std::move(result.notes);
    }

    void end(std::string title, std::string why) {
        Result result{.id = "SESSION", .title = std::move(title)};
        result.verdict = Verdict::error;
        result.message = std::move(why);
        results_.results.push_back(std::move(result));
        is_over_ = true;
    }
    void tell_of_lost_evidence() {
        Result result{.id = "EVIDENCE", .title = "The frames and the journal of each case are kept"};
        result.verdict = Verdict::error;
        result.message = not_kept_;
        if (lack_evidence_ > 1) result.notes.push_back("so it went " + std::to_string(lack_evidence_) + " times");
        results_.results.push_back(std::move(result));
    }

    const ActiveRun& run_;
    Rig& rig_;
    RuleTally rules_;
    reports::Results results_;
    bool has_begun_ = false, was_without_dut_ = false, is_over_ = false, has_enough_ = false;
    unsigned broken_in_a_row_ = 0;
    std::string not_put_back_, not_kept_;  ///< the first that was not
    std::size_t not_begun_ = 0, lack_evidence_ = 0, without_dut_ = 0;
    std::size_t first_without_dut_ = std::numeric_limits<std::size_t>::max();
    std::optional<Result> never_begun_;  ///< the first case, while no session has begun
};

}  // namespace

std::optional<Obstacle> obstacle(const Case& one, const ActiveRun& run, fabric::Abilities abilities,
                                 const std::vector<std::string>* dut_can) {
    if ((one.subject == Subject::sa) != run.judges_sa)
        return Obstacle{NotJudged::profile, one.subject == Subject::sa
                                                ? "judges the subnet administrator: run it with --dut sa"
                                                : "judges an IPoIB stack, not the subnet administrator"};
    if (one.role == Role::router && run.profile.role != Role::router)
        return Obstacle{NotJudged::profile, "judges an IP multicast router; the DUT's profile says host"};
    const auto& modes = run.profile.modes;
    const auto is = [](std::string_view word) { return [word](std::string_view other) { return word == other; }; };
    if (!modes.empty() && std::ranges::any_of(one.tags, is("connected")) &&
        std::ranges::none_of(modes, is("connected")))
        return Obstacle{NotJudged::profile, "judges connected mode (RFC 4755); the DUT's profile has no such mode"};
    if (run.profile.mtu != 0 && run.profile.mtu < one.least_mtu)
        return Obstacle{NotJudged::profile, "needs packets of " + std::to_string(one.least_mtu) +
                                                " octets; the DUT's profile says " + std::to_string(run.profile.mtu)};
    if (one.impact > run.allow)
        return Obstacle{NotJudged::safety, "its impact is \"" + std::string(name(one.impact)) +
                                               "\"; --allow permits \"" + std::string(name(run.allow)) + '"'};
    if (!abilities.has(one.needs))
        return Obstacle{NotJudged::tester, "this fabric cannot " + in_words(one.needs.without(abilities))};
    if (!one.dut_can.empty() && !run.has_control)
        return Obstacle{NotJudged::tester, "needs control of the DUT (" + std::string(one.dut_can.front()) + ")"};
    if (dut_can != nullptr && run.has_control)
        for (const auto& request : one.dut_can)
            if (std::ranges::none_of(*dut_can, is(request)))
                return Obstacle{NotJudged::tester, "the DUT's adapter cannot \"" + std::string(request) + '"'};
    return {};
}

reports::Results run(const ActiveRun& run, Rig& rig) {
    Sequence sequence{run, rig};
    std::size_t number = 0;
    for (const auto* one : run.cases) {
        if (run.progress) run.progress(*one, ++number, run.cases.size());
        sequence.take(*one);
    }
    return sequence.results();
}

bool is_in_shard(std::string_view id, unsigned index, unsigned count) noexcept {
    return count == 0 || hash_of(id) % count == index - 1;
}

}  // namespace ipoib::conformance

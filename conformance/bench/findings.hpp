// SPDX-License-Identifier: GPL-2.0-or-later
// What a case finds of each requirement that it checks, step by step, and the verdict that follows.
#pragma once

#include "conformance/bench/expectation.hpp"
#include "conformance/bench/recorder.hpp"
#include "protocol/requirements/requirement.hpp"
#include "reports/results.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

struct Case;

class Findings {
public:
    /// `capture`: the index that the evidence file will have. The case and the recorder are not owned.
    Findings(const Case& running, std::uint32_t capture, Recorder& recorder);

    /// What is found from now on is charged to these requirements; none named: to all of the case. Throws CaseEnds for
    /// one that the case does not list.
    void step(std::string_view title, const std::vector<const requirements::Requirement*>& judged);
    /// `step "TITLE": `, as messages begin.
    [[nodiscard]] std::string where() const { return "step \"" + step_title_ + "\": "; }
    [[nodiscard]] const std::string& step_title() const noexcept { return step_title_; }

    /// What the titles of the steps begin with from now on: "IPv6: ".
    void speak_of(std::string_view matter) { matter_ = matter; }

    /// Something was there to be judged.
    void observed();
    /// Told once, when the first violation of the case is found: nothing has been undone yet.
    void on_first_violation(std::function<void(const std::string& what)> told) {
        on_first_violation_ = std::move(told);
    }

    /// Counts a violation of the step's requirements and keeps it for the report: found now, or when there were
    /// `before` frames.
    void violated(reports::Detail detail, const std::string& sentence) {
        violated(std::move(detail), sentence, recorder_.size());
    }
    void violated(reports::Detail detail, const std::string& sentence, std::size_t before);
    /// The same of advice.
    void warned(reports::Detail detail, const std::string& sentence);
    /// Judges the claims of the expectation on a frame.
    void judge_claims(const Expectation& expectation, std::size_t frame, const Situation& situation);
    void note(std::string text) { result_.notes.push_back(std::move(text)); }

    /// The verdict that was found.
    void conclude();
    /// The case ended in another way, which hides no violation that was proven before.
    void conclude(reports::Verdict verdict, const std::string& why,
                  reports::NotJudged reason = reports::NotJudged::none);

    [[nodiscard]] std::uint32_t capture() const noexcept { return capture_; }
    [[nodiscard]] reports::Result& result() noexcept { return result_; }

private:
    struct Tally {
        const requirements::Requirement* requirement;
        std::uint64_t observed = 0, violations = 0, warnings = 0;
    };
    [[nodiscard]] static reports::Verdict verdict_of(const Tally& tally);
    void keep(reports::Detail detail, std::string_view kind, const std::string& sentence, std::size_t before);
    void judge_claim(const Expectation::Claim& claim, const Expectation& expectation, std::size_t frame,
                     const wire::Packet& packet, const Situation& situation);

    std::uint32_t capture_;
    Recorder& recorder_;
    reports::Result result_;
    std::vector<Tally> tallies_;
    std::string matter_, step_title_;
    std::vector<std::size_t> judged_;  ///< tallies of the step
    std::string first_failure_;
    std::function<void(const std::string&)> on_first_violation_;
    std::string untold_;  ///< which claim could not be judged here; empty: every one was
};

}  // namespace ipoib::conformance

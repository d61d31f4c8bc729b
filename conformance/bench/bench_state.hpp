// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine keeps while a case runs: where it is, what was observed, what went wrong.
#pragma once

#include "conformance/bench/bench.hpp"
#include "conformance/bench/profile.hpp"
#include "conformance/bench/recorder.hpp"
#include "conformance/bench/session.hpp"
#include "conformance/bench/tester_port.hpp"
#include "reports/results.hpp"

namespace ipoib::conformance {

struct Case;

/// The case needs what is not here: NA.
struct NotApplicable {
    reports::NotJudged reason;
    std::string why;
};
/// A requirement is violated in a way that leaves nothing to go on with.
struct CaseEnded {};
/// The case or the engine is wrong: ERROR.
struct CaseDefect : std::logic_error {
    using std::logic_error::logic_error;
};

/// "1000 ms", "frame 7": as people read them.
[[nodiscard]] inline std::string milliseconds(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + " ms";
}
[[nodiscard]] inline std::string frame_name(std::size_t index) { return "frame " + std::to_string(index + 1); }

/// What was found of one requirement.
struct Tally {
    const requirements::Requirement* requirement;
    std::uint64_t observed = 0, violations = 0, warnings = 0;
};

struct Bench::State {
    Session& session;
    const Case& running;
    const Profile& profile;
    std::uint32_t capture = 0;  ///< the index that the evidence file will have
    Recorder recorder{};
    reports::Result result{};
    std::vector<Tally> tallies{};

    std::string step_title{};
    std::vector<std::size_t> judged{};       ///< tallies of the step
    std::size_t step_begin = 0, mark = 0;    ///< frames: of the step, since the last stimulus
    std::optional<wire::Gid> asked_group{};  ///< where the message sent last went, if to a group
    bool is_controlled = false;
    bool changed_fabric = false;
    std::string first_failure{};
    std::string untold{};  ///< which claim could not be judged here; empty: every one was

    std::optional<TesterPort> first_port{}, second_port{};
    std::unique_ptr<Tester> second_tester{};
    std::vector<std::pair<std::uint16_t, wire::Gid>> subscriptions{};  ///< trap and GID, as they were asked for
    std::vector<std::pair<std::uint16_t, wire::Gid>> reports{};        ///< trap and group, as they came
    std::size_t reports_before_step = 0;
    std::vector<fabric::FabricChange> to_undo{};  ///< what takes back the changes of the fabric, the last one first

    ~State();
    /// Keeps what takes a change of the fabric back, or forgets it where this change has done so.
    void changed(const fabric::FabricChange& change);
    /// After the case: takes back what it changed and leaves what its second port joined. What of the fabric could not
    /// be taken back; empty where it is as before.
    [[nodiscard]] std::string undo();
    void stop_listening() noexcept;

    [[nodiscard]] Situation& situation() noexcept { return session.situation(); }
    void observed();
    /// Counts a violation of the step's requirements and keeps it for the report.
    void violated(reports::Detail detail, const std::string& sentence);
    /// The same of advice.
    void warned(reports::Detail detail, const std::string& sentence);
    /// Keeps what is told of a violation.
    void keep(reports::Detail detail, std::string_view kind, const std::string& sentence);
    /// Runs until a frame from `since` on is the one, or time is over; its index.
    std::optional<std::size_t> await(const Expectation& expectation, const Situation& asked, std::size_t since,
                                     Within time);
    std::optional<std::size_t> find(const Expectation& expectation, const Situation& asked, std::size_t since) const;
    /// Looks again and again whether something holds that no frame tells.
    bool comes_true(const std::function<bool()>& holds, Within time);
    /// The same since the last stimulus; without it the case is INCONC.
    std::size_t demand(const Expectation& expectation, Within time);
    /// By --timeout-scale, which never cuts what the DUT has stated.
    [[nodiscard]] fabric::Duration scaled(Within time) const;
    /// Judges the claims on a frame.
    void judge_claims(const Expectation& expectation, std::size_t frame);
    [[nodiscard]] std::string what_came_instead(std::size_t since) const;
    void demand_sight(const Expectation& expectation) const;
};

}  // namespace ipoib::conformance

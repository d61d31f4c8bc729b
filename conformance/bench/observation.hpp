// SPDX-License-Identifier: GPL-2.0-or-later
// What is seen of the DUT while a case runs: since its step began, since the tester did something, and within a time.
#pragma once

#include "conformance/bench/expectation.hpp"
#include "conformance/bench/findings.hpp"
#include "conformance/bench/session.hpp"
#include "conformance/bench/within.hpp"

#include <functional>
#include <optional>
#include <string>

namespace ipoib::conformance {

enum class Subject : std::uint8_t;

/// "frame 7": as people number them.
[[nodiscard]] std::string frame_name(std::size_t index);

/// What a packet counts whose IP, UDP, TCP or ICMP checksum is wrong: whoever gets it drops it, but it was sent.
enum class Damaged : std::uint8_t { is_dropped, was_sent };

class Observation {
public:
    /// Nothing is owned. What is awaited without success ends the case, told with the step that `findings` is at.
    Observation(Session& session, Recorder& recorder, const Findings& findings, Subject subject)
        : session_(session), recorder_(recorder), findings_(findings), subject_(subject) {}

    /// What the tester did last, or the DUT was asked to do: answers come after it.
    struct Stimulus {
        std::size_t frame = 0;             ///< how many there were before it
        std::optional<wire::Gid> group{};  ///< where it was sent, if to a group
    };
    void begin_step();
    void stimulate(std::optional<wire::Gid> group = {}) { stimulus_ = {recorder_.size(), group}; }
    [[nodiscard]] const Stimulus& stimulus() const noexcept { return stimulus_; }
    /// Goes on with an earlier one.
    void resume(const Stimulus& earlier) { stimulus_ = earlier; }
    [[nodiscard]] std::size_t step_begin() const noexcept { return step_begin_; }

    /// Runs the fabric until a frame from `since` on is the one, or time is over; its index.
    std::optional<std::size_t> await(const Expectation& expectation, const Situation& asked, std::size_t since,
                                     Within time, Damaged damaged = Damaged::is_dropped);
    /// The same since the stimulus.
    std::optional<std::size_t> await(const Expectation& expectation, Within time);
    /// The same; without it the case is INCONC.
    std::size_t demand(const Expectation& expectation, Within time);
    /// Among what was seen.
    [[nodiscard]] std::optional<std::size_t> find(const Expectation& expectation, const Situation& asked,
                                                  std::size_t since, Damaged damaged = Damaged::is_dropped) const;
    [[nodiscard]] std::optional<std::size_t> find_in_step(const Expectation& expectation,
                                                          Damaged damaged = Damaged::is_dropped) const;
    /// Runs the fabric until this holds, looking again and again at what no frame tells; whether it came to hold.
    bool comes_true(const std::function<bool()>& holds, Within time);
    /// The same of what incoming frames tell at once.
    bool comes_true_by_frames(const std::function<bool()>& holds, Within time);
    /// How long was waited: " within 2 s"; nothing where it was only looked.
    [[nodiscard]] std::string limit_text(Within time) const;
    void pass(Within time) { session_.loop().run_for(scaled(time)); }

    /// The case is NA where the fabric does not show such frames.
    void demand_sight(const Expectation& expectation) const;
    [[nodiscard]] bool sees_all() const;
    /// "the DUT sent nothing", "the DUT sent frame 3 ARP request ...".
    [[nodiscard]] std::string what_came_instead() const;

private:
    /// By --timeout-scale, which never cuts what the DUT has stated; and with what the DUT is late by, too.
    [[nodiscard]] fabric::Duration stretched(Within time) const;
    [[nodiscard]] fabric::Duration scaled(Within time) const;

    Session& session_;
    Recorder& recorder_;
    const Findings& findings_;
    Subject subject_;
    std::size_t step_begin_ = 0;
    Stimulus stimulus_{};
};

}  // namespace ipoib::conformance

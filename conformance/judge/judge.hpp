// SPDX-License-Identifier: GPL-2.0-or-later
// The passive judge: takes the frames of one capture in order and keeps what each rule found.
#pragma once

#include "conformance/judge/supply.hpp"
#include "reports/results.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

using inspection::Origin;
using inspection::Party;
using inspection::SubjectFilter;
using JudgeOptions = inspection::Options;

/// Violations of one subject that one doubt keeps from being told as such.
struct Suspected {
    state::Doubt doubt{};
    std::string lacks;   ///< for the first of them: what the capture does not show
    std::string assume;  ///< what would settle it, as --assume takes it; empty where nothing of the kind would
    std::uint64_t count = 0;
    std::vector<reports::Detail> details{};  ///< of the first
};

/// What one rule found in a capture.
struct Finding {
    std::uint64_t observed = 0, violations = 0, notes = 0;
    std::uint64_t unknown = 0;           ///< packets it could not judge, since something was not known
    state::Facts missing = 0;            ///< what was not known then
    std::uint64_t by_assumption = 0;     ///< packets judged by what the user said of a group
    std::uint64_t undecided = 0;         ///< violations that only hold if nothing is missing in the capture
    std::uint64_t overlooked = 0;        ///< duties that began while as many were open as are kept
    std::vector<Suspected> suspected{};  ///< these, but for kinds that are one too many
    std::uint64_t vouched_for = 0;       ///< violations that rest on what the user vouches for
    state::Assumptions rests_on = 0;     ///< on all of this
    std::vector<reports::Detail> details;
};

/// Judges one capture, or several as one. Memory is bounded whatever their length.
class Judge {
public:
    /// Told of every violation as it is found (also beyond the first 100).
    using Listener = std::function<void(const rules::Rule&, const reports::Detail&)>;

    /// Shown every packet that counts, with what is known when it has been taken, after the rules.
    using Onlooker = std::function<void(const wire::Packet&, const state::Known&, const state::Subnet&)>;

    Judge(std::vector<const rules::Rule*> rules, std::uint32_t capture_index, Listener listener = {},
          JudgeOptions options = {});

    void set_onlooker(Onlooker onlooker) { onlooker_ = std::move(onlooker); }

    /// Judges the next frame, of the capture named to the constructor or of another.
    void frame(const capture::Frame& frame, Origin origin = {}) { this->frame(frame, origin, capture_index_); }
    void frame(const capture::Frame& frame, Origin origin, std::uint32_t capture_index);
    /// The same of one that was examined with `rule_list()`, if it can be judged at all.
    void frame(const Sighting& sighting, const inspection::Examined& examined);
    /// The capture, `capture_index` of those judged, tells of a loss that none of its frames tells.
    void tell_loss(const capture::Loss& loss, Origin origin, std::string_view interface_name,
                   std::uint32_t capture_index);
    /// After the last frame and the last loss. What no packet can prove any more is undecided from then on.
    void finish();

    /// The verdicts so far, in the order of the rules.
    [[nodiscard]] std::vector<reports::Result> results() const;
    /// What is not decided for a doubt, in the order of the rules.
    [[nodiscard]] std::vector<reports::Suspicion> suspicions() const;
    /// Packets that are IPoIB, and what else is worth telling about the capture.
    [[nodiscard]] std::uint64_t ipoib() const noexcept { return ipoib_; }
    [[nodiscard]] std::vector<std::string> notes() const;
    [[nodiscard]] const std::vector<Finding>& findings() const {
        settle();
        return findings_;
    }
    [[nodiscard]] const std::vector<const rules::Rule*>& rules() const noexcept { return inspector_.rules(); }
    [[nodiscard]] const inspection::RuleList& rule_list() const noexcept { return inspector_.rule_list(); }
    /// The times of the first and of the last frame, in ns since 1970; 0 where the capture has none.
    [[nodiscard]] std::int64_t began() const noexcept { return began_; }
    [[nodiscard]] std::int64_t now() const noexcept { return now_; }
    /// The subnets that the frames belong to.
    [[nodiscard]] std::vector<const state::Subnet*> subnets() const { return inspector_.subnets(); }

private:
    struct Tally {
        std::uint64_t count = 0, first = 0;
        void add(std::uint64_t frame) noexcept { first = count++ ? first : frame; }
    };
    struct Counter;

    void take(const capture::Frame& frame, Origin origin, std::uint32_t capture_index,
              const inspection::Examined* examined);
    void meets_medium();
    void judge(const capture::Frame& frame);
    void settle() const;
    void violated(std::size_t rule, const capture::Frame& frame);
    void accused(const inspection::Accusation& accusation);
    void undecided(const inspection::Accusation& accusation, const state::Reason& lacks);
    void keep(std::size_t rule, reports::Detail detail);
    [[nodiscard]] reports::Result result(std::size_t rule) const;
    [[nodiscard]] std::string why_not_judged(std::size_t rule, reports::NotJudged& reason) const;

    // What was only counted is told when somebody asks.
    mutable inspection::Inspector inspector_;
    mutable std::vector<Finding> findings_;
    std::uint32_t capture_index_;
    Listener listener_;
    Onlooker onlooker_;
    wire::Parts media_parts_ = 0;  ///< what the media seen so far can show
    std::vector<std::string> media_names_;
    capture::LinkType latest_link_type_{};
    std::optional<wire::Medium> latest_medium_;  ///< of it; none: it cannot be judged

    std::uint64_t ipoib_ = 0;
    std::int64_t began_ = 0;  ///< the first time that is not 0
    std::int64_t now_ = 0;    ///< of the frame being judged
    Tally wrong_icrc_, wrong_vcrc_, no_crc_, truncated_, other_link_types_;
    std::array<Tally, 16> foreign_;
};

}  // namespace ipoib::conformance

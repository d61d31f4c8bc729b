// SPDX-License-Identifier: GPL-2.0-or-later
// The passive judge: takes the frames of one capture in order and keeps what each rule found.
#pragma once

#include "conformance/engine/duties.hpp"
#include "fabric/capture/reader.hpp"
#include "protocol/rules/rule.hpp"
#include "reports/results.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ipoib::conformance {

/// Whom an interface's frames come from. Evidence captures name their interfaces so ("other" holds nodes that take no
/// part); in other captures every sender is judged.
enum class Party : std::uint8_t { anyone, dut, tester, sa, bystander };
[[nodiscard]] Party party_of(std::string_view interface_name) noexcept;

/// The medium that a link type's frames are decoded as, if it is one that can be judged.
[[nodiscard]] std::optional<wire::Medium> medium_of(capture::LinkType) noexcept;

/// What one rule found in a capture.
struct Finding {
    std::uint64_t observed = 0, violations = 0, notes = 0;
    std::uint64_t unknown = 0;        ///< packets it could not judge, since something was not known
    state::Facts missing = 0;         ///< what was not known then
    std::uint64_t by_assumption = 0;  ///< packets judged by what the user said of a group
    std::vector<reports::Detail> details;
};

/// Which port is judged, where not all are: by its LID, its GUID, or its GID.
struct SubjectFilter {
    std::uint16_t lid = 0;
    std::uint64_t guid = 0;
    [[nodiscard]] bool is_anyone() const noexcept { return lid == 0 && guid == 0; }
    [[nodiscard]] bool matches(const state::Port* port) const noexcept {
        return port && ((lid != 0 && port->lid == lid) || (guid != 0 && port->gid.interface_id() == guid));
    }
};

/// How captures are judged.
struct JudgeOptions {
    SubjectFilter subject{};
    bool is_one_subnet = false;  ///< all interfaces and captures show the same subnet
    /// What the user says of the subnet, told to each before its first frame.
    std::function<void(state::Subnet&)> assume{};
};

/// Judges one capture, or several as one. Memory is bounded whatever their length.
class Judge {
public:
    /// Told of every violation as it is found (also beyond the first 100).
    using Listener = std::function<void(const rules::Rule&, const reports::Detail&)>;

    Judge(std::vector<const rules::Rule*> rules, std::uint32_t capture_index, Listener listener = {},
          JudgeOptions options = {});

    /// Judges the next frame, of the capture named to the constructor or of another.
    void frame(const capture::Frame& frame, Party party = Party::anyone) { this->frame(frame, party, capture_index_); }
    void frame(const capture::Frame& frame, Party party, std::uint32_t capture_index);

    /// The verdicts so far, in the order of the rules.
    [[nodiscard]] std::vector<reports::Result> results() const;
    /// Packets that are IPoIB, and what else is worth telling about the capture.
    [[nodiscard]] std::uint64_t ipoib() const noexcept { return ipoib_; }
    [[nodiscard]] std::vector<std::string> notes() const;
    [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }
    [[nodiscard]] const std::vector<const rules::Rule*>& rules() const noexcept { return rules_; }
    /// The time of the last frame, in ns since 1970.
    [[nodiscard]] std::int64_t now() const noexcept { return now_; }
    /// The subnets that the frames belong to.
    [[nodiscard]] std::vector<const state::Subnet*> subnets() const;

private:
    struct Tally {
        std::uint64_t count = 0, first = 0;
        void add(std::uint64_t frame) noexcept { first = count++ ? first : frame; }
    };
    /// The rules for one set of packet parts and one party, by index.
    struct Plan {
        std::uint64_t key = ~std::uint64_t{0};
        std::vector<std::uint16_t> rules;
    };

    /// One InfiniBand subnet as far as a capture's interface shows it.
    struct Fabric {
        explicit Fabric(const std::vector<const rules::Rule*>& rules) : duties(rules) {}
        state::Subnet subnet;
        Duties duties;
        std::vector<bool> icrc_was_right = std::vector<bool>(0x10000);  ///< by SLID
    };

    Fabric& fabric_of(std::uint32_t interface, Party party);
    bool trust_crcs(const capture::Frame& frame);
    const Plan& plan_for(wire::Parts found, Party party);
    void judge(const wire::Packet& packet, const state::Known& known, const capture::Frame& frame, Party party);
    void judge_duties(Party party);
    void violated(std::size_t rule, const wire::Packet& packet, const state::Known& known, const capture::Frame& frame);
    void keep(std::size_t rule, reports::Detail detail);
    [[nodiscard]] bool is_subject(const state::Port* port) const;
    [[nodiscard]] std::string subject_of(const wire::Packet& packet, const state::Known& known) const;
    [[nodiscard]] std::string link_name(const wire::Packet& packet, const state::Known& known) const;
    [[nodiscard]] reports::Result result(std::size_t rule) const;
    [[nodiscard]] std::string why_not_judged(std::size_t rule, reports::NotJudged& reason) const;

    std::vector<const rules::Rule*> rules_;
    std::vector<Finding> findings_;
    std::uint32_t capture_index_;
    Listener listener_;
    JudgeOptions options_;
    wire::Packet packet_;
    wire::Parts media_parts_ = 0;  ///< what the media seen so far can show
    std::vector<std::string> media_names_;

    /// Captures of several adapters show several subnets; beyond this many interfaces the last is shared.
    static constexpr std::size_t most_fabrics = 16;
    std::vector<std::unique_ptr<Fabric>> fabrics_;
    Fabric* fabric_ = nullptr;  ///< of the frame being judged

    static constexpr std::size_t plans_at_hand = 256;
    std::array<Plan, plans_at_hand> plans_;

    std::uint64_t ipoib_ = 0;
    std::int64_t now_ = 0;  ///< of the frame being judged
    bool icrc_was_ever_right_ = false;
    Tally wrong_icrc_, wrong_vcrc_, no_crc_, truncated_, other_link_types_;
    std::array<Tally, 16> foreign_;
};

}  // namespace ipoib::conformance

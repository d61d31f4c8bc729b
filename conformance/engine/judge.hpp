// SPDX-License-Identifier: GPL-2.0-or-later
// The passive judge: takes the frames of one capture in order and keeps what each rule found.
#pragma once

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
    std::uint64_t without_link = 0;  ///< packets it could not judge for want of the broadcast group's parameters
    std::vector<reports::Detail> details;
};

/// Judges one capture. Memory is bounded whatever the capture's length.
class Judge {
public:
    /// Told of every violation as it is found (also beyond the first 100).
    using Listener = std::function<void(const rules::Rule&, const reports::Detail&)>;

    Judge(std::vector<const rules::Rule*> rules, std::uint32_t capture_index, Listener listener = {});

    /// Judges the next frame.
    void frame(const capture::Frame& frame, Party party = Party::anyone);

    /// The verdicts so far, in the order of the rules.
    [[nodiscard]] std::vector<reports::Result> results() const;
    /// Packets that are IPoIB, and what else is worth telling about the capture.
    [[nodiscard]] std::uint64_t ipoib() const noexcept { return ipoib_; }
    [[nodiscard]] std::vector<std::string> notes() const;
    [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

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
        std::vector<rules::Link> links{1};
        std::vector<std::uint16_t> link_index = std::vector<std::uint16_t>(0x8000);  ///< by base P_Key; 0: none
        std::vector<std::uint64_t> guids = std::vector<std::uint64_t>(0x10000);      ///< by LID; 0: not known
        std::vector<bool> icrc_was_right = std::vector<bool>(0x10000);               ///< by SLID

        rules::Link& link_of(std::uint16_t p_key);
    };

    Fabric& fabric_of(std::uint32_t interface, Party party);
    bool trust_crcs(const capture::Frame& frame);
    const rules::Link& learn(const wire::Packet& packet, Party party);
    const Plan& plan_for(wire::Parts found, Party party);
    void judge(const wire::Packet& packet, const rules::Link& link, const capture::Frame& frame, Party party);
    void violated(std::size_t rule, const wire::Packet& packet, const rules::Link& link, const capture::Frame& frame);
    void remember_port(const wire::Packet& packet);
    [[nodiscard]] std::string subject_of(const wire::Packet& packet) const;
    [[nodiscard]] std::string link_name(const wire::Packet& packet, const rules::Link& link) const;
    [[nodiscard]] reports::Result result(std::size_t rule) const;
    [[nodiscard]] std::string why_not_judged(std::size_t rule, reports::NotJudged& reason) const;

    std::vector<const rules::Rule*> rules_;
    std::vector<Finding> findings_;
    std::uint32_t capture_index_;
    Listener listener_;
    wire::Packet packet_;
    wire::Parts media_parts_ = 0;  ///< what the media seen so far can show
    std::vector<std::string> media_names_;

    /// Captures of several adapters show several subnets; beyond this many interfaces the last is shared.
    static constexpr std::size_t most_fabrics = 16;
    std::vector<std::unique_ptr<Fabric>> fabrics_;
    Fabric* fabric_ = nullptr;  ///< of the frame being judged

    static constexpr std::size_t plans_at_hand = 256;
    std::array<Plan, plans_at_hand> plans_;

    std::uint64_t ipoib_ = 0, last_frame_ = 0;
    bool icrc_was_ever_right_ = false;
    Tally wrong_icrc_, wrong_vcrc_, no_crc_, truncated_, other_link_types_;
    std::array<Tally, 16> foreign_;
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the frames of captures in order: decodes them, checks their CRCs, learns the link from them, and asks the
// rules. What is made of the answers is others' business: the judge counts them, the Wireshark plugin shows them.
#pragma once

#include "protocol/inspection/violation.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace ipoib::inspection {

/// Whom an interface's frames come from. Evidence captures name their interfaces so ("other" holds nodes that take no
/// part); in other captures every sender is judged.
enum class Party : std::uint8_t { anyone, dut, tester, sa, bystander };
/// The same, and whether the frames are as they were on the wire: "dut, rebuilt" says that a queue pair told of them
/// (wire/rebuilt.hpp).
struct Origin {
    Party party = Party::anyone;
    bool is_rebuilt = false;
    constexpr Origin() = default;
    constexpr Origin(Party whose, bool rebuilt = false) : party(whose), is_rebuilt(rebuilt) {}
};
inline constexpr std::string_view rebuilt_suffix = ", rebuilt";
[[nodiscard]] Origin origin_of(std::string_view interface_name) noexcept;

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
struct Options {
    SubjectFilter subject{};
    bool is_one_subnet = false;  ///< all interfaces and captures show the same subnet
    /// What the user says of the subnet, told to each before its first frame.
    std::function<void(state::Subnet&)> assume{};
};

/// A frame as the reader of a capture gives it.
struct FrameView {
    wire::Octets octets;
    std::size_t wire_length = 0;  ///< what it had on the wire; 0: as captured
    wire::Medium medium = wire::Medium::infiniband;
    state::Sight sight;
    std::uint32_t interface = 0;
    Origin origin{};
};

class Inspector {
public:
    explicit Inspector(std::vector<const rules::Rule*> rules, Options options = {});

    /// Decodes the next frame and learns from it. False for one that proves nothing of its sender, since its ICRC says
    /// that it never reached a receiver: some tools write no CRCs or invalid ones, so only where a port has shown a
    /// right ICRC is a wrong one taken for damage.
    bool take(const FrameView& frame);

    /// Of the frame taken last. The octets and what is known are valid until the next.
    [[nodiscard]] const wire::Packet& packet() const noexcept { return packet_; }
    [[nodiscard]] const wire::CrcResult& crcs() const noexcept { return crcs_; }
    [[nodiscard]] const state::Known& known() const noexcept { return *known_; }
    [[nodiscard]] const state::Subnet& subnet() const noexcept { return fabric_->subnet; }
    /// Whether any frame has had a right ICRC.
    [[nodiscard]] bool icrc_was_ever_right() const noexcept { return icrc_was_ever_right_; }

    [[nodiscard]] const std::vector<const rules::Rule*>& rules() const noexcept { return rules_; }
    /// The subnets that the frames belong to.
    [[nodiscard]] std::vector<const state::Subnet*> subnets() const;

    /// Asks the rules about the frame taken last, for which `take` was true. `findings` is told, by the rule's index in
    /// rules(): `unjudged(rule, facts)` what was not known; `observed(rule)`, and then `violated(rule)` or
    /// `noted(rule)` if so; `kept(rule)` and `neglected(Neglect)` of a duty.
    template <class Findings>
    void judge(Findings&& findings);

private:
    /// The rules for one set of packet parts and one origin, by index.
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
    bool trust_crcs();
    const Plan& plan_for(const wire::Packet& packet, Origin origin);
    [[nodiscard]] bool is_subject(const state::Port* port) const {
        return options_.subject.is_anyone() || options_.subject.matches(port);
    }

    std::vector<const rules::Rule*> rules_;
    Options options_;
    wire::Packet packet_;
    wire::CrcResult crcs_;
    const state::Known* known_ = nullptr;
    Origin origin_;
    std::int64_t now_ = 0;

    /// Captures of several adapters show several subnets; beyond this many interfaces the last is shared.
    static constexpr std::size_t most_fabrics = 16;
    std::vector<std::unique_ptr<Fabric>> fabrics_;
    Fabric* fabric_ = nullptr;  ///< of the frame at hand

    static constexpr std::size_t plans_at_hand = 256;
    std::array<Plan, plans_at_hand> plans_;
    bool icrc_was_ever_right_ = false;
};

template <class Findings>
void Inspector::judge(Findings&& findings) {
    const auto& known = *known_;
    for (const auto index : plan_for(packet_, origin_).rules) {
        const auto& rule = *rules_[index];
        if (const auto missing = rule.knows & ~known.facts) {
            findings.unjudged(index, missing);
            continue;
        }
        if (rule.applies && !rule.applies(packet_, known)) continue;
        findings.observed(index);
        if (rule.holds && !rule.holds(packet_, known))
            findings.violated(index);
        else if (rule.notes && rule.notes(packet_, known))
            findings.noted(index);
    }
    const auto& subnet = fabric_->subnet;
    for (const auto& event : subnet.events()) {
        if (origin_.party == Party::tester || !is_subject(&subnet.port(event.port))) continue;
        fabric_->duties.take(subnet, event, [&](std::size_t rule) { findings.kept(rule); });
    }
    fabric_->duties.expire(subnet, now_, [&](const Neglect& neglect) { findings.neglected(neglect); });
}

}  // namespace ipoib::inspection

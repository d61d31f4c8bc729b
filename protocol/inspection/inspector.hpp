// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the frames of captures in order: decodes them, checks their CRCs, learns the link from them, and asks the
// rules. What is made of the answers is others' business: the judge counts them, the Wireshark plugin shows them.
#pragma once

#include "protocol/inspection/plans.hpp"
#include "protocol/inspection/shapes.hpp"
#include "protocol/inspection/violation.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace ipoib::inspection {

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
    bool is_all_ipoib = false;   ///< what looks like IPoIB is, whether something ties it to a link or not
    bool is_whole = false;       ///< nothing is missing in the capture, as in what a run has recorded itself
    /// The capture may tell only at its end how much it lacks: what needs that nothing is missing is told then, too.
    bool tells_loss_late = false;
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
    /// Packets that the capture says were dropped between the one before it at this interface and it.
    std::uint64_t lost = 0;
    std::string_view lost_on{};  ///< the interface's name, where that is so
};

class Inspector {
public:
    explicit Inspector(std::vector<const rules::Rule*> rules, Options options = {});

    /// Decodes the next frame and learns from it. False for one that proves nothing of its sender, since its ICRC says
    /// that it never reached a receiver: some tools write no CRCs or invalid ones, so only where a port has shown a
    /// right ICRC is a wrong one taken for damage.
    bool take(const FrameView& frame) { return take(frame, examine(frame)); }
    /// The same of a frame that an examiner with the same rules has looked at, on whatever thread. What it has left is
    /// used until the next frame is taken.
    bool take(const FrameView& frame, const Examined& examined);

    /// Of the frame taken last. The octets and what is known are valid until the next.
    [[nodiscard]] const wire::Packet& packet() const noexcept { return *packet_; }
    [[nodiscard]] const wire::CrcResult& crcs() const noexcept { return crcs_; }
    [[nodiscard]] const state::Known& known() const noexcept { return *known_; }
    [[nodiscard]] const state::Subnet& subnet() const noexcept { return fabric_->subnet; }
    /// Whether any frame has had a right ICRC.
    [[nodiscard]] bool icrc_was_ever_right() const noexcept { return icrc_was_ever_right_; }

    [[nodiscard]] const std::vector<const rules::Rule*>& rules() const noexcept { return *rules_; }
    [[nodiscard]] const RuleList& rule_list() const noexcept { return rules_; }
    /// The subnets that the frames belong to.
    [[nodiscard]] std::vector<const state::Subnet*> subnets() const;

    /// Asks the rules about the frame taken last, for which `take` was true. `findings` is told, by the rule's index in
    /// rules(): `unjudged(rule, facts)` what was not known; `observed(rule)`, and then `violated(rule)` or
    /// `noted(rule)` if so; `kept(rule)` and `observed(rule)` of a duty, and `overlooked(rule)` of one that there is no
    /// room for. Where a violation stands only if nothing is missing in the capture, it is told later, by
    /// `accused(Accusation)`, when that is proven or the user vouches for what is missing, or
    /// `undecided(Accusation, lacks)` with the state::Reason for the first thing that is missing.
    template <class Findings>
    void judge(Findings&& findings);
    /// To findings that take them, tells by `observed(rule, count, is_assumed)`, `noted(rule, count)` and
    /// `unjudged(rule, facts, count)` what judge() has only counted: for many packets of one shape that is the same.
    template <class Findings>
    void settle(Findings&& findings);
    /// After the last frame, and after all that the capture tells of losses. What only lacks a later packet that would
    /// show a loss is taken for proven where nothing in the whole capture shows one; else it is undecided.
    template <class Findings>
    void finish(Findings&& findings);
    /// The capture tells of a loss at this interface that its next frame does not tell.
    void tell_loss(std::uint32_t interface, Origin origin, state::Loss loss);
    /// Whether anything so far tells of packets that are not in the capture.
    [[nodiscard]] bool shows_loss() const noexcept;

private:
    /// A violation, if nothing is missing in the capture.
    struct Suspicion {
        Accusation of;
        state::Span span;
        state::Sight at;                       ///< when it came up
        const state::Port* accused = nullptr;  ///< null where that is not known
    };
    /// What the capture itself tells of is no assumption.
    static state::Reason told_loss(std::string_view words) noexcept {
        return {.doubt = state::Doubt::lost_frames, .text = words, .is_shown = true};
    }
    static constexpr std::size_t most_suspicions = 1024, most_held = 65536;
    static constexpr std::size_t cost_of_held = sizeof(Suspicion) + 256;  ///< octets, with its words

    /// One InfiniBand subnet as far as a capture's interface shows it.
    struct Fabric {
        Fabric(const std::vector<const rules::Rule*>& rules, const std::shared_ptr<state::Limits>& room)
            : subnet(room), duties(rules, *room) {}
        state::Subnet subnet;
        Duties duties;
        std::deque<Suspicion> suspicions;
        std::deque<Suspicion> held;  ///< proven, unless the capture tells of a loss at its end
        std::vector<bool> icrc_was_right = std::vector<bool>(0x10000);  ///< by SLID
    };

    /// Where a frame comes from.
    struct Source {
        std::uint32_t capture = 0, interface = 0;
        Party party{};
        friend bool operator==(const Source&, const Source&) = default;
    };
    [[nodiscard]] std::size_t index_of(std::uint32_t interface, Party party) const noexcept;
    Fabric& fabric_of(std::uint32_t interface, Party party);
    void turn_to(const Source& source);
    void tell_loss_before(const FrameView& frame);
    [[nodiscard]] Accusation accuse(std::size_t rule) const;
    [[nodiscard]] Accusation accuse(const Neglect& neglect) const;
    template <class Findings>
    void weigh(Suspicion suspicion, Findings&& findings);
    template <class Findings>
    bool doubted(const state::Subnet& subnet, Suspicion suspicion, Findings&& findings, bool waits = false);
    static void look_for_settlement(const state::Subnet& subnet, Suspicion& suspicion, state::Reason& lacks,
                                    bool waits);
    template <class Findings>
    void weigh_again(Findings&& findings);
    template <class Findings>
    void proven(Suspicion suspicion, Findings&& findings);
    template <class Findings>
    void expire(Findings&& findings);
    bool trust_crcs();
    Examined examine(const FrameView& frame);
    static std::uint64_t next_generation() noexcept;
    void begin_tally(std::uint64_t version);
    struct Tally;
    void verify(const Tally& tally) const;
    template <class Findings>
    void judge_by_shape(Findings& findings);
    template <class Findings>
    void ask(std::span<const std::uint16_t> rules, Findings& findings);
    [[nodiscard]] bool is_subject(const state::Port* port) const {
        return options_.subject.is_anyone() || options_.subject.matches(port);
    }

    RuleList rules_;
    Options options_;
    inline static const wire::Packet no_packet{};
    const wire::Packet* packet_ = &no_packet;
    Shape* shape_ = nullptr;  ///< of the packet
    wire::CrcResult crcs_;
    const state::Known* known_ = nullptr;
    Origin origin_;
    std::int64_t now_ = 0;

    /// Captures of several adapters show several subnets; beyond this many interfaces the last is shared.
    static constexpr std::size_t most_fabrics = 16;
    std::vector<std::unique_ptr<Fabric>> fabrics_;
    std::shared_ptr<state::Limits> room_ = std::make_shared<state::Limits>();  ///< of all of them together
    Fabric* fabric_ = nullptr;                                                 ///< of the frame at hand

    /// The last frame of each interface, by capture; of the first interfaces only.
    std::vector<std::vector<state::Sight>> latest_;
    static constexpr std::size_t most_latest = 1024;
    Source source_;                      ///< of the frame at hand
    state::Sight* at_source_ = nullptr;  ///< of `latest_`, its own; null: no frame yet

    Plans plans_{rules_};
    /// Shapes are for captures that are long: in a short one most frames are the first of theirs.
    static constexpr std::size_t first_shaped = state::distrusts_memory ? 0 : 256;
    Examiner examiner_{rules_};
    std::size_t taken_ = 0;

    /// Packets of one shape, which all know the same.
    struct Tally {
        std::uint64_t count = 0;
        state::Facts facts = 0;
        bool is_assumed = false;
        std::vector<std::uint16_t> observed, noted, unjudged;
    };
    static constexpr std::size_t most_tallies = 4096;
    std::vector<Tally> tallies_;  ///< the first `tallied_` are not told yet
    std::size_t tallied_ = 0;
    std::uint64_t generation_ = next_generation();  ///< of no other inspector either
    bool icrc_was_ever_right_ = false;
    std::size_t held_count_ = 0;  ///< of all fabrics
};

template <class Findings>
void Inspector::ask(std::span<const std::uint16_t> rules, Findings& findings) {
    const auto& packet = *packet_;
    const auto& known = *known_;
    for (const auto index : rules) {
        const auto& rule = *(*rules_)[index];
        if (const auto missing = rule.knows & ~known.facts) {
            findings.unjudged(index, missing);
            continue;
        }
        if (rule.concerns && !rule.concerns(packet)) continue;
        if (rule.applies && !rule.applies(packet, known)) continue;
        findings.observed(index);
        if (rule.holds && !rule.holds(packet, known)) {
            if (rule.over)
                weigh({accuse(index), rule.over(packet, known), known.now, known.sender}, findings);
            else
                findings.violated(index);
        } else if (rule.notes && rule.notes(packet, known)) {
            findings.noted(index);
        }
    }
}

/// What is the same for all packets of a shape is counted, and told when all of them have been counted.
template <class Findings>
void Inspector::judge_by_shape(Findings& findings) {
    constexpr bool can_count = requires { findings.noted(std::size_t{}, std::uint64_t{}); };
    if constexpr (can_count) {
        if (shape_->has_others()) {
            const auto& memory = shape_->recollection;
            const auto version = memory.was_recalled && !memory.may_answer ? memory.version : 0;
            auto& judged = shape_->judged;
            if (judged.generation != generation_ || judged.facts != known_->facts || judged.version != version) {
                if (tallied_ == most_tallies) settle(findings);
                begin_tally(version);
            }
            ++tallies_[judged.tally].count;
            if (state::distrusts_memory && version != 0) verify(tallies_[judged.tally]);
            ask(judged.asked, findings);
            return;
        }
    }
    for (const auto index : shape_->observed) findings.observed(index);
    for (const auto index : shape_->passed)
        if (const auto missing = (*rules_)[index]->knows & ~known_->facts) findings.unjudged(index, missing);
    ask(shape_->asked, findings);
}
template <class Findings>
void Inspector::settle(Findings&& findings) {
    for (std::size_t i = 0; i < tallied_; ++i) {
        const auto& tally = tallies_[i];
        for (const auto index : tally.observed) findings.observed(index, tally.count, tally.is_assumed);
        for (const auto index : tally.noted) findings.noted(index, tally.count);
        for (const auto index : tally.unjudged)
            findings.unjudged(index, (*rules_)[index]->knows & ~tally.facts, tally.count);
    }
    tallied_ = 0;
    generation_ = next_generation();
}

template <class Findings>
void Inspector::judge(Findings&& findings) {
    if (!known_->is_foreign) {
        // What the packet alone decides was found out with its shape; where there is something to tell, all is told in
        // the order of the rules.
        if (shape_->is_decided && shape_->origin == origin_)
            judge_by_shape(findings);
        else
            ask(plans_.of(*packet_, origin_).rules, findings);
    }
    const auto& subnet = fabric_->subnet;
    for (const auto& event : subnet.events()) {
        if (origin_.party == Party::tester || !is_subject(&subnet.port(event.port))) continue;
        fabric_->duties.take(
            subnet, event, [&](std::size_t rule) { findings.kept(rule); },
            [&](std::size_t rule) { findings.overlooked(rule); });
    }
    expire(findings);
    if (!fabric_->suspicions.empty()) weigh_again(findings);
}

template <class Findings>
void Inspector::expire(Findings&& findings) {
    const auto& subnet = fabric_->subnet;
    fabric_->duties.expire(subnet, now_, [&](const Neglect& neglect) {
        findings.observed(neglect.rule);
        const auto* member = subnet.member(neglect.link->group, neglect.port);
        const auto& port = subnet.port(neglect.port);
        state::Span span{.since = member ? member->watched_since : state::Sight{}, .requester = port.lid};
        state::begins_with_join(span, member);
        span.timed_since = neglect.began;
        span.time_needed = Duties::patience + 1;
        weigh({accuse(neglect), span, known_->now, &port}, findings);
    });
}

template <class Findings>
void Inspector::weigh(Suspicion suspicion, Findings&& findings) {
    const auto& subnet = fabric_->subnet;
    const auto proof = subnet.proof(suspicion.span, suspicion.at);
    if (proof.standing == state::Standing::proven) {
        proven(std::move(suspicion), findings);
    } else if (const auto* loss = subnet.loss_in(suspicion.span, suspicion.at)) {
        const auto words = in_words(*loss);
        findings.undecided(suspicion.of, told_loss(words));
    } else if (fabric_->suspicions.size() >= most_suspicions) {
        doubted(subnet, std::move(suspicion), findings);
    } else if (proof.standing != state::Standing::broken || !doubted(subnet, suspicion, findings, true)) {
        fabric_->suspicions.push_back(std::move(suspicion));
    }
}

/// What the capture does not prove the user may have vouched for. False, with nothing told, where a later packet may
/// show that no more is missing than that, if it is to be waited for.
template <class Findings>
bool Inspector::doubted(const state::Subnet& subnet, Suspicion suspicion, Findings&& findings, bool waits) {
    const auto proof = subnet.proof(suspicion.span, suspicion.at, subnet.trust(suspicion.accused));
    if (waits && proof.standing != state::Standing::proven && proof.standing != state::Standing::broken) return false;
    if (proof.standing == state::Standing::proven) {
        suspicion.of.rests_on = proof.rests_on;
        proven(std::move(suspicion), findings);
        return true;
    }
    auto lacks = proof.lacks;
    look_for_settlement(subnet, suspicion, lacks, waits);
    findings.undecided(suspicion.of, lacks);
    return true;
}

template <class Findings>
void Inspector::weigh_again(Findings&& findings) {
    auto& all = fabric_->suspicions;
    std::erase_if(all, [&](const Suspicion& one) {
        const auto& subnet = fabric_->subnet;
        const auto proof = subnet.proof(one.span, one.at);
        if (proof.standing == state::Standing::proven) proven(one, findings);
        if (proof.standing == state::Standing::broken) return doubted(subnet, one, findings, true);
        return proof.standing == state::Standing::proven;
    });
}

/// But for what the capture tells of losses.
template <class Findings>
void Inspector::proven(Suspicion suspicion, Findings&& findings) {
    if (const auto* loss = fabric_->subnet.loss_in(suspicion.span, suspicion.at)) {
        const auto words = in_words(*loss);
        findings.undecided(suspicion.of, told_loss(words));
    } else if (!options_.tells_loss_late || suspicion.span.is_given) {
        findings.accused(suspicion.of);
    } else if (held_count_ < most_held && state::take_from(room_->octets, cost_of_held)) {
        ++held_count_;
        fabric_->held.push_back(std::move(suspicion));
    } else {
        findings.undecided(
            suspicion.of,
            state::Reason{.doubt = state::Doubt::lost_frames,
                          .text = "there are more than are kept until the capture's end, where it may tell of losses",
                          .is_shown = true});
    }
}

template <class Findings>
void Inspector::finish(Findings&& findings) {
    for (const auto& fabric : fabrics_) {
        if (!fabric) continue;
        const auto& subnet = fabric->subnet;
        const auto is_lost = [&](const Suspicion& one) {
            const auto* loss = subnet.loss_in(one.span, one.at);
            if (!loss) return false;
            const auto words = in_words(*loss);
            findings.undecided(one.of, told_loss(words));
            return true;
        };
        for (const auto& one : fabric->held)
            if (!is_lost(one)) findings.accused(one.of);
        for (auto& one : fabric->suspicions) {
            if (is_lost(one)) continue;
            const auto is_enough = [is_lossy = subnet.shows_loss(one.span.begin())](const state::Proof& proof) {
                return proof.standing == state::Standing::proven ||
                       (proof.standing == state::Standing::open && !is_lossy);
            };
            const auto vouched = subnet.proof(one.span, one.at, subnet.trust(one.accused));
            if (is_enough(subnet.proof(one.span, one.at))) {
                findings.accused(one.of);
            } else if (is_enough(vouched)) {
                one.of.rests_on = vouched.rests_on;
                findings.accused(one.of);
            } else {
                auto lacks = vouched.lacks;
                look_for_settlement(subnet, one, lacks, false);
                findings.undecided(one.of, lacks);
            }
        }
        fabric->held.clear();
        fabric->suspicions.clear();
    }
    held_count_ = 0;
}

}  // namespace ipoib::inspection

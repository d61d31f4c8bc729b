// SPDX-License-Identifier: GPL-2.0-or-later
// What a frame tells by itself, whatever was before it: its headers, its CRCs, and what rules say that look at nothing
// else. Most frames of a flow differ only in a few fields that none of this depends on: they are of one shape, which is
// found out once.
#pragma once

#include "protocol/inspection/plans.hpp"
#include "protocol/state/habit.hpp"
#include "protocol/state/recollection.hpp"
#include "protocol/wire/medium.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace ipoib::inspection {

/// One frame, or many that differ only where neither decoding nor a rule on single packets looks.
struct Shape {
    static constexpr std::size_t longest = 128;  ///< octets, from the LRH on, that tell frames apart

    wire::Packet packet;  ///< of the frame that was shown last
    Origin origin;
    std::size_t wire_length = 0;
    /// Whether no rule that decides by the packet alone is broken, or has a note. Then the rules are these:
    bool is_decided = false;
    std::vector<std::uint16_t> observed;  ///< decide by the packet alone, apply, and hold
    std::vector<std::uint16_t> asked;     ///< may apply, for all that the packet tells alone
    std::vector<std::uint16_t> passed;    ///< do not; but where they lack what they must know, that is told before

    /// For who judges it: the packets of this shape that were judged knowing the same.
    struct Judged {
        std::uint64_t generation = 0;  ///< of tallies; 0: none
        state::Facts facts = 0;
        std::uint64_t version = 0;  ///< of what the subnet knew, where the rules have been asked once for all; else 0
        std::size_t tally = 0;
        std::vector<std::uint16_t> asked;  ///< those of `asked` that know what they must, and are asked for each packet
    } judged;
    state::Recollection recollection;

    /// Makes `packet` that of a frame of this shape, whose octets are there.
    void show(const std::uint8_t* octets) noexcept {
        if (packet.octets.data() != octets) move_to(octets);
    }
    /// Whether a frame is of this shape.
    [[nodiscard]] bool fits(wire::Octets octets, std::size_t length_on_wire, Origin from) const noexcept;
    [[nodiscard]] bool has_others() const noexcept { return compared_ != 0; }
    /// It is one packet's alone.
    void forget_others() noexcept { compared_ = 0; }
    /// Finds out what others of this shape have in common with the packet, if it is one that has others.
    void learn() noexcept;

private:
    void move_to(const std::uint8_t* octets) noexcept;
    void pass_over(const std::uint8_t* at, std::size_t octets) noexcept;
    template <class Header, class T>
    void pass_over(wire::View<Header> view, const wire::Field<Header, T>& field) noexcept;

    std::size_t compared_ = 0;  ///< octets; 0: no other frame is known to be of this shape
    std::array<std::uint8_t, longest> head_{}, mask_{};
};

/// What one frame tells by itself. The shape, which others may have, is as Examiner::examine has left it: a packet must
/// be shown before it is looked at.
struct Examined {
    Shape* shape = nullptr;
    wire::CrcResult crcs;
    std::optional<std::uint64_t> likeness;  ///< of a datagram, as the state has it
};

/// Looks at frames one by one. Any thread may have its own.
class Examiner {
public:
    explicit Examiner(RuleList rules) : rules_(std::move(rules)), plans_(rules_) {}

    /// What it has left of a frame is valid until the next.
    Examined examine(wire::Octets octets, std::size_t wire_length, wire::Medium medium, Origin origin);
    /// The same, without looking for a shape that was seen before: for frames that are few.
    Examined examine_alone(wire::Octets octets, std::size_t wire_length, wire::Medium medium, Origin origin);
    /// What it leaves is valid until forget(), and the octets must be as long.
    Examined examine_and_keep(wire::Octets octets, std::size_t wire_length, wire::Medium medium, Origin origin);
    /// Of what was kept nobody needs anything any more. Shapes that others may have are still known afterwards, with
    /// what whoever judged them has left there, as long as they are not too many.
    void forget() noexcept;

private:
    /// Two shapes in a row share a hash.
    static constexpr std::size_t slots = 1024;
    /// Known from before when frames are looked at anew.
    static constexpr std::size_t most_kept = 512;
    [[nodiscard]] static std::size_t slot_of(std::uint64_t hash) noexcept { return 2 * (hash >> 55); }

    void look_at(Shape& shape, wire::Octets octets, std::size_t wire_length, wire::Medium medium, Origin origin);
    void decide(Shape& shape);
    [[nodiscard]] static bool holds(const rules::Rule& rule, const wire::Packet& packet);

    RuleList rules_;
    Plans plans_;
    std::unique_ptr<Shape> lone_ = std::make_unique<Shape>();
    std::vector<std::unique_ptr<Shape>> latest_;  ///< by slot, the later of two first; null: none yet
    /// Shapes that many may have, and those of one packet alone. Of each the first ones are in use.
    std::vector<std::unique_ptr<Shape>> kept_, lone_kept_;
    std::size_t kept_count_ = 0, lone_count_ = 0;
    std::vector<Shape*> latest_kept_;  ///< by slot, the later of two first; null: none yet
    state::Habit habit_;               ///< of looking for a shape
};

}  // namespace ipoib::inspection

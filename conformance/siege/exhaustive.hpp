// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that two ports can ask of one group, in every state that they can be in; and so much behind it that an
// administrator with a few states more than the model is found out. Chow, "Testing Software Design Modeled by
// Finite-State Machines" (the W-method); here states need no sequences that tell them apart: the SA's records do.
#pragma once

#include "conformance/siege/siege.hpp"

namespace ipoib::conformance::siege {

/// Where it takes place: what of this there is depends on the fabric.
struct Arena {
    unsigned ports = 2;
    bool by_proxy = false;      ///< the second one cannot ask: the first asks for it
    bool has_broadcast = true;  ///< a group that is there without members
};
[[nodiscard]] Arena arena_of(const Subject::Abilities& abilities);

struct Exhaustion {
    /// So many states more than the model has are found out: behind each transition come all sequences of so many joins
    /// and leaves with one join state.
    unsigned hidden = 0;
    std::uint64_t each = 1;  ///< only every so-many-th history
    bool ends_at_first = false;
    std::optional<std::chrono::nanoseconds> time{};  ///< on the clock of this host
    std::size_t most_tries = 400;                    ///< of histories, to shrink one
    std::function<bool()> is_stopped{};
    std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
};

/// The states that ports can be in, 16 join states each; without those of a group that nobody holds, where there is
/// none that is there without members.
[[nodiscard]] std::uint64_t exhaustive_states(const Arena& arena);
/// Joins and leaves of the ports with each of 15 join states.
[[nodiscard]] std::uint64_t exhaustive_inputs(const Arena& arena) noexcept;
/// How many histories there are.
[[nodiscard]] std::uint64_t exhaustive_histories(const Arena& arena, unsigned hidden);
/// One of them: the shortest way to a state, an input, and what comes behind it. Where nobody holds the group in a
/// state it is one of the configuration.
[[nodiscard]] History exhaustive_history(const Arena& arena, std::uint64_t number, unsigned hidden);

struct Exhausted {
    Sieged sieged;
    Arena arena;
    std::uint64_t all = 0;  ///< histories, as far as they were meant to be played
};
[[nodiscard]] Exhausted exhaust(const Exhaustion& exhaustion, Subject& subject);
/// For people.
[[nodiscard]] std::string text(const Exhausted& exhausted);

}  // namespace ipoib::conformance::siege

// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that two ports can ask of one group, in every state that they can be in; and so much behind it that an
// administrator with a few states more than the model is found out. Chow, "Testing Software Design Modeled by
// Finite-State Machines" (the W-method); here states need no sequences that tell them apart: the SA's records do.
#pragma once

#include "conformance/siege/siege.hpp"

namespace ipoib::conformance::siege {

/// 16 join states of one port, 16 of the other.
inline constexpr unsigned exhaustive_states = 256;
/// Joins and leaves of two ports with each of 15 join states.
inline constexpr unsigned exhaustive_inputs = 60;

struct Exhaustion {
    /// So many states more than the model has are found out: behind each transition come all sequences of so many joins
    /// and leaves with one join state.
    unsigned hidden = 0;
    std::uint64_t each = 1;  ///< only every so-many-th history
    bool ends_at_first = false;
    std::function<bool()> is_stopped{};
    std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
};

/// How many histories there are.
[[nodiscard]] std::uint64_t exhaustive_histories(unsigned hidden) noexcept;
/// One of them: the shortest way to a state, an input, and what comes behind it. Where nobody holds the group in a
/// state it is one of the configuration.
[[nodiscard]] History exhaustive_history(std::uint64_t number, unsigned hidden);

[[nodiscard]] Sieged exhaust(const Exhaustion& exhaustion, Subject& subject);

}  // namespace ipoib::conformance::siege

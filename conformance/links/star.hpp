// SPDX-License-Identifier: GPL-2.0-or-later
// Many faults that are each about one port and one group, told as the few that they mostly are: a port with all its
// groups, or a group with all its ports.
#pragma once

#include "conformance/judge/judge.hpp"

#include <span>
#include <vector>

namespace ipoib::links {

/// One port at one group, and which of the caller's things it is.
struct Pair {
    state::PortIndex port = state::none;
    state::GroupIndex group = state::none;
    std::size_t index = 0;
};

/// Pairs that have their port or their group in common.
struct Star {
    std::vector<state::PortIndex> ports;  ///< in order, each once
    std::vector<state::GroupIndex> groups;
    std::vector<std::size_t> pairs;  ///< Pair::index, in the order in which they were given
};

/// Each pair in one star, the largest first; each port and group has at most one of its own.
[[nodiscard]] std::vector<Star> stars(std::span<const Pair> pairs);
/// All pairs in one, whatever they have in common.
[[nodiscard]] Star whole(std::span<const Pair> pairs);

}  // namespace ipoib::links

// SPDX-License-Identifier: GPL-2.0-or-later
// Delta debugging: of many items the few that matter. Zeller and Hildebrandt, "Simplifying and Isolating
// Failure-Inducing Input" (ddmin).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace ipoib::shrink {

/// Item numbers, ascending.
using Items = std::span<const std::size_t>;
using Predicate = std::function<bool(Items)>;

struct Shrunk {
    std::vector<std::size_t> items;  ///< for which the predicate holds; ascending
    std::size_t tries = 0;           ///< how often the predicate was asked
    bool holds = false;              ///< whether it held for all items; else nothing was shrunk
    bool is_minimal = false;         ///< whether none of them can go alone; else the tries ran out
};

/// The fewest of the items 0 to `count` - 1 for which `holds` is still true, as far as `most_tries` questions find
/// them: without any one of them it is false. The same predicate gives the same items.
[[nodiscard]] Shrunk fewest(std::size_t count, const Predicate& holds, std::size_t most_tries = 10'000);

}  // namespace ipoib::shrink

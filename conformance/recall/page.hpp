// SPDX-License-Identifier: GPL-2.0-or-later
// How many violations are found: for people, as a page, and as a floor that may only rise.
#pragma once

#include "conformance/recall/run.hpp"

#include <string>

namespace ipoib::recall {

/// Means over cells, in percent: each statement and kind of change counts alike, however many places it has. Of what
/// can be proven, in worlds with PSNs.
struct Means {
    double at_rest = 100, after_changes = 100, all = 100;
    double found = 100;           ///< of all places
    const Cell* worst = nullptr;  ///< null: there is no cell
    std::size_t silent = 0;       ///< places, of all link types
};
[[nodiscard]] Means means_of(const Outcome& outcome);

/// Sums, false accusations, and the cells where something is not found.
[[nodiscard]] std::string text(const Outcome& outcome);
[[nodiscard]] std::string page(const Outcome& outcome);
/// A file's name for what was missed: situation, statement, kind and place.
[[nodiscard]] std::string file_name(const Miss& miss);
/// "accused", the world, and the statement.
[[nodiscard]] std::string file_name(const FalseCharge& charge);

/// How much of each cell is found at least, in percent, by a line each: "sample RFC4391-9.1-01 stale-LID 75.0". What is
/// not in it is found whole.
using Floor = std::map<std::string, double>;
/// Of the sample, or of all places.
[[nodiscard]] Floor floor_of(const Outcome& outcome, bool is_whole);
/// Throws std::runtime_error for what is none.
[[nodiscard]] Floor parse_floor(const std::string& text);
[[nodiscard]] std::string floor_text(const Floor& floor);
/// Where less is found now, a line each. Of a part of the situations only their cells are looked at.
[[nodiscard]] std::vector<std::string> losses(const Floor& before, const Floor& now, const Outcome& outcome,
                                              bool is_whole);

}  // namespace ipoib::recall

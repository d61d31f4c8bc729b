// SPDX-License-Identifier: GPL-2.0-or-later
// The frames around a finding: which of them, between whom.
#pragma once

#include "conformance/exhibits/film.hpp"
#include "reports/exhibit.hpp"

namespace ipoib::conformance {

/// Of evidence the frames of the step, else those of the port that the finding is about and of the subnet
/// administrator; at most so many, with the wrong one (0: the last of the film) near the end. Fills parties, ladder
/// and capture of the exhibit.
void draw_ladder(const Film& film, std::uint64_t wrong, reports::Exhibit& exhibit);

}  // namespace ipoib::conformance

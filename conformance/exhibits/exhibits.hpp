// SPDX-License-Identifier: GPL-2.0-or-later
// What shows a finding to people: its packet, and the frames around it, read again from the captures.
#pragma once

#include "reports/exhibit.hpp"
#include "reports/results.hpp"

#include <vector>

namespace ipoib::conformance {

/// Exhibits of the first 200 findings whose frames can be read again: files are, standard input is not. Each capture is
/// read once, as far as the last frame that is wanted of it. A finding of a case without a wrong frame shows how its
/// frames ended.
[[nodiscard]] std::vector<reports::Exhibit> exhibits_of(const reports::Results& results);

}  // namespace ipoib::conformance

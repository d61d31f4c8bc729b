// SPDX-License-Identifier: GPL-2.0-or-later
// A packet field by field, with what was expected where it is wrong.
#pragma once

#include "conformance/exhibits/film.hpp"
#include "reports/exhibit.hpp"
#include "reports/results.hpp"

#include <span>

namespace ipoib::conformance {

/// Takes the frame apart into the exhibit. `wrong`: violations in this frame. What they name that is no field of the
/// packet becomes a header of its own, before the others.
void take_apart(const Shot& shot, std::span<const reports::Detail* const> wrong, reports::Exhibit& exhibit);

}  // namespace ipoib::conformance

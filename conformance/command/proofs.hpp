// SPDX-License-Identifier: GPL-2.0-or-later
// What proves the judge: the numbers of the pages that the suite keeps of itself. cmake/Proofs.cmake reads them there.
#pragma once

#include "reports/results.hpp"

#include <span>

namespace ipoib::conformance {

/// Kill matrix, metamorphic run, changed drivers.
[[nodiscard]] std::span<const reports::Proof> proofs();

}  // namespace ipoib::conformance

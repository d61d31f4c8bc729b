// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers on a command line.
#pragma once

#include <CLI/CLI.hpp>

namespace ipoib::conformance {

/// Refuses what is no number, 0 and what is less, and what is too large to be counted (more than 2^53).
[[nodiscard]] CLI::Validator positive();

/// Refuses what is no number, and what is less or more than these.
[[nodiscard]] CLI::Validator from_to(double least, double most);

}  // namespace ipoib::conformance

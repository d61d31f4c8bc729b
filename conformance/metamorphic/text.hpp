// SPDX-License-Identifier: GPL-2.0-or-later
// What the metamorphic run found, for people; and its frames as a capture.
#pragma once

#include "conformance/metamorphic/run.hpp"

namespace ipoib::metamorphic {

/// One broken relation: which, of what, the verdict that moved, and the frames that are left, a line each.
[[nodiscard]] std::string text(const Break& one);
/// All of them, the variants of each relation, and a summary in the last line.
[[nodiscard]] std::string text(const Outcome& outcome);
/// "relation rule appears" or "relation rule goes", as the list of those that are known has it.
[[nodiscard]] std::string key(const Break& one);
/// Writes the shrunk variant as it was judged. Throws std::runtime_error.
void write_capture(const Break& one, const std::string& path);
void write_capture(const Trace& trace, const std::string& path);

}  // namespace ipoib::metamorphic

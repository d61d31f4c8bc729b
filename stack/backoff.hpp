// SPDX-License-Identifier: GPL-2.0-or-later
// How long the stack waits before it asks an SA again that refused or did not answer.
#pragma once

#include "fabric/loop.hpp"

namespace ipoib::stack {

/// The first wait, and the longest; each is twice the one before.
inline constexpr fabric::Duration shortest_backoff = std::chrono::seconds{1},
                                  longest_backoff = std::chrono::seconds{16};

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Exchanges of two implementations, played on what was recorded of them.
#pragma once

#include "conformance/replay/verify.hpp"

namespace ipoib::conformance::replay {

/// Plays the exchanges of the record again, and fills in results, scenes, frames and what does not fit. What comes out
/// as evidence goes into the folder `again`. Throws std::invalid_argument for a journal that is none.
void play_meeting(const std::filesystem::path& folder, const std::filesystem::path& again, Verified& verified,
                  const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace ipoib::conformance::replay

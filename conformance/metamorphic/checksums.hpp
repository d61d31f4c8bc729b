// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums and CRCs of a frame that was changed.
#pragma once

#include "conformance/metamorphic/trace.hpp"

namespace ipoib::metamorphic {

/// Makes those right in `changed` that are right in `before`, which has the same headers at the same places. One that
/// is wrong or absent stays so.
void follow_up(const Frame& before, wire::MutableOctets changed);
/// The CRCs alone.
void follow_up_crcs(const Frame& before, wire::MutableOctets changed);

}  // namespace ipoib::metamorphic

// SPDX-License-Identifier: GPL-2.0-or-later
// Programs that use InfiniBand, and not IPoIB: what they send is nobody's violation.
#pragma once

#include "conformance/metamorphic/source.hpp"

namespace ipoib::metamorphic {

/// One source each, of ports that no other source has.
[[nodiscard]] const Sources& foreign_programs();

}  // namespace ipoib::metamorphic

// SPDX-License-Identifier: GPL-2.0-or-later
// What a cable can do wrong.
#pragma once

#include "fabric/loop.hpp"

#include <optional>

namespace ipoib::fabric {

/// In the direction from the node to its switch and back; probabilities from 0 to 1 for each frame.
struct LinkFaults {
    double loss = 0, duplication = 0, reordering = 0, corruption = 0;
    Duration delay{};
    /// Only frames of IPoIB and other data: management (QP0, QP1) passes. Not said: as the fabric does by itself, which
    /// a simulated one does.
    std::optional<bool> spares_management{};
    friend bool operator==(const LinkFaults&, const LinkFaults&) = default;
};

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// One sighting for each multicast frame, though every port of the tester receives a copy.
#pragma once

#include "fabric/frame.hpp"

#include <deque>

namespace ipoib::fabric {

class Sightings {
public:
    /// Whether the frame that came to this port (0 to 63) is not a copy of one that came to another before. What
    /// changes from link to link (VL, VCRC) is not compared.
    [[nodiscard]] bool is_new(const Frame& frame, unsigned port);

private:
    /// Copies arrive together: what is older than so many frames is no longer one.
    static constexpr std::size_t most = 64;
    struct Seen {
        Frame frame;
        std::uint64_t ports;
    };
    std::deque<Seen> seen_;
};

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// One sighting for each frame, though several ports of the tester receive it, or one of them and the tap.
#pragma once

#include "fabric/frame.hpp"

#include <deque>

namespace ipoib::fabric {

class Sightings {
public:
    /// Whether the frame that was seen at this place (0 to 63) is not a copy of one that was seen at another before.
    /// What differs from link to link (VL, CRCs) is not compared.
    [[nodiscard]] bool is_new(const Frame& frame, unsigned place);
    /// Whether it is such a copy; if it is not, it stays unknown.
    [[nodiscard]] bool is_copy(const Frame& frame, unsigned place);

private:
    /// Copies arrive together: what is older than so many frames is no longer one.
    static constexpr std::size_t most = 256;
    struct Seen {
        Frame frame;
        std::uint64_t places;
    };
    std::deque<Seen> seen_;
};

}  // namespace ipoib::fabric

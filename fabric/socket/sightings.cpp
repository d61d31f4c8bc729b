// SPDX-License-Identifier: GPL-2.0-or-later
// Copies of a multicast frame told from frames that are sent again.
#include "fabric/socket/sightings.hpp"

#include "protocol/wire/crc.hpp"

#include <algorithm>

namespace ipoib::fabric {
namespace {

/// The frame without its first octet, which holds the VL, and without the VCRC.
wire::Octets lasting(const Frame& frame) noexcept {
    const auto octets = frame.octets();
    if (octets.size() <= 1 + wire::vcrc_size) return octets;
    return octets.subspan(1, octets.size() - 1 - wire::vcrc_size);
}

bool are_equal(wire::Octets a, wire::Octets b) noexcept { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace

bool Sightings::is_new(const Frame& frame, unsigned port) {
    const auto own = std::uint64_t{1} << port;
    const auto copy = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
        return (seen.ports & own) == 0 && are_equal(lasting(seen.frame), lasting(frame));
    });
    if (copy != seen_.end()) {
        copy->ports |= own;
        return false;
    }
    if (seen_.size() == most) seen_.pop_front();
    seen_.push_back({frame, own});
    return true;
}

}  // namespace ipoib::fabric

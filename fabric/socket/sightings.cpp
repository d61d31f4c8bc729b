// SPDX-License-Identifier: GPL-2.0-or-later
// Copies of a multicast frame told from frames that are sent again.
#include "fabric/socket/sightings.hpp"

#include "protocol/wire/crc.hpp"

#include <algorithm>

namespace ipoib::fabric {
namespace {

/// The frame without its first octet, which holds the VL, and without its CRCs: a sender may leave them to its port.
wire::Octets lasting(const Frame& frame) noexcept {
    constexpr auto crcs = wire::icrc_size + wire::vcrc_size;
    const auto octets = frame.octets();
    if (octets.size() <= 1 + crcs) return octets;
    return octets.subspan(1, octets.size() - 1 - crcs);
}

bool are_equal(wire::Octets a, wire::Octets b) noexcept { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace

bool Sightings::is_copy(const Frame& frame, unsigned place) {
    const auto own = std::uint64_t{1} << place;
    const auto copy = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
        return (seen.places & own) == 0 && are_equal(lasting(seen.frame), lasting(frame));
    });
    if (copy == seen_.end()) return false;
    copy->places |= own;
    return true;
}

bool Sightings::is_new(const Frame& frame, unsigned place) {
    if (is_copy(frame, place)) return false;
    if (seen_.size() == most) seen_.pop_front();
    seen_.push_back({frame, std::uint64_t{1} << place});
    return true;
}

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/sightings.hpp"

#include "catch2.hpp"

#include <vector>

namespace ipoib::fabric {
namespace {

Frame frame_of(std::uint8_t first, std::uint8_t middle, std::uint8_t last) {
    std::vector<std::uint8_t> octets(36, middle);
    octets.front() = first;
    octets.back() = last;
    return Frame{octets};
}

TEST_CASE("Sightings: each frame is new once, whichever port it comes to first") {
    Sightings sightings;
    CHECK(sightings.is_new(frame_of(0, 1, 0), 0));
    CHECK_FALSE(sightings.is_new(frame_of(0, 1, 0), 1));
    CHECK_FALSE(sightings.is_new(frame_of(0, 1, 0), 2));
    CHECK(sightings.is_new(frame_of(0, 2, 0), 2));
    CHECK_FALSE(sightings.is_new(frame_of(0, 2, 0), 0));
}

TEST_CASE("Sightings: VL and CRCs differ from copy to copy") {
    Sightings sightings;
    CHECK(sightings.is_new(frame_of(0x00, 1, 5), 0));
    CHECK_FALSE(sightings.is_new(frame_of(0x70, 1, 6), 1));
}

TEST_CASE("Sightings: a frame that is sent again is new again") {
    Sightings sightings;
    for (int i = 0; i < 3; ++i) {
        CHECK(sightings.is_new(frame_of(0, 1, 0), 0));
        CHECK_FALSE(sightings.is_new(frame_of(0, 1, 0), 1));
    }
    // Also when a port did not get its copy of one before.
    CHECK(sightings.is_new(frame_of(0, 2, 0), 0));
    CHECK(sightings.is_new(frame_of(0, 2, 0), 0));
    CHECK_FALSE(sightings.is_new(frame_of(0, 2, 0), 1));
}

TEST_CASE("Sightings: what came long ago is no copy") {
    Sightings sightings;
    CHECK(sightings.is_new(frame_of(0, 0, 0), 0));
    for (int i = 0; i < 256; ++i) CHECK(sightings.is_new(frame_of(0, 1, 0), 0));
    CHECK(sightings.is_new(frame_of(0, 0, 0), 1));
}

}  // namespace
}  // namespace ipoib::fabric

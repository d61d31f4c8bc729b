// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/frame.hpp"

#include "catch2.hpp"

#include <vector>

namespace ipoib::fabric {
namespace {

std::vector<std::uint8_t> octets_of(std::size_t size, std::uint8_t first) {
    std::vector<std::uint8_t> octets(size);
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(first + i);
    return octets;
}

bool holds(const Frame& frame, const std::vector<std::uint8_t>& octets) {
    const auto seen = frame.octets();
    return std::vector<std::uint8_t>(seen.begin(), seen.end()) == octets;
}

TEST_CASE("Frame: holds a copy of its octets") {
    auto octets = octets_of(100, 7);
    const Frame frame{octets};
    const auto before = octets;
    octets.assign(octets.size(), 0);
    CHECK(frame);
    CHECK(holds(frame, before));
}

TEST_CASE("Frame: none and too many octets give an empty frame, the longest do not") {
    CHECK_FALSE(Frame{});
    CHECK(Frame{}.octets().empty());
    CHECK_FALSE(Frame{wire::Octets{}});
    CHECK_FALSE(Frame{octets_of(longest_frame + 1, 0)});
    CHECK(holds(Frame{octets_of(longest_frame, 0)}, octets_of(longest_frame, 0)));
}

TEST_CASE("Frame: copies share the octets, also when the first is gone") {
    Frame copy;
    {
        const Frame first{octets_of(10, 1)};
        copy = first;
        CHECK(copy.octets().data() == first.octets().data());
        CHECK(copy.is_same(first));
        CHECK_FALSE(copy.is_same(Frame{octets_of(10, 1)}));
    }
    CHECK(holds(copy, octets_of(10, 1)));
    const Frame moved = std::move(copy);
    CHECK(holds(moved, octets_of(10, 1)));
}

TEST_CASE("Frame: assigning a frame to itself keeps it") {
    Frame frame{octets_of(10, 1)};
    const auto& same = frame;
    frame = same;
    CHECK(holds(frame, octets_of(10, 1)));
}

TEST_CASE("Frame: a buffer is used again only when no frame refers to it") {
    const Frame kept{octets_of(50, 3)};
    const std::uint8_t* place = nullptr;
    {
        const Frame gone{octets_of(50, 9)};
        place = gone.octets().data();
    }
    const Frame next{octets_of(50, 5)};
    CHECK(next.octets().data() == place);
    CHECK(holds(kept, octets_of(50, 3)));
}

TEST_CASE("Frame: tens of thousands at a time are all distinct") {
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < 20000; ++i) frames.emplace_back(octets_of(26, static_cast<std::uint8_t>(i)));
    for (std::size_t i = 0; i < frames.size(); ++i)
        if (frames[i].octets()[0] != static_cast<std::uint8_t>(i)) FAIL("frame " << i << " holds another's octets");
    frames.clear();
    CHECK(holds(Frame{octets_of(26, 1)}, octets_of(26, 1)));
}

}  // namespace
}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "lab/kernel/vib_pure.hpp"

#include <algorithm>
#include <vector>

namespace {

vib_fault seeded(std::uint64_t seed) {
    vib_fault fault{};
    vib_fault_seed(&fault, seed);
    return fault;
}

struct Counts {
    unsigned dropped = 0, duplicated = 0, corrupted = 0;
};
Counts counts(vib_fault fault, unsigned frames) {
    Counts sum;
    for (unsigned i = 0; i < frames; ++i) {
        const auto fate = vib_fault_decide(&fault, 290);
        sum.dropped += fate.is_dropped;
        sum.duplicated += fate.is_duplicated;
        sum.corrupted += fate.is_corrupted;
    }
    return sum;
}

TEST_CASE("Fault: a good cable does nothing") {
    const auto sum = counts(seeded(1), 1000);
    CHECK(sum.dropped + sum.duplicated + sum.corrupted == 0);
    auto fault = seeded(1);
    CHECK(vib_fault_decide(&fault, 290).delay == 0);
}

TEST_CASE("Fault: 1000 permille is every frame, 0 none") {
    auto fault = seeded(2);
    fault.drop = 1000;
    CHECK(counts(fault, 1000).dropped == 1000);
    CHECK(counts(fault, 1000).corrupted == 0);
    fault = seeded(2);
    fault.duplicate = fault.corrupt = 1000;
    const auto sum = counts(fault, 1000);
    CHECK(sum.dropped == 0);
    CHECK(sum.duplicated == 1000);
    CHECK(sum.corrupted == 1000);
}

TEST_CASE("Fault: so many permille of the frames, near enough") {
    auto fault = seeded(3);
    fault.drop = 100;
    fault.duplicate = 500;
    fault.corrupt = 10;
    const auto sum = counts(fault, 100000);
    const auto is_near = [](unsigned count, unsigned expected, unsigned margin) {
        return count >= expected - margin && count <= expected + margin;
    };
    CHECK(is_near(sum.dropped, 10000, 500));
    CHECK(is_near(sum.duplicated, 50000, 1000));
    CHECK(is_near(sum.corrupted, 1000, 200));
}

TEST_CASE("Fault: the same seed does the same, another one does not") {
    const auto fates = [](std::uint64_t seed) {
        auto fault = seeded(seed);
        fault.drop = 500;
        std::vector<bool> dropped(256);
        for (auto&& one : dropped) one = vib_fault_decide(&fault, 290).is_dropped;
        return dropped;
    };
    CHECK(fates(7) == fates(7));
    CHECK(fates(7) != fates(8));
    CHECK(fates(0) != fates(1));
}

TEST_CASE("Fault: one fault's frames are the same whatever the others are set to") {
    auto alone = seeded(4), together = seeded(4);
    alone.drop = together.drop = 300;
    together.duplicate = 700;
    together.corrupt = 200;
    for (int i = 0; i < 1000; ++i)
        REQUIRE(vib_fault_decide(&alone, 290).is_dropped == vib_fault_decide(&together, 290).is_dropped);
}

TEST_CASE("Fault: the corrupted bit is behind the LRH and within the frame") {
    for (const std::size_t length : {std::size_t{9}, std::size_t{26}, std::size_t{290}, std::size_t{8190}}) {
        auto fault = seeded(5);
        fault.corrupt = 1000;
        std::uint32_t least = ~0u, most = 0;
        for (int i = 0; i < 100000; ++i) {
            const auto fate = vib_fault_decide(&fault, length);
            REQUIRE(fate.is_corrupted);
            least = std::min(least, fate.corrupted_bit);
            most = std::max(most, fate.corrupted_bit);
        }
        CAPTURE(length);
        CHECK(least >= VIB_LRH_SIZE * 8);
        CHECK(most < length * 8);
        // Both ends are reached, or nearly so.
        CHECK(least < VIB_LRH_SIZE * 8 + 8);
        CHECK(most >= length * 8 - 8);
    }
}

TEST_CASE("Fault: what has no octet behind its LRH is not corrupted") {
    for (std::size_t length = 0; length <= VIB_LRH_SIZE; ++length) {
        auto fault = seeded(6);
        fault.corrupt = 1000;
        CHECK_FALSE(vib_fault_decide(&fault, length).is_corrupted);
    }
}

TEST_CASE("Fault: a delay is for every frame") {
    auto fault = seeded(7);
    fault.delay = 250;
    CHECK(vib_fault_decide(&fault, 290).delay == 250);
}

TEST_CASE("Fault: a cleared cable is good, and its numbers go on") {
    auto fault = seeded(8);
    fault.drop = fault.duplicate = fault.corrupt = 500;
    fault.delay = 3;
    vib_fault_decide(&fault, 290);
    const auto random = fault.random;
    vib_fault_clear(&fault);
    CHECK(fault.random == random);
    CHECK(vib_fault_decide(&fault, 290).delay == 0);
    CHECK(counts(fault, 100).dropped == 0);
}

}  // namespace

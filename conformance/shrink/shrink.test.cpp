// SPDX-License-Identifier: GPL-2.0-or-later
// What delta debugging leaves.
#include "conformance/shrink/shrink.hpp"

#include "catch2.hpp"

#include <algorithm>

namespace ipoib::shrink {
namespace {

using Numbers = std::vector<std::size_t>;

/// Holds as long as all of these are there.
Predicate needs(Numbers wanted) {
    return [wanted = std::move(wanted)](Items items) { return std::ranges::includes(items, wanted); };
}

}  // namespace

TEST_CASE("Shrinking: what matters is left, in order, wherever it lies") {
    for (const auto& wanted : {Numbers{0}, Numbers{99}, Numbers{42}, Numbers{0, 99}, Numbers{3, 50, 51, 98},
                               Numbers{10, 11, 12, 13, 14, 15, 16, 17}}) {
        const auto shrunk = fewest(100, needs(wanted));
        CHECK(shrunk.holds);
        CHECK(shrunk.is_minimal);
        CHECK(shrunk.items == wanted);
        CHECK(shrunk.tries < 400);
    }
}

TEST_CASE("Shrinking: without any one of the items that are left it holds no more") {
    // Any three odd numbers, and one that is divisible by ten.
    const auto holds = [](Items items) {
        return std::ranges::count_if(items, [](auto i) { return i % 2 == 1; }) >= 3 &&
               std::ranges::any_of(items, [](auto i) { return i % 10 == 0; });
    };
    const auto shrunk = fewest(57, holds);
    REQUIRE(shrunk.items.size() == 4);
    CHECK(std::ranges::is_sorted(shrunk.items));
    for (const auto left_out : shrunk.items) {
        auto fewer = shrunk.items;
        std::erase(fewer, left_out);
        CHECK_FALSE(holds(fewer));
    }
    CHECK(fewest(57, holds).items == shrunk.items);
}

TEST_CASE("Shrinking: what holds of nothing is shrunk to nothing, what never holds is left alone") {
    const auto nothing = fewest(9, [](Items) { return true; });
    CHECK(nothing.items.empty());
    CHECK(nothing.is_minimal);
    const auto never = fewest(9, [](Items) { return false; });
    CHECK_FALSE(never.holds);
    CHECK(never.items.size() == 9);
    CHECK(never.tries == 1);
    CHECK(fewest(0, [](Items) { return true; }).items.empty());
}

TEST_CASE("Shrinking: all items matter") {
    const auto shrunk = fewest(33, [](Items items) { return items.size() == 33; });
    CHECK(shrunk.items.size() == 33);
    CHECK(shrunk.is_minimal);
}

TEST_CASE("Shrinking: it ends when it may ask no more, with what it has by then") {
    std::size_t asked = 0;
    const auto wanted = needs({1, 30, 60, 90});
    const auto shrunk = fewest(
        100, [&](Items items) { return ++asked, wanted(items); }, 40);
    CHECK(asked == 40);
    CHECK(shrunk.tries == 40);
    CHECK_FALSE(shrunk.is_minimal);
    CHECK(shrunk.items.size() < 100);
    CHECK(wanted(shrunk.items));
}

}  // namespace ipoib::shrink

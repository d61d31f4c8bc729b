// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/state/shelf.hpp"

#include "catch2.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ipoib::state {
namespace {

template <class Value>
void check_a_shelf_of() {
    constexpr std::size_t many = 1000;
    Shelf<Value> shelf;
    CHECK(shelf.empty());
    CHECK(shelf.begin() == shelf.end());
    std::vector<const Value*> places;
    for (std::size_t i = 0; i < many; ++i) {
        auto& value = shelf.add();
        CHECK(value == Value{});
        value[0] = static_cast<std::uint8_t>(i);
        places.push_back(&value);
    }
    REQUIRE(shelf.size() == many);
    CHECK(&shelf.front() == places.front());
    CHECK(&shelf.back() == places.back());
    std::size_t number = 0;
    for (const auto& value : shelf) {
        CHECK(&value == places[number]);
        CHECK(&value == &shelf[number]);
        CHECK(value[0] == static_cast<std::uint8_t>(number));
        ++number;
    }
    CHECK(number == many);
}

}  // namespace

TEST_CASE("Shelf: values stay where they are, in their order, however large they are") {
    check_a_shelf_of<std::array<std::uint8_t, 1>>();
    check_a_shelf_of<std::array<std::uint8_t, 24>>();
    check_a_shelf_of<std::array<std::uint8_t, 700>>();
    check_a_shelf_of<std::array<std::uint8_t, 5000>>();
}

}  // namespace ipoib::state

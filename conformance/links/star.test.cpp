// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/star.hpp"

#include "catch2.hpp"

using namespace ipoib::links;

TEST_CASE("Stars: one port at many groups is one, and so is one group at many ports") {
    std::vector<Pair> pairs;
    for (unsigned group = 0; group < 12; ++group) pairs.push_back({.port = 7, .group = group, .index = pairs.size()});
    for (unsigned port = 100; port < 400; ++port) pairs.push_back({.port = port, .group = 3, .index = pairs.size()});
    const auto found = stars(pairs);
    REQUIRE(found.size() == 2);
    CHECK(found[0].groups == std::vector<std::uint32_t>{3});
    CHECK(found[0].ports.size() == 301);
    CHECK(found[1].ports == std::vector<std::uint32_t>{7});
    CHECK(found[1].groups.size() == 11);
    CHECK(found[1].pairs.front() == 0);
}

TEST_CASE("Stars: pairs that have nothing in common stay by themselves, in order") {
    const std::vector<Pair> pairs{{3, 1, 0}, {2, 2, 1}, {1, 3, 2}};
    const auto found = stars(pairs);
    REQUIRE(found.size() == 3);
    CHECK(found[0].ports == std::vector<std::uint32_t>{1});
    CHECK(found[2].pairs == std::vector<std::size_t>{0});
    CHECK(stars({}).empty());
}

TEST_CASE("Stars: all ports at all groups are as many as the fewer of them") {
    std::vector<Pair> pairs;
    for (unsigned port = 0; port < 4; ++port)
        for (unsigned group = 0; group < 5000; ++group) pairs.push_back({port, group, pairs.size()});
    CHECK(stars(pairs).size() == 4);
}

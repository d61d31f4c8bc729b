// SPDX-License-Identifier: GPL-2.0-or-later
// A new kind of fabric takes traffic without a word of it in the generator.
#include "traffic-gen/crew.hpp"

#include "catch2.hpp"
#include "conformance/target/test_fabric_kind.hpp"

namespace toy = ipoib::conformance::toy;
using namespace ipoib::traffic;

TEST_CASE("Crew: as many interfaces as are asked for join the link of a new kind of fabric") {
    Crew crew{{.words = "toy:box", .hosts = 3, .ipv4 = 0x0a020304, .kinds = toy::kinds}};
    REQUIRE(crew.members().size() == 3);
    CHECK(crew.members().front().self().ipv4 == 0x0a020304);
    CHECK(crew.members().back().self().ipv4 == 0x0a020306);
    CHECK(crew.members().front().link().p_key == 0xffff);
}

TEST_CASE("Crew: what is none of the kinds, and what only a fabric of ours has, is refused") {
    const auto refused = [](const FabricOptions& options) {
        try {
            Crew crew{options};
        } catch (const std::invalid_argument& why) {
            return std::string(why.what());
        }
        return std::string();
    };
    CHECK(refused({.words = "simulated", .kinds = toy::kinds}) == "--out 'simulated': traffic is on toy:BOX only");
    CHECK(refused({.words = "toy", .option = "--from", .listen = "/x", .kinds = toy::kinds}) ==
          "--from 'toy': traffic is on toy:BOX only");
    CHECK(refused({.words = "toy:box", .scenario = "scope5", .kinds = toy::kinds}) ==
          "--scenario is how a fabric of ours is set up; --out toy:box is another");
    CHECK(refused({.words = "toy:box", .scenario = "none", .kinds = toy::kinds}).starts_with("there is no scenario"));
    CHECK(refused({.words = "toy:box", .option = "--from", .listen = "/x", .kinds = toy::kinds}) ==
          "--listen is for the simulated fabric, whose nodes may be in other processes; --from toy:box is another");
}

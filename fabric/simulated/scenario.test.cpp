// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/scenario.hpp"

#include "catch2.hpp"

namespace ipoib::fabric {
namespace {

TEST_CASE("Scenarios: the names lead to them, any other to none") {
    std::string names;
    for (const auto& one : scenarios()) {
        CAPTURE(one.name);
        CHECK(find_scenario(one.name) == &one);
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    CHECK(scenario_names() == names);
    // Those that interfaces.md names.
    for (const auto* const name : {"default", "controlled", "hardened", "scope5", "mtu4k"}) CHECK(find_scenario(name));
    CHECK_THROWS_WITH(scenario_named("x"), ContainsSubstring("'x'; there are " + names));
    CHECK_FALSE(find_scenario(""));
    CHECK_FALSE(find_scenario("Default"));
}

TEST_CASE("Scenarios: in controlled no parameter is zero or what managers give by default") {
    const auto& usual = find_scenario("default")->link;
    const auto& link = find_scenario("controlled")->link;
    CHECK(link.p_key == 0x8123);
    CHECK(link.q_key == 0x80000b1b);
    CHECK(link.sl == 3);
    CHECK(link.traffic_class == 0x20);
    CHECK(link.flow_label == 0x12345);
    CHECK(link.hop_limit == 1);
    CHECK((usual.sl == 0 && usual.traffic_class == 0 && usual.flow_label == 0 && usual.hop_limit == 0));
    CHECK(usual.q_key != link.q_key);
    CHECK(usual.p_key != link.p_key);
}

TEST_CASE(
    "Scenarios: in hardened the link is a tenant's, there is another tenant, and neither is the default partition") {
    const auto* hardened = find_scenario("hardened");
    REQUIRE(hardened);
    REQUIRE(hardened->of_others.size() == 1);
    CHECK(hardened->others.empty());
    CHECK((hardened->link.q_key & 0x80000000) != 0);
    for (const auto p_key : {hardened->link.p_key, hardened->of_others[0].p_key}) {
        CHECK(wire::is_full_member(p_key));
        CHECK_FALSE(wire::is_same_partition(p_key, 0xffff));
    }
    CHECK_FALSE(wire::is_same_partition(hardened->link.p_key, hardened->of_others[0].p_key));
}

TEST_CASE("Scenarios: scope5 has a broadcast-GID of site-local scope") {
    CHECK(wire::mgid_of(find_scenario("scope5")->link.broadcast_gid())[wire::Mgid::scope] == 5);
    CHECK(wire::mgid_of(find_scenario("default")->link.broadcast_gid())[wire::Mgid::scope] == 2);
}

TEST_CASE("Scenarios: in mtu4k the ports can do more than the broadcast group") {
    const auto* scenario = find_scenario("mtu4k");
    CHECK(scenario->port_mtu == 5);
    CHECK(scenario->link.mtu == 4);
    CHECK(find_scenario("link4k")->link.mtu == 5);
}

TEST_CASE("Scenarios: in modified-guid the DUT's GUID has its u bit set, elsewhere not") {
    constexpr std::uint64_t u_bit = std::uint64_t{0x02} << 56;
    for (const auto& scenario : scenarios())
        CHECK(((scenario.dut_guid & u_bit) != 0) == (scenario.name == "modified-guid"));
}

}  // namespace
}  // namespace ipoib::fabric

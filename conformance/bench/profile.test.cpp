// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/bench/profile.hpp"

#include "catch2.hpp"

using namespace ipoib::conformance;
using namespace std::chrono_literals;

TEST_CASE("Profile: every key of the interface is read") {
    const auto profile = parse_profile(R"(
[dut]
name = "vä HCA"
vendor = "Example"
driver = "mlx5"
[profile]
role = "router"
modes = ["datagram", "connected"]
mtu = 4092
guid_format = "eui64"
interface_id = "stable-opaque"
send_only_leave = "20s"
multicast_limit = 128
[control]
adapter = "./adapter.py --port x"
interface = "ib0"
addresses = ["10.1.0.9/24", "fe80::1/64"]
tester = ["10.1.0.1/24"]
)",
                                       "DUT.toml");
    REQUIRE(profile.error.empty());
    CHECK(profile->dut == std::vector<std::pair<std::string, std::string>>{
                              {"name", "v\xc3\xa4 HCA"}, {"vendor", "Example"}, {"driver", "mlx5"}});
    CHECK(profile->role == Role::router);
    CHECK(profile->modes == std::vector<std::string>{"datagram", "connected"});
    CHECK(profile->mtu == 4092);
    CHECK(profile->guid_format == "eui64");
    CHECK(profile->interface_id == "stable-opaque");
    CHECK(profile->send_only_leave == 20s);
    CHECK(profile->multicast_limit == 128);
    CHECK(profile->adapter == "./adapter.py --port x");
    CHECK(profile->interface == "ib0");
    REQUIRE(profile->addresses.size() == 2);
    CHECK(text(profile->addresses[0]) == "10.1.0.9/24");
    CHECK(text(profile->addresses[1]) == "fe80::1/64");
    CHECK(text(profile->tester.at(0)) == "10.1.0.1/24");
}

TEST_CASE("Profile: everything that is wrong is told at once, with its line") {
    const auto profile = parse_profile(
        "[dut]\nnmae = \"x\"\n[profile]\nrole = \"switch\"\nmtu = 7\nsend_only_leave = \"20\"\n[control]\n"
        "addresses = [\"10.1.0.9\"]\ntester = 3\n[extra]\n",
        "DUT.toml");
    REQUIRE_FALSE(profile);
    for (const auto* const complaint :
         {"DUT.toml:2: unknown key \"nmae\" in [dut]", "DUT.toml:4: role must be one of host, router",
          "DUT.toml:5: mtu must be a number from 1280 to 65520", "DUT.toml:6: send_only_leave must be a time",
          "DUT.toml:8: addresses \"10.1.0.9\" is no address with prefix length", "DUT.toml:9: tester must be a list",
          "DUT.toml:10: unknown key \"extra\""})
        CHECK(profile.error.find(complaint) != std::string::npos);
}

TEST_CASE("Profile: of a key, a table or a word that there is not, the nearest is named") {
    const auto error = parse_profile("[dut]\nnmae = \"x\"\n[profile]\nrole = \"ruoter\"\n[contorl]\n", "f").error;
    for (const auto* const complaint :
         {"f:2: unknown key \"nmae\" in [dut]; did you mean 'name'?",
          "f:4: role must be one of host, router; did you mean 'router'?",
          "f:5: unknown key \"contorl\"; there are [dut], [profile] and [control]; did you mean 'control'?"})
        CHECK(error.find(complaint) != std::string::npos);
}

TEST_CASE("Profile: what is no TOML is told with its line, in ASCII and beyond") {
    CHECK(parse_profile("[dut]\nname = ", "f").error.starts_with("f:2: "));
    CHECK_FALSE(parse_profile("[d\xc3\xb6t]\n", "f"));
    CHECK_FALSE(parse_profile(std::string(3, '\0'), "f"));
}

TEST_CASE("Profile: a name of the file is shown as a part of one line, whatever is in it") {
    for (const auto* const file :
         {"'\t'.a = 1\n", "\"a\\nf:9: all is well\" = 1\n", "[dut]\n\"a\\u001b[2J\\r\" = 'x'\n"}) {
        const auto profile = parse_profile(file, "f");
        CHECK(profile.error.starts_with("f:"));
        CHECK(profile.error.find_first_of("\t\r\n\x1b") == std::string::npos);
    }
    const auto many = parse_profile('"' + std::string(100'000, 'a') + "\" = 1\n", "f");
    CHECK((!many.error.empty() && many.error.size() < 1100));
}

TEST_CASE("Profile: what cannot be so is told") {
    for (const auto* const modes : {"[]", "[\"connected\"]"}) {
        const auto profile = parse_profile(std::string("[profile]\nmodes = ") + modes, "f");
        CHECK_THAT(profile.error, ContainsSubstring("modes must hold datagram"));
    }
    const auto profile =
        parse_profile("[control]\naddresses = [\"10.1.0.9/24\"]\ntester = [\"10.1.0.1/24\", \"10.1.0.9/24\"]", "f");
    CHECK_THAT(profile.error, ContainsSubstring("addresses and tester both have 10.1.0.9"));
}

TEST_CASE("Profile: what is written reads as the same") {
    Profile profile;
    profile.dut = {{"name", "a \"b\" \\ c"}, {"os", "Debian"}};
    profile.role = Role::router;
    profile.mtu = 2044;
    profile.send_only_leave = 7s;
    profile.adapter = "./a";
    profile.addresses = {*ipoib::wire::parse_network("10.1.0.9/24")};
    const auto again = parse_profile(to_toml(profile), "f");
    REQUIRE(again.error.empty());
    CHECK(again->dut == profile.dut);
    CHECK(again->role == profile.role);
    CHECK(again->send_only_leave == profile.send_only_leave);
    CHECK(again->adapter == profile.adapter);
    CHECK(again->addresses == profile.addresses);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/assumptions/statement.hpp"
#include "conformance/assumptions/test_group.hpp"
#include "protocol/wire/text.hpp"

#include <catch2.hpp>
#include <random>

using namespace ipoib;
using namespace ipoib::assumptions;

namespace {

constexpr std::string_view example = R"([
  {"mgid": "ff12:401b:8123::ffff:ffff", "mlid": "0xc001", "mtu": 1024, "pkey": "0x8123", "qkey": "0x80000b1b",
   "rate": 20, "sl": 3, "tclass": 32, "flow_label": "0x12345", "hop_limit": 0, "scope": 2, "pkt_life": 18,
   "members": [
     {"port_gid": "fe80::10:3", "join_state": 5, "proxy": true, "node_description": "beta\u001b[31m"},
     {"port_gid": "fe80::10:1", "join_state": "0x1"}
   ]},
  {"mgid": "ff12:601b:8123::1", "rate": 2.5, "members": [], "comment": {"a": [1, {"mgid": []}, null], "b": -1.5e3}},
  {"mgid": "ff12:601b:8123::2", "members": null, "sl": null}
])";

std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_sa_list(text, "list.json"));
        return {};
    } catch (const std::runtime_error& wrong) {
        return wrong.what();
    }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A list of one group with these members of its object, in line 2.
std::string group_with(std::string_view members) {
    return "[{\"mgid\": \"ff12:401b:ffff::ffff:ffff\",\n" + std::string(members) + "}]";
}
std::string member_with(std::string_view members) {
    return group_with("\"members\": [{" + std::string(members) + "}]");
}

}  // namespace

TEST_CASE("JSON: parameters are read as a person says them") {
    const auto statement = parse_sa_list(example, "list.json");
    CHECK(statement.source == state::Source::file);
    REQUIRE(statement.groups.size() == 3);
    const auto& group = statement.groups[0];
    CHECK(group.given == (std::uint32_t{1} << parameter_count) - 1);
    CHECK(group.parameters == controlled_group);
    CHECK(statement.groups[1].given == bit(Parameter::rate));
    CHECK(statement.groups[1].parameters.rate == 2);
    CHECK(statement.groups[2].given == 0);
}

TEST_CASE("JSON: members are read, and an empty array says that there are none") {
    const auto statement = parse_sa_list(example, "list.json");
    const auto& members = statement.groups.at(0).members;
    REQUIRE(members.size() == 2);
    CHECK(wire::text(members[0].port_gid) == "fe80::10:1");
    CHECK(members[0].join_state == 1);
    CHECK_FALSE(members[0].proxy);
    CHECK(wire::text(members[1].port_gid) == "fe80::10:3");
    CHECK(members[1].join_state == 5);
    CHECK(members[1].proxy);
    CHECK(members[1].node_description == "beta\\x1b[31m");
    CHECK(statement.groups[0].members_are_listed);
    CHECK(statement.groups[1].members_are_listed);
    CHECK_FALSE(statement.groups[2].members_are_listed);
}

TEST_CASE("JSON: what is wrong is named with file and line") {
    CHECK(refusal("[]") ==
          "list.json: no record of a multicast group found; expected is what saquery -g and saquery -m "
          "print, or JSON");
    CHECK(contains(refusal("{\"groups\": []}"), "list.json: line 1: expected is an array of groups"));
    CHECK(contains(refusal("[1]"), "expected is an array of groups"));
    CHECK(contains(refusal("[[]]"), "expected is an array of groups"));
    CHECK(contains(refusal("[null]"), "expected is an array of groups"));
    CHECK(contains(refusal("[{}]"), "a group without \"mgid\""));
    CHECK(contains(refusal("[{\"mgid\": null}]"), "a group without \"mgid\""));
    CHECK(contains(refusal("[{\"mgid\": 5}]"), "\"mgid\" is no GID: \"5\""));
    CHECK(contains(refusal("[{\"mgid\": []}]"), "\"mgid\" is no single value"));
    CHECK(contains(refusal("[{\"mgid\": \"fe80::1\"}]"), "is no multicast GID"));
    CHECK(contains(refusal(group_with("\"mtu\": 2044")), "line 2: mtu=\"2044\""));
    CHECK(contains(refusal(group_with("\"mtu\": 4\n\n")), "line 2: mtu=\"4\""));
    CHECK(contains(refusal(group_with("\"sl\": -1")), "line 2: sl=\"-1\""));
    CHECK(contains(refusal(group_with("\"sl\": true")), "sl=\"true\""));
    CHECK(contains(refusal(group_with("\"qkey\": 1e999")), "line 2: this is no JSON: number overflow"));
    CHECK(contains(refusal(group_with("\"qkey\": 18446744073709551616")), "qkey"));
    CHECK(contains(refusal(group_with("\"sl\": {}")), "\"sl\" is no single value"));
    CHECK(contains(refusal(group_with("\"sl\": 1, \"SL\": 1")), "\"sl\" twice"));
    CHECK(contains(refusal(group_with("\"members\": 1")), "\"members\" is no array"));
    CHECK(contains(refusal(group_with("\"members\": {}")), "\"members\" is no array"));
    CHECK(contains(refusal(group_with("\"members\": [1]")), "each member is an object"));
    CHECK(contains(refusal(member_with("")), "a member without \"port_gid\""));
    CHECK(contains(refusal(member_with("\"port_gid\": \"fe80::1\"")), "a member without \"join_state\""));
    CHECK(contains(refusal(member_with("\"port_gid\": null, \"join_state\": 1")), "a member without \"port_gid\""));
    CHECK(contains(refusal(member_with("\"port_gid\": \"::\"")), "is no GID of a port"));
    CHECK(contains(refusal(member_with("\"port_gid\": \"ff02::1\"")), "is no GID of a port"));
    CHECK(contains(refusal(member_with("\"join_state\": 16")), "0 to 15"));
    CHECK(contains(refusal(member_with("\"proxy\": 1")), "neither true nor false"));
    CHECK(contains(refusal(member_with("\"node_description\": 1")), "is no string"));
    CHECK(contains(refusal(group_with("") + "\n]"), "line 2: this is no JSON"));
    CHECK(contains(refusal("[{\"mgid\": \"ff12::1\", \"sl\": 1},\n{\"mgid\": \"ff12::1\", \"sl\": 2}]"),
                   "line 2: the record of ff12::1 has sl 2, but that of line 1 has 1"));
    CHECK(contains(refusal(std::string("[{\"mgid\": \"ff12::1\"}]\n") + '\0'), "line 2: a NUL octet"));
}

TEST_CASE("JSON: a list cut anywhere is refused, in short") {
    for (std::size_t size = 0; size < example.size(); ++size) {
        const auto why = refusal(example.substr(0, size));
        CHECK_FALSE(why.empty());
        CHECK(why.size() < 300);
    }
}

TEST_CASE("JSON: depth, length and random octets end well") {
    CHECK(contains(refusal(std::string(1'000'000, '[')), "expected is an array of groups"));
    CHECK(contains(refusal("[{\"x\":" + std::string(1'000'000, '[')), "this is no JSON"));
    CHECK(contains(refusal("[\"" + std::string(10'000'000, 'a')), "this is no JSON"));
    CHECK(refusal("[\"" + std::string(10'000'000, 'a')).size() < 300);
    std::mt19937 random(3);
    for (int i = 0; i < 5000; ++i) {
        std::string text(example);
        for (auto n = 1 + random() % 4; n > 0; --n) text[random() % text.size()] = static_cast<char>(random() % 256);
        for (const char c : refusal(text)) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    }
}

TEST_CASE("JSON: more members than an SA can have are refused", "[size]") {
    std::string text = "[{\"mgid\":\"ff12::1\",\"members\":[";
    for (std::size_t i = 0; i <= most_members; ++i) text += "{\"port_gid\":\"fe80::1\",\"join_state\":1},";
    CHECK(contains(refusal(text), "more than 1048576 members"));
}

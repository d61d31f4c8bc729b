// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/change.hpp"

#include "catch2.hpp"
#include "fabric/simulated/fabric.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace std::chrono_literals;
using Keys = std::vector<std::uint16_t>;

const std::string tester = "0002c90300aa0001";

struct Controlled {
    ChangeAnswer ask(const std::string& request) {
        try {
            return fabric.change(parse_change(request));
        } catch (const ChangeRefused& refused) {
            return {ChangeAnswer::Outcome::failed, refused.what()};
        }
    }
    bool is_ok(const std::string& request) { return ask(request).is_done(); }
    [[nodiscard]] PortFacts facts() { return fabric.ports()[0]->facts(); }
    SimulatedFabric fabric{{}};
};

TEST_CASE("Fabric control: what is no request, or lacks something, fails and changes nothing") {
    Controlled c;
    for (const std::string request : {"",
                                      "{",
                                      "[]",
                                      "1",
                                      "\"do\"",
                                      "{}",
                                      R"({"do": 1})",
                                      "\xff\xfe",
                                      R"({"do":"scenario"})",
                                      R"({"do":"scenario","name":"none"})",
                                      R"({"do":"scenario","name":3})",
                                      R"({"do":"sm"})",
                                      R"({"do":"sm","state":"off"})",
                                      R"({"do":"sm","state":"start","keeps_state":1})",
                                      R"({"do":"port"})",
                                      R"({"do":"port","state":"down"})",
                                      R"({"do":"port","state":"down","lid":65536})",
                                      R"({"do":"port","state":"down","lid":999})",
                                      R"({"do":"port","state":"left","guid":"0002c90300aa0001"})",
                                      R"({"do":"port","state":"down","guid":"12345"})",
                                      R"({"do":"port","state":"down","guid":"x"})",
                                      R"({"do":"port","state":"down","guid":-1})",
                                      R"({"do":"pkey","guid":"0002c90300aa0001"})",
                                      R"({"do":"pkey","guid":"0002c90300aa0001","change":"move","pkey":1,"index":999})",
                                      R"({"do":"lid","guid":"1","lid":7})",
                                      R"({"do":"lid","guid":"0002c90300aa0001","lid":1})",
                                      R"({"do":"pkey","guid":"1","add":"8765"})",
                                      R"({"do":"pkey","guid":"0002c90300aa0001","add":"18765"})",
                                      R"({"do":"sa","delay_ms":-1})",
                                      R"({"do":"sa","delay_ms":"soon"})",
                                      R"({"do":"sa","delay_ms":1e300})",
                                      R"({"do":"sa","silent":"yes"})",
                                      R"({"do":"sa","refuse_only":"nowhere"})",
                                      R"({"do":"sa","drop_next":1.5})",
                                      R"({"do":"group"})",
                                      R"({"do":"group","create":"fe80::1"})",
                                      R"({"do":"faults"})",
                                      R"({"do":"faults","guid":"0002c90300aa0001","loss":1.1})",
                                      R"({"do":"faults","guid":"1","loss":1})"}) {
        CAPTURE(request);
        const auto answer = c.ask(request);
        CHECK(answer.outcome == ChangeAnswer::Outcome::failed);
        CHECK_FALSE(answer.message.empty());
    }
    CHECK(c.facts().is_active);
    CHECK(c.fabric.subnet().scenario().name == "default");
}

TEST_CASE("Fabric control: scenario sets the link up anew, and the tester's ports are up again") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do": "scenario", "name": "controlled"})"));
    CHECK(c.fabric.facts()[2].second == "controlled");
    CHECK(c.facts().is_active);
    CHECK(c.facts().p_keys == Keys{0x8123, 0x7fff});
    CHECK(c.fabric.ports()[1]->facts().is_active);
}

TEST_CASE("Fabric control: sm stops and starts the manager, with or without what it knew") {
    Controlled c;
    const auto mgid = wire::mgid_for_ipv4(0xef000001, 0xffff, 2);
    const auto ask = [&] { return c.fabric.ports()[0]->ask_sa({.attribute = wire::attribute::class_port_info}, 1s); };
    REQUIRE(c.fabric.subnet().sa().create_group(mgid, {}));
    CHECK(ask().is_ok());
    REQUIRE(c.is_ok(R"({"do": "sm", "state": "stop"})"));
    CHECK_FALSE(ask().is_answered);
    REQUIRE(c.is_ok(R"({"do": "sm", "state": "start", "keeps_state": true})"));
    CHECK(ask().is_ok());
    CHECK(c.fabric.subnet().sa().find(mgid));
    REQUIRE(c.is_ok(R"({"do": "sm", "state": "start"})"));
    CHECK(ask().is_ok());
    CHECK_FALSE(c.fabric.subnet().sa().find(mgid));
}

TEST_CASE("Fabric control: port takes links down and up, by GUID or by LID") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do": "port", "guid": "0x)" + tester + R"(", "state": "down"})"));
    CHECK_FALSE(c.facts().is_active);
    REQUIRE(c.is_ok(R"({"do": "port", "guid": ")" + tester + R"(", "state": "up"})"));
    CHECK(c.facts().is_active);
    REQUIRE(c.is_ok(R"({"do": "port", "lid": )" + std::to_string(c.facts().lid) + R"(, "state": "down"})"));
    CHECK_FALSE(c.facts().is_active);
    REQUIRE(c.is_ok(R"({"do": "port", "guid": )" + std::to_string(tester_guid) + R"(, "state": "up"})"));
    CHECK(c.facts().is_active);
}

TEST_CASE("Fabric control: pkey adds to and removes from a port's table") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "add": "0x8055"})"));
    c.fabric.loop().run_for(1ms);
    CHECK(c.facts().p_keys == Keys{0xffff, 0x8055});
    REQUIRE(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "remove": 32853})"));
    c.fabric.loop().run_for(1ms);
    CHECK(c.facts().p_keys == Keys{0xffff});
}

TEST_CASE("Fabric control: pkey moves within a table, and restore takes that back") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "add": "0x8055"})"));
    REQUIRE(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "change": "move", "pkey": "0x8055", "index": 0})"));
    c.fabric.loop().run_for(1ms);
    CHECK(c.facts().p_keys == Keys{0x8055, 0xffff});
    REQUIRE(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "change": "move", "pkey": "0x8056", "index": 0})"));
    c.fabric.loop().run_for(1ms);
    CHECK(c.facts().p_keys == Keys{0x8056, 0xffff, 0x8055});
    REQUIRE(c.is_ok(R"({"do": "restore"})"));
    c.fabric.loop().run_for(1ms);
    CHECK(c.facts().p_keys == Keys{0xffff});
    // As it is already.
    CHECK(c.is_ok(R"({"do": "pkey", "guid": ")" + tester + R"(", "remove": "0x8055"})"));
}

TEST_CASE("Fabric control: lid gives a port another one, prefix all of them another GID") {
    Controlled c;
    const auto before = c.facts().lid;
    REQUIRE(c.is_ok(R"({"do": "lid", "guid": ")" + tester + R"(", "lid": 1000})"));
    CHECK(c.facts().lid == 1000);
    CHECK(c.facts().is_active);
    REQUIRE(c.is_ok(R"({"do": "lid", "guid": ")" + tester + R"("})"));
    CHECK(c.facts().lid != 1000);
    CHECK(c.facts().lid != before);
    REQUIRE(c.is_ok(R"({"do": "prefix", "prefix": "fec0:0:0:1::"})"));
    CHECK(c.facts().gid == wire::Gid::of(0xfec0000000000001, tester_guid));
    CHECK(c.fabric.ports()[0]->ask_sa({.attribute = wire::attribute::class_port_info}, 1s).is_ok());
    REQUIRE(c.is_ok(R"({"do": "prefix", "prefix": "fe80::"})"));
    CHECK(c.facts().gid == wire::Gid::of(wire::default_subnet_prefix, tester_guid));
}

TEST_CASE("Fabric control: sa sets faults one by one and takes them all back") {
    Controlled c;
    const auto& faults = c.fabric.subnet().sa().faults;
    REQUIRE(c.is_ok(R"({"do": "sa", "delay_ms": 1.5, "silent": true, "drop_next": 2})"));
    REQUIRE(c.is_ok(
        R"({"do": "sa", "busy_next": 3, "refuse_joins": "0x0200", "refuse_only": "ff12:401b:ffff::ffff:ffff"})"));
    CHECK(faults.delay == 1500us);
    CHECK(faults.is_silent);
    CHECK(faults.drop_next == 2);
    CHECK(faults.busy_next == 3);
    CHECK(faults.refuse_joins == 0x0200);
    CHECK(faults.refuse_only == wire::broadcast_gid(0xffff, 2));
    REQUIRE(c.is_ok(R"({"do": "sa", "reset": true, "drop_next": 1})"));
    CHECK(faults.delay == 0s);
    CHECK_FALSE(faults.is_silent);
    CHECK(faults.drop_next == 1);
    CHECK_FALSE(faults.refuse_only);
}

TEST_CASE("Fabric control: restore takes back faults of the SA and starts a stopped manager") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do":"sa","silent":true,"busy_next":3})"));
    REQUIRE(c.is_ok(R"({"do":"sm","state":"stop"})"));
    CHECK_FALSE(c.fabric.subnet().sm_hca().is_connected());
    CHECK(c.is_ok(R"({"do":"restore"})"));
    CHECK(c.fabric.subnet().sm_hca().is_connected());
    CHECK_FALSE(c.fabric.subnet().sa().faults.is_silent);
    CHECK(c.fabric.subnet().sa().faults.busy_next == 0);
    CHECK(c.is_ok(R"({"do":"restore"})"));
}

TEST_CASE("Fabric control: group creates and deletes a group of the link") {
    Controlled c;
    const auto mgid = wire::mgid_for_ipv4(0xef010203, 0xffff, 2);
    REQUIRE(c.is_ok(R"({"do": "group", "create": "ff12:401b:ffff::f01:203"})"));
    CHECK(c.fabric.subnet().sa().find(mgid));
    REQUIRE(c.is_ok(R"({"do": "group", "delete": "ff12:401b:ffff::f01:203"})"));
    CHECK_FALSE(c.fabric.subnet().sa().find(mgid));
}

TEST_CASE("Fabric control: faults are those of the port's cable") {
    Controlled c;
    REQUIRE(c.is_ok(R"({"do": "faults", "guid": ")" + tester +
                    R"(", "loss": 1, "spares_management": false, "delay_ms": 1, "duplication": 0})"));
    CHECK_FALSE(c.fabric.ports()[0]->ask_sa({.attribute = wire::attribute::class_port_info}, 1s).is_answered);
    REQUIRE(c.is_ok(R"({"do": "faults", "guid": ")" + tester + R"("})"));
    CHECK(c.fabric.ports()[0]->ask_sa({.attribute = wire::attribute::class_port_info}, 1s).is_ok());
}

}  // namespace
}  // namespace ipoib::fabric::simulated

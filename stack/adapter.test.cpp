// SPDX-License-Identifier: GPL-2.0-or-later
// The DUT control protocol: every request, what it answers, and what it says to nonsense.
#include "stack/test_stacks.hpp"

#include <nlohmann/json.hpp>

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using nlohmann::json;

namespace {

/// A node with its adapter, and a peer.
struct Control {
    World world;
    Host& dut = world.running();
    Host& peer = world.running();
    Adapter adapter{dut.node};

    json line(const std::string& text) {
        std::optional<json> answer;
        adapter.request(text, [&](const std::string& one) {
            REQUIRE_FALSE(answer);
            CHECK(one.find('\n') == std::string::npos);
            answer = json::parse(one);
        });
        world.until([&] { return answer.has_value(); }, 10s);
        REQUIRE(answer);
        return *answer;
    }
    json ask(json request) {
        request["id"] = 7;
        const auto answer = line(request.dump());
        CHECK(answer.at("id") == 7);
        return answer;
    }
    bool ok(const json& request) { return ask(request).value("ok", false); }
};

}  // namespace

TEST_CASE("Adapter: hello says what it is and lists what it can, and nothing else is claimed") {
    Control control;
    const auto hello = control.ask({{"do", "hello"}});
    CHECK(hello.at("protocol") == 1);
    CHECK(hello.at("interfaces") == json{"ib0"});
    CHECK(hello.at("facts").at("guid") == "0x0002c90300100001");
    const std::set<std::string> can = hello.at("can");
    CHECK(can == std::set<std::string>{"add_address",
                                       "bye",
                                       "create_child",
                                       "delete_child",
                                       "dhcp",
                                       "dhcp_server",
                                       "down",
                                       "flush_neighbours",
                                       "health",
                                       "hello",
                                       "interface",
                                       "join",
                                       "leave",
                                       "listen",
                                       "log",
                                       "neighbours",
                                       "ping",
                                       "received",
                                       "remove_address",
                                       "resolve",
                                       "restart",
                                       "router",
                                       "send",
                                       "set_mode",
                                       "set_mtu",
                                       "set_scope",
                                       "timers",
                                       "unprivileged",
                                       "up"});
    for (const auto* name : {"no_such_request", "", "Hello"})
        CHECK(control.ask({{"do", name}}).at("error") == "unsupported");
}

TEST_CASE("Adapter: interface tells address, MTU, addresses, state, mode and groups") {
    Control control;
    REQUIRE(control.ok({{"do", "join"}, {"group", "239.1.2.3"}}));
    const auto answer = control.ask({{"do", "interface"}});
    CHECK(answer.at("ok") == true);
    const std::string address = answer.at("link_address");
    CHECK(address.size() == 59);
    CHECK(address.substr(0, 24) == "00:00:00:48:fe:80:00:00:");
    CHECK(answer.at("mtu") == 2044);
    CHECK(answer.at("ipv4") == json{"10.1.0.1/24"});
    CHECK(answer.at("ipv6") == json{"fe80::202:c903:10:1/64"});
    CHECK(answer.at("up") == true);
    CHECK(answer.at("mode") == "datagram");
    CHECK(answer.at("groups") == json{"224.0.0.1", "239.1.2.3", "ff02::1", "ff02::1:ff10:1"});
}

TEST_CASE("Adapter: up, down and restart answer when the link is there, or say why it is not") {
    Control control;
    CHECK(control.ok({{"do", "down"}}));
    CHECK(control.ask({{"do", "interface"}}).at("up") == false);
    CHECK(control.ok({{"do", "up"}}));
    CHECK(control.ask({{"do", "interface"}}).at("up") == true);
    CHECK(control.ok({{"do", "restart"}}));
    control.world.subnet.sa().faults.refuse_joins = wire::sa_status::denied;
    const auto before = control.world.loop.now();
    const auto answer = control.ask({{"do", "restart"}, {"deadline", 2}});
    CHECK(answer.at("error") == "failed");
    CHECK_THAT(answer.at("message").get<std::string>(), ContainsSubstring("ERR_REQ_DENIED"));
    CHECK(control.world.loop.now() - before <= 2s);
    CHECK(control.ok({{"do", "down"}}));
    for (const auto* what : {"ping", "send", "join", "resolve", "set_mtu"})
        CHECK(control
                  .ask({{"do", what},
                        {"to", "10.1.0.2"},
                        {"address", "10.1.0.2"},
                        {"port", 9},
                        {"payload", ""},
                        {"group", "239.1.1.1"},
                        {"mtu", 1500}})
                  .at("error") == "failed");
}

TEST_CASE("Adapter: addresses, MTU, mode, scope and timers are set within their bounds") {
    Control control;
    CHECK(control.ok({{"do", "add_address"}, {"address", "10.9.0.1/16"}}));
    CHECK(control.ok({{"do", "add_address"}, {"address", "fd00::1/64"}}));
    CHECK(control.ask({{"do", "interface"}}).at("ipv4") == json{"10.1.0.1/24", "10.9.0.1/16"});
    CHECK(control.ok({{"do", "remove_address"}, {"address", "10.9.0.1/16"}}));
    CHECK_FALSE(control.ok({{"do", "remove_address"}, {"address", "10.9.0.1/16"}}));
    for (const auto* wrong : {"10.9.0.1", "10.9.0.1/33", "x", "239.1.1.1/24", "255.255.255.255/32"})
        CHECK(control.ask({{"do", "add_address"}, {"address", wrong}}).at("error") == "failed");
    CHECK(control.ok({{"do", "set_mtu"}, {"mtu", 1500}}));
    CHECK(control.ask({{"do", "interface"}}).at("mtu") == 1500);
    CHECK_FALSE(control.ok({{"do", "set_mtu"}, {"mtu", 2045}}));
    CHECK_FALSE(control.ok({{"do", "set_mtu"}, {"mtu", -1}}));
    CHECK(control.ok({{"do", "set_mode"}, {"mode", "connected"}}));
    CHECK(control.ask({{"do", "interface"}}).at("mode") == "connected");
    CHECK_FALSE(control.ok({{"do", "set_mode"}, {"mode", "both"}}));
    CHECK(control.ok({{"do", "timers"}, {"reachable", 1}, {"gc", 2.5}, {"membership", 3}}));
    CHECK(control.dut.ib0().timers().gc == 2500ms);
    for (const auto& wrong : {json(0), json(-1), json("x"), json(1e300), json(1e-300)})
        CHECK_FALSE(control.ok({{"do", "timers"}, {"gc", wrong}}));
    CHECK_FALSE(control.ok({{"do", "set_scope"}, {"scope", 5}, {"deadline", 1}}));
    CHECK(control.ok({{"do", "set_scope"}, {"scope", 2}}));
    CHECK(control.ok({{"do", "set_scope"}, {"scope", 0}}));
    for (const auto wrong : {15, 16, -2}) CHECK_FALSE(control.ok({{"do", "set_scope"}, {"scope", wrong}}));
}

TEST_CASE("Adapter: groups, datagrams, echo and neighbours") {
    Control control;
    Adapter peer{control.peer.node};
    CHECK(control.ask({{"do", "ping"}, {"to", "10.1.0.2"}, {"size", 4000}}).at("answered") == true);
    CHECK(control.ask({{"do", "ping"}, {"to", "10.1.0.99"}}).at("answered") == false);
    CHECK(control.ask({{"do", "ping"}, {"to", "10.8.0.1"}}).at("error") == "failed");
    const auto link_address = text(control.peer.ib0().hardware_address());
    CHECK(control.ask({{"do", "resolve"}, {"address", "10.1.0.2"}}).at("link_address") == link_address);
    CHECK(control.ask({{"do", "resolve"}, {"address", "10.1.0.99"}}).at("error") == "failed");
    CHECK(control.ask({{"do", "neighbours"}}).at("neighbours") ==
          json::array({{{"address", "10.1.0.2"}, {"link_address", link_address}}}));
    CHECK(control.ok({{"do", "flush_neighbours"}}));
    CHECK(control.ask({{"do", "neighbours"}}).at("neighbours").empty());

    CHECK(control.ok({{"do", "listen"}, {"group", "239.1.2.3"}, {"port", 4000}}));
    REQUIRE(control.peer.ib0().sockets().send(ip("239.1.2.3"), 4000, std::vector<std::uint8_t>{0xab, 0xcd}, 3).empty());
    control.world.settle();
    CHECK(control.ask({{"do", "received"}}).at("datagrams") ==
          json::array({{{"from", "10.1.0.2"}, {"to", "239.1.2.3"}, {"port", 4000}, {"payload", "abcd"}, {"ttl", 3}}}));
    CHECK(control.ask({{"do", "received"}}).at("datagrams").empty());
    CHECK(control.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK_FALSE(control.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK_FALSE(control.ok({{"do", "join"}, {"group", "10.1.0.2"}}));

    REQUIRE(control.peer.ib0().sockets().listen({}, 4001).empty());
    CHECK(control.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 4001}, {"payload", "0102ff"}, {"ttl", 9}}));
    control.world.settle();
    const auto received = control.peer.ib0().sockets().take();
    REQUIRE(received.size() == 1);
    CHECK(received[0].payload == std::vector<std::uint8_t>{1, 2, 0xff});
    CHECK(received[0].hop_limit == 9);
    CHECK_FALSE(control.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 4001}, {"payload", "0"}}));
    CHECK_FALSE(control.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 70000}, {"payload", "00"}}));
}

TEST_CASE("Adapter: children, router mode, log, health and the end") {
    Control control;
    CHECK(control.ask({{"do", "create_child"}, {"pkey", "0x0123"}}).at("interface") == "ib0.8123");
    CHECK_FALSE(control.ok({{"do", "create_child"}, {"pkey", 0x8123}}));
    CHECK_FALSE(control.ok({{"do", "create_child"}, {"pkey", 0x8000}}));
    CHECK(control.ask({{"do", "interface"}, {"interface", "ib0.8123"}}).at("up") == false);
    const auto answer = control.ask({{"do", "up"}, {"interface", "ib0.8123"}, {"deadline", 1}});
    CHECK_THAT(answer.at("message").get<std::string>(), ContainsSubstring("P_Key"));
    CHECK(control.ok({{"do", "delete_child"}, {"interface", "ib0.8123"}}));
    CHECK_FALSE(control.ok({{"do", "delete_child"}, {"interface", "ib0.8123"}}));
    CHECK_FALSE(control.ok({{"do", "delete_child"}, {"interface", "ib0"}}));
    CHECK(control.ok({{"do", "router"}, {"enabled", true}}));
    CHECK(control.dut.ib0().router().is_enabled());
    CHECK(control.ok({{"do", "router"}, {"enabled", false}}));
    CHECK_FALSE(control.ok({{"do", "router"}, {"enabled", 1}}));
    CHECK_FALSE(control.ask({{"do", "log"}}).at("lines").empty());
    CHECK(control.ask({{"do", "health"}}).at("faults").empty());
    control.dut.node.fault("it broke");
    CHECK(control.ask({{"do", "health"}}).at("faults") == json{"it broke"});
    CHECK(control.ask({{"do", "health"}}).at("faults").empty());
    CHECK(control.ok({{"do", "bye"}}));
    control.world.settle();
    CHECK(control.world.subnet.sa().subscriptions() == 2);
    CHECK(control.world.subnet.sa().find(control.world.subnet_link().broadcast_gid())->members.size() == 1);
    CHECK(control.ok({{"do", "up"}}));
}

TEST_CASE("Adapter: whoever hears an answer may ask for anything, the end of the interface included") {
    Control control;
    REQUIRE(control.world.subnet.add_p_key(World::first_guid + 1, 0x8123));
    control.world.subnet.sa().create_broadcast_group({.p_key = 0x8123});
    std::vector<std::string> answers;
    const auto add = [&](const std::string& answer) { answers.push_back(answer); };
    for (const auto* first : {"up", "ping"}) {
        answers.clear();
        REQUIRE(control.ok({{"do", "create_child"}, {"pkey", 0x8123}}));
        const json request{{"id", 1}, {"do", first}, {"interface", "ib0.8123"}, {"to", "fe80::202:c903:10:1"}};
        if (std::string_view(first) == "ping") REQUIRE(control.ok({{"do", "up"}, {"interface", "ib0.8123"}}));
        control.adapter.request(request.dump(), [&](const std::string& answer) {
            add(answer);
            control.adapter.request(R"({"id":2,"do":"delete_child","interface":"ib0.8123"})", add);
        });
        REQUIRE(control.world.until([&] { return answers.size() == 2; }));
        for (const auto& answer : answers) CHECK(json::parse(answer).value("ok", false));
    }
}

TEST_CASE("Adapter: nonsense is answered as failed, and the next request is served") {
    Control control;
    for (const auto& nonsense :
         {std::string(), std::string("{"), std::string("[1,2]"), std::string("null"), std::string("{\"do\":\"hello\"}"),
          std::string("{\"id\":1}"), std::string("{\"id\":1,\"do\":5}"), std::string("{\"id\":[1],\"do\":\"hello\"}"),
          std::string("{\"id\":1,\"do\":\"up\",\"interface\":\"ib9\"}"),
          std::string("{\"id\":1,\"do\":\"up\",\"interface\":{}}"), std::string("\xff\xfe{}"), std::string(60000, '['),
          std::string(100000, ' ')}) {
        CAPTURE(nonsense.substr(0, 40));
        CHECK(control.line(nonsense).at("error") == "failed");
    }
    CHECK(control.line("{\"id\":\"\\ud83d\\ude00x\",\"do\":\"hello\"}").at("ok") == true);
    CHECK(control.line("{\"id\":1,\"do\":\"\\u0000\\u00e9\"}").at("error") == "unsupported");
    for (const auto* what : {"ping", "send", "listen", "join", "leave", "resolve", "add_address", "remove_address",
                             "set_mtu", "set_mode", "set_scope", "create_child", "router"})
        CHECK(control.ask({{"do", what}}).at("error") == "failed");
    CHECK(control.ok({{"do", "hello"}}));
}

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
struct AdapterBench {
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
    AdapterBench bench;
    const auto hello = bench.ask({{"do", "hello"}});
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
        CHECK(bench.ask({{"do", name}}).at("error") == "unsupported");
}

TEST_CASE("Adapter: interface tells address, MTU, addresses, state, mode and groups") {
    AdapterBench bench;
    REQUIRE(bench.ok({{"do", "join"}, {"group", "239.1.2.3"}}));
    const auto answer = bench.ask({{"do", "interface"}});
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
    AdapterBench bench;
    CHECK(bench.ok({{"do", "down"}}));
    CHECK(bench.ask({{"do", "interface"}}).at("up") == false);
    CHECK(bench.ok({{"do", "up"}}));
    CHECK(bench.ask({{"do", "interface"}}).at("up") == true);
    CHECK(bench.ok({{"do", "restart"}}));
    bench.world.subnet.sa().faults.refuse_joins = wire::sa_status::denied;
    const auto before = bench.world.loop.now();
    const auto answer = bench.ask({{"do", "restart"}, {"deadline", 2}});
    CHECK(answer.at("error") == "failed");
    CHECK_THAT(answer.at("message").get<std::string>(), ContainsSubstring("ERR_REQ_DENIED"));
    CHECK(bench.world.loop.now() - before <= 2s);
    CHECK(bench.ok({{"do", "down"}}));
    for (const auto* what : {"ping", "send", "join", "resolve", "set_mtu"})
        CHECK(bench
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
    AdapterBench bench;
    CHECK(bench.ok({{"do", "add_address"}, {"address", "10.9.0.1/16"}}));
    CHECK(bench.ok({{"do", "add_address"}, {"address", "fd00::1/64"}}));
    CHECK(bench.ask({{"do", "interface"}}).at("ipv4") == json{"10.1.0.1/24", "10.9.0.1/16"});
    CHECK(bench.ok({{"do", "remove_address"}, {"address", "10.9.0.1/16"}}));
    CHECK_FALSE(bench.ok({{"do", "remove_address"}, {"address", "10.9.0.1/16"}}));
    for (const auto* wrong : {"10.9.0.1", "10.9.0.1/33", "x", "239.1.1.1/24", "255.255.255.255/32"})
        CHECK(bench.ask({{"do", "add_address"}, {"address", wrong}}).at("error") == "failed");
    CHECK(bench.ok({{"do", "set_mtu"}, {"mtu", 1500}}));
    CHECK(bench.ask({{"do", "interface"}}).at("mtu") == 1500);
    CHECK_FALSE(bench.ok({{"do", "set_mtu"}, {"mtu", 2045}}));
    CHECK_FALSE(bench.ok({{"do", "set_mtu"}, {"mtu", -1}}));
    CHECK(bench.ok({{"do", "set_mode"}, {"mode", "connected"}}));
    CHECK(bench.ask({{"do", "interface"}}).at("mode") == "connected");
    CHECK_FALSE(bench.ok({{"do", "set_mode"}, {"mode", "both"}}));
    CHECK(bench.ok({{"do", "timers"}, {"reachable", 1}, {"gc", 2.5}, {"membership", 3}}));
    CHECK(bench.dut.ib0().timers().gc == 2500ms);
    for (const auto& wrong : {json(0), json(-1), json("x"), json(1e300), json(1e-300)})
        CHECK_FALSE(bench.ok({{"do", "timers"}, {"gc", wrong}}));
    CHECK_FALSE(bench.ok({{"do", "set_scope"}, {"scope", 5}, {"deadline", 1}}));
    CHECK(bench.ok({{"do", "set_scope"}, {"scope", 2}}));
    CHECK(bench.ok({{"do", "set_scope"}, {"scope", 0}}));
    for (const auto wrong : {15, 16, -2}) CHECK_FALSE(bench.ok({{"do", "set_scope"}, {"scope", wrong}}));
}

TEST_CASE("Adapter: groups, datagrams, echo and neighbours") {
    AdapterBench bench;
    Adapter peer{bench.peer.node};
    CHECK(bench.ask({{"do", "ping"}, {"to", "10.1.0.2"}, {"size", 4000}}).at("answered") == true);
    CHECK(bench.ask({{"do", "ping"}, {"to", "10.1.0.99"}}).at("answered") == false);
    CHECK(bench.ask({{"do", "ping"}, {"to", "10.8.0.1"}}).at("error") == "failed");
    const auto link_address = text(bench.peer.ib0().hardware_address());
    CHECK(bench.ask({{"do", "resolve"}, {"address", "10.1.0.2"}}).at("link_address") == link_address);
    CHECK(bench.ask({{"do", "resolve"}, {"address", "10.1.0.99"}}).at("error") == "failed");
    CHECK(bench.ask({{"do", "neighbours"}}).at("neighbours") ==
          json::array({{{"address", "10.1.0.2"}, {"link_address", link_address}}}));
    CHECK(bench.ok({{"do", "flush_neighbours"}}));
    CHECK(bench.ask({{"do", "neighbours"}}).at("neighbours").empty());

    CHECK(bench.ok({{"do", "listen"}, {"group", "239.1.2.3"}, {"port", 4000}}));
    REQUIRE(bench.peer.ib0().sockets().send(ip("239.1.2.3"), 4000, std::vector<std::uint8_t>{0xab, 0xcd}, 3).empty());
    bench.world.settle();
    CHECK(bench.ask({{"do", "received"}}).at("datagrams") ==
          json::array({{{"from", "10.1.0.2"}, {"to", "239.1.2.3"}, {"port", 4000}, {"payload", "abcd"}, {"ttl", 3}}}));
    CHECK(bench.ask({{"do", "received"}}).at("datagrams").empty());
    // Who listens is in the group for itself, and stays.
    CHECK_FALSE(bench.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK(bench.ok({{"do", "join"}, {"group", "239.1.2.3"}}));
    CHECK(bench.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK_FALSE(bench.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    REQUIRE(bench.peer.ib0().sockets().send(ip("239.1.2.3"), 4000, std::vector<std::uint8_t>{0xef}, 3).empty());
    bench.world.settle();
    CHECK(bench.ask({{"do", "received"}}).at("datagrams").size() == 1);
    CHECK_FALSE(bench.ok({{"do", "join"}, {"group", "10.1.0.2"}}));

    REQUIRE(bench.peer.ib0().sockets().listen({}, 4001).empty());
    CHECK(bench.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 4001}, {"payload", "0102ff"}, {"ttl", 9}}));
    bench.world.settle();
    const auto received = bench.peer.ib0().sockets().take();
    REQUIRE(received.size() == 1);
    CHECK(received[0].payload == std::vector<std::uint8_t>{1, 2, 0xff});
    CHECK(received[0].hop_limit == 9);
    CHECK_FALSE(bench.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 4001}, {"payload", "0"}}));
    CHECK_FALSE(bench.ok({{"do", "send"}, {"to", "10.1.0.2"}, {"port", 70000}, {"payload", "00"}}));
}

TEST_CASE("Adapter: children, router mode, log, health and the end") {
    AdapterBench bench;
    CHECK(bench.ask({{"do", "create_child"}, {"pkey", "0x0123"}}).at("interface") == "ib0.8123");
    CHECK_FALSE(bench.ok({{"do", "create_child"}, {"pkey", 0x8123}}));
    CHECK_FALSE(bench.ok({{"do", "create_child"}, {"pkey", 0x8000}}));
    CHECK(bench.ask({{"do", "interface"}, {"interface", "ib0.8123"}}).at("up") == false);
    const auto answer = bench.ask({{"do", "up"}, {"interface", "ib0.8123"}, {"deadline", 1}});
    CHECK_THAT(answer.at("message").get<std::string>(), ContainsSubstring("P_Key"));
    CHECK(bench.ok({{"do", "delete_child"}, {"interface", "ib0.8123"}}));
    CHECK_FALSE(bench.ok({{"do", "delete_child"}, {"interface", "ib0.8123"}}));
    CHECK_FALSE(bench.ok({{"do", "delete_child"}, {"interface", "ib0"}}));
    CHECK(bench.ok({{"do", "router"}, {"enabled", true}}));
    CHECK(bench.dut.ib0().router().is_enabled());
    CHECK(bench.ok({{"do", "router"}, {"enabled", false}}));
    CHECK_FALSE(bench.ok({{"do", "router"}, {"enabled", 1}}));
    CHECK_FALSE(bench.ask({{"do", "log"}}).at("lines").empty());
    CHECK(bench.ask({{"do", "health"}}).at("faults").empty());
    bench.dut.node.fault("it broke");
    CHECK(bench.ask({{"do", "health"}}).at("faults") == json{"it broke"});
    CHECK(bench.ask({{"do", "health"}}).at("faults").empty());
    CHECK(bench.ok({{"do", "bye"}}));
    bench.world.settle();
    CHECK(bench.world.subnet.sa().subscriptions() == 2);
    CHECK(bench.world.subnet.sa().find(bench.world.subnet_link().broadcast_gid())->members.size() == 1);
    CHECK(bench.ok({{"do", "up"}}));
}

TEST_CASE("Adapter: whoever hears an answer may ask for anything, the end of the interface included") {
    AdapterBench bench;
    REQUIRE(bench.world.subnet.add_p_key(World::first_guid + 1, 0x8123));
    bench.world.subnet.sa().create_broadcast_group({.p_key = 0x8123});
    std::vector<std::string> answers;
    const auto add = [&](const std::string& answer) { answers.push_back(answer); };
    for (const auto* first : {"up", "ping"}) {
        answers.clear();
        REQUIRE(bench.ok({{"do", "create_child"}, {"pkey", 0x8123}}));
        const json request{{"id", 1}, {"do", first}, {"interface", "ib0.8123"}, {"to", "fe80::202:c903:10:1"}};
        if (std::string_view(first) == "ping") REQUIRE(bench.ok({{"do", "up"}, {"interface", "ib0.8123"}}));
        bench.adapter.request(request.dump(), [&](const std::string& answer) {
            add(answer);
            bench.adapter.request(R"({"id":2,"do":"delete_child","interface":"ib0.8123"})", add);
        });
        REQUIRE(bench.world.until([&] { return answers.size() == 2; }));
        for (const auto& answer : answers) CHECK(json::parse(answer).value("ok", false));
    }
}

TEST_CASE("Adapter: nonsense is answered as failed, and the next request is served") {
    AdapterBench bench;
    for (const auto& nonsense :
         {std::string(), std::string("{"), std::string("[1,2]"), std::string("null"), std::string("{\"do\":\"hello\"}"),
          std::string("{\"id\":1}"), std::string("{\"id\":1,\"do\":5}"), std::string("{\"id\":[1],\"do\":\"hello\"}"),
          std::string("{\"id\":1,\"do\":\"up\",\"interface\":\"ib9\"}"),
          std::string("{\"id\":1,\"do\":\"up\",\"interface\":{}}"), std::string("\xff\xfe{}"), std::string(60000, '['),
          std::string(100000, ' ')}) {
        CAPTURE(nonsense.substr(0, 40));
        CHECK(bench.line(nonsense).at("error") == "failed");
    }
    CHECK(bench.line("{\"id\":\"\\ud83d\\ude00x\",\"do\":\"hello\"}").at("ok") == true);
    CHECK(bench.line("{\"id\":1,\"do\":\"\\u0000\\u00e9\"}").at("error") == "unsupported");
    for (const auto* what : {"ping", "send", "listen", "join", "leave", "resolve", "add_address", "remove_address",
                             "set_mtu", "set_mode", "set_scope", "create_child", "router"})
        CHECK(bench.ask({{"do", what}}).at("error") == "failed");
    CHECK(bench.ok({{"do", "hello"}}));
}

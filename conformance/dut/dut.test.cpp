// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/dut.hpp"

#include "catch2.hpp"
#include "conformance/dut/no_control.hpp"
#include "conformance/dut/scripted_control.hpp"
#include "protocol/wire/text.hpp"

#include <random>

using namespace ipoib;
using namespace ipoib::conformance;
using namespace std::chrono_literals;

namespace {

const std::string ordinary_hello =
    R"({"id":%,"ok":true,"protocol":1,"name":"example","version":"2.1","interfaces":["ib0","ib1"],)"
    R"("can":["up","ping"],"facts":{"kernel":"6.1","driver":"ib_ipoib","ports":2,"name":"no","guid":null},"new":[{}]})";

wire::IpAddress ip(std::string_view text) { return wire::parse_ip(text).value(); }

/// What a call throws, by kind and text; "" when it throws nothing.
template <class F>
std::string outcome(F call) {
    try {
        call();
        return "";
    } catch (const Unsupported& e) {
        return std::string("Unsupported: ") + e.what();
    } catch (const ControlFailed& e) {
        return std::string("ControlFailed: ") + e.what();
    } catch (const ChannelBroken& e) {
        return std::string("ChannelBroken: ") + e.what();
    }
}

}  // namespace

TEST_CASE("Dut: greet asks for what does not exist, then takes name, abilities and facts from hello") {
    ScriptedControl control;
    control.script["hello"] = {ordinary_hello};
    Dut dut{control, "ib1"};
    dut.greet();

    REQUIRE(control.requests.size() == 2);
    CHECK_THAT(control.requests[1], ContainsSubstring(R"({"id":2,"do":"hello","interface":"ib1"})"));
    CHECK(dut.name() == "example");
    CHECK(dut.abilities() == std::vector<std::string>{"up", "ping"});
    CHECK(dut.can("ping"));
    CHECK_FALSE(dut.can("pin"));
    const std::vector<std::pair<std::string, std::string>> facts{
        {"name", "example"}, {"version", "2.1"}, {"driver", "ib_ipoib"}, {"kernel", "6.1"}, {"ports", "2"}};
    CHECK(dut.facts() == facts);
}

TEST_CASE("Dut: the name of the honesty probe depends on the seed only") {
    const auto probe = [](std::uint64_t seed) {
        ScriptedControl control;
        control.script["hello"] = {ordinary_hello};
        Dut{control, ""}.greet(seed);
        return control.requests.at(0);
    };
    CHECK(probe(1) == probe(1));
    CHECK(probe(1) != probe(2));
}

TEST_CASE("Dut: an adapter that claims a request that does not exist breaks the channel") {
    class Liar : public ScriptedControl {
    public:
        explicit Liar(std::string answer) : answer_(std::move(answer)) {}
        DutControlReply ask(const std::string& request, fabric::Duration) override {
            requests.push_back(request);
            return {R"({"id":)" + std::to_string(requests.size()) + answer_, {}};
        }

    private:
        std::string answer_;
    };
    Liar yes{R"(,"ok":true,"protocol":1,"name":"x","can":[]})"}, failing{R"(,"error":"failed","message":"no"})"};
    CHECK_THAT(outcome([&] {
                   Dut{yes, ""}.greet();
               }),
               ContainsSubstring("ChannelBroken: ") && ContainsSubstring("does not exist, and says to have done it"));
    CHECK_THAT(outcome([&] {
                   Dut{failing, ""}.greet();
               }),
               ContainsSubstring("ChannelBroken: ") && ContainsSubstring("says that it failed"));
    CHECK(yes.requests.size() == 1);
    struct Gone final : DutControl {
        DutControlReply ask(const std::string&, fabric::Duration) override { return {{}, "the adapter died"}; }
    } gone;
    CHECK(outcome([&] { Dut{gone, ""}.greet(); }) == "ChannelBroken: the first request: the adapter died");
    struct Babble final : DutControl {
        DutControlReply ask(const std::string&, fabric::Duration) override { return {"hello", {}}; }
    } babble;
    CHECK(outcome([&] {
              Dut{babble, ""}.greet();
          }) == "ChannelBroken: the adapter's answer to the first request is not a JSON object: 'hello'");
}

TEST_CASE("Dut: hello must have protocol 1, a name, abilities, and the interface that was named") {
    const auto greeting = [](const std::string& hello) {
        ScriptedControl control;
        control.script["hello"] = {hello};
        return outcome([&] { Dut{control, "ib0"}.greet(); });
    };
    CHECK(greeting(R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[]})").empty());
    for (const auto* const wrong : {
             R"({"id":%,"ok":true,"protocol":2,"name":"x","can":[]})",
             R"({"id":%,"ok":true,"protocol":"1","name":"x","can":[]})",
             R"({"id":%,"ok":true,"name":"x","can":[]})",
             R"({"id":%,"ok":true,"protocol":1,"can":[]})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x"})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x","can":"up"})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[1]})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[],"facts":[]})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[],"facts":{"a":{}}})",
             R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[],"interfaces":["ib7"]})",
         }) {
        INFO(wrong);
        CHECK_THAT(greeting(wrong), ContainsSubstring("ChannelBroken: the adapter's answer to 'hello'"));
    }
}

TEST_CASE("Dut: where there is no control, the greeting is right and nothing else can be done") {
    NoControl control;
    Dut dut{control, ""};
    dut.greet();
    CHECK_FALSE(dut.can("interface"));
    CHECK_THROWS_AS(dut.interface(), Unsupported);
    CHECK(control.ask(R"({"id":"a","do":"hello"})", {}).line ==
          R"({"can":[],"id":"a","name":"none","ok":true,"protocol":1})");
    for (const auto* const request : {"", "[]", "{\"do\":[1]}", "{\"id\":"})
        CHECK(control.ask(request, {}).line == R"({"error":"unsupported","id":null,"message":"no control"})");
}

TEST_CASE("Dut: what is wrong with an answer as such is told") {
    struct Row {
        std::string answer, outcome;
    };
    const std::string nested(60000, '[');
    for (const auto& [answer, expected] : std::vector<Row>{
             {R"({"id":%,"ok":true})", ""},
             {R"( {"ok":true,"x":{"y":[[]]},"id":%} )", ""},
             {R"({"id":%,"error":"unsupported","message":"no CM"})", "Unsupported: down: no CM"},
             {R"({"id":%,"ok":false,"error":"failed","message":"it\nis busy"})", "ControlFailed: down: it is busy"},
             {R"({"id":%,"error":"failed","message":"\u001b[2J"})", "ControlFailed: down: \\x1b[2J"},
             {R"({"id":%,"error":"failed"})", "does not say why"},
             {R"({"id":%,"error":"refused","message":"?"})",
              "'error' is neither 'unsupported' nor 'failed': 'refused'"},
             {R"({"id":%,"error":7})", "'error' is not a string"},
             {R"({"id":%,"error":"failed","message":7})", "'message' is not a string"},
             {R"({"id":%})", "says neither 'ok' nor 'error'"},
             {R"({"id":%,"ok":false})", "says neither 'ok' nor 'error'"},
             {R"({"id":%,"ok":1})", "'ok' is neither true nor false"},
             {R"({"id":%,"ok":true,"error":"failed"})", "says both 'ok' and 'error'"},
             {R"({"ok":true})", "'id' is missing"},
             {R"({"id":77,"ok":true})", "'id' is 77, not 1"},
             {R"({"id":"%","ok":true})", "'id' is not a whole number"},
             {R"({"id":-1,"ok":true})", "'id' is not a whole number"},
             {R"({"id":1.0,"ok":true})", "'id' is not a whole number"},
             {R"({"id":1e999,"ok":true})", "is not a JSON object"},
             {R"({"id":99999999999999999999,"ok":true})", "'id' is not a whole number"},
             {R"([{"id":%,"ok":true}])", "is not a JSON object"},
             {R"({"id":%,"ok":true}{})", "is not a JSON object"},
             {R"({"id":%,"ok":true)", "is not a JSON object"},
             {"", "is not a JSON object: ''"},
             {"null", "is not a JSON object"},
             {"Traceback\x1b\xff", "is not a JSON object: 'Traceback\\x1b\\xff'"},
             {"{\"id\":%,\"ok\":true,\"x\":\"\xc3(\"}", "is not a JSON object"},
             {std::string("{\"id\":%,\"ok\":true}\0", 20), "is not a JSON object"},
             {R"({"id":%,"ok":true,"x":)" + nested + std::string(60000, ']') + "}", "is longer than 64 KiB"},
             {R"({"id":%,"ok":true,"x":)" + nested.substr(0, 30000) + std::string(30000, ']') + "}",
              "is not a JSON object"},
             {R"({"id":%,"ok":true,"x":)" + nested, "is not a JSON object"},
         }) {
        ScriptedControl control;
        control.script["down"] = {answer};
        const auto told = outcome([&] { Dut{control, ""}.down(); });
        INFO(answer.substr(0, 100));
        INFO(told);
        if (expected.empty())
            CHECK(told.empty());
        else
            CHECK_THAT(told, ContainsSubstring(expected));
        const bool has_kind =
            expected.empty() || expected.starts_with("Unsupported") || told.starts_with("ControlFailed");
        CHECK((has_kind || told.starts_with("ChannelBroken: ")));
    }
}

TEST_CASE("Dut: a channel that failed says which request met it and why") {
    ScriptedControl control;
    control.error = "the adapter died: exit status 3";
    Dut dut{control, ""};
    CHECK(outcome([&] { dut.down(); }) == "ChannelBroken: down: the adapter died: exit status 3");
    CHECK_NOTHROW(dut.bye());
}

TEST_CASE("Dut: every request is written as the protocol has it") {
    ScriptedControl control;
    const std::vector<std::uint8_t> payload{0x0a, 0xff};
    const auto written = [&](auto call) {
        control.requests.clear();
        Dut dut{control, ""};
        CHECK_THAT(outcome([&] { call(dut); }), ContainsSubstring("Unsupported: "));
        return control.requests.back();
    };
    CHECK(written([](Dut& d) { d.up(); }) == R"({"id":1,"do":"up","deadline":60})");
    CHECK(written([](Dut& d) { d.down(); }) == R"({"id":1,"do":"down"})");
    CHECK(written([](Dut& d) { d.restart(); }) == R"({"id":1,"do":"restart","deadline":60})");
    CHECK(written([](Dut& d) {
              d.add_address({ip("10.1.0.9"), 24});
          }) == R"({"id":1,"do":"add_address","address":"10.1.0.9/24"})");
    CHECK(written([](Dut& d) {
              d.remove_address({ip("fe80::9"), 64});
          }) == R"({"id":1,"do":"remove_address","address":"fe80::9/64"})");
    CHECK(written([](Dut& d) { d.set_mtu(2044); }) == R"({"id":2,"do":"set_mtu","mtu":2044})");
    CHECK(written([](Dut& d) { d.set_mode("connected"); }) == R"({"id":2,"do":"set_mode","mode":"connected"})");
    CHECK(written([](Dut& d) { d.configure_scope(5); }) == R"({"id":1,"do":"set_scope","scope":5})");
    CHECK(written([](Dut& d) { d.set_scope(5); }) == R"({"id":1,"do":"set_scope","scope":5})");
    CHECK(written([](Dut& d) { d.create_child(0x8001); }) == R"({"id":1,"do":"create_child","pkey":32769})");
    CHECK(written([](Dut& d) { d.delete_child("ib0.8001"); }) ==
          R"({"id":1,"do":"delete_child","interface":"ib0.8001"})");
    CHECK(written([](Dut& d) { d.router(true); }) == R"({"id":1,"do":"router","enabled":true})");
    CHECK(written([](Dut& d) { d.join(ip("239.1.2.3")); }) == R"({"id":1,"do":"join","group":"239.1.2.3"})");
    CHECK(written([](Dut& d) { d.leave(ip("ff02::1")); }) == R"({"id":1,"do":"leave","group":"ff02::1"})");
    CHECK(written([&](Dut& d) { d.send(ip("10.1.0.1"), 9, payload, 3); }) ==
          R"({"id":1,"do":"send","to":"10.1.0.1","port":9,"payload":"0aff","ttl":3})");
    CHECK(written([](Dut& d) { d.listen(ip("10.1.0.9"), 9); }) ==
          R"({"id":1,"do":"listen","address":"10.1.0.9","port":9})");
    CHECK(written([](Dut& d) { d.listen(ip("239.1.2.3"), 9); }) ==
          R"({"id":1,"do":"listen","group":"239.1.2.3","port":9})");
    CHECK(written([](Dut& d) { d.resolve(ip("10.1.0.1")); }) == R"({"id":1,"do":"resolve","address":"10.1.0.1"})");
    CHECK(written([](Dut& d) { d.flush_neighbours(); }) == R"({"id":1,"do":"flush_neighbours"})");
    CHECK(written([](Dut& d) { d.timers(5, 0, 7); }) == R"({"id":1,"do":"timers","reachable":5,"membership":7})");
    CHECK(written([](Dut& d) { static_cast<void>(d.ping(ip("10.1.0.1"), 56)); }) ==
          R"({"id":1,"do":"ping","deadline":20,"to":"10.1.0.1","size":56})");
}

TEST_CASE("Dut: waits ten seconds or the request's deadline, stretched by the scale") {
    ScriptedControl control;
    control.script["down"] = control.script["up"] = {R"({"id":%,"ok":true})"};
    Dut dut{control, "", 2.5};
    dut.down();
    dut.up();
    CHECK(control.patiences == std::vector<fabric::Duration>{25s, 150s});
    CHECK_THAT(control.requests[1], ContainsSubstring(R"("deadline":150)"));
    for (const double absurd : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        Dut{control, "", absurd}.down();
        CHECK(control.patiences.back() == 1s);
    }
    Dut{control, "", 1e300}.down();
    CHECK(control.patiences.back() == 1000000s);
}

TEST_CASE("Dut: the first answer is waited for as long as a program may take to start") {
    ScriptedControl control;
    control.script["hello"] = {R"({"id":%,"ok":true,"protocol":1,"name":"x","can":[]})"};
    Dut dut{control, "", 0.1};
    dut.greet();
    CHECK(control.patiences == std::vector<fabric::Duration>{10s, 1s});
    Dut{control, "", 3}.greet();
    CHECK(control.patiences.at(2) == 30s);
}

TEST_CASE("Dut: a request that is longer than a line may be is not sent") {
    ScriptedControl control;
    Dut dut{control, ""};
    const std::vector<std::uint8_t> payload(40000);
    CHECK_THAT(outcome([&] { dut.send(ip("10.1.0.1"), 9, payload); }), ContainsSubstring("ControlFailed: "));
    CHECK(control.requests.empty());
}

TEST_CASE("Dut: interface gives what the adapter tells, and leaves empty what it does not") {
    ScriptedControl control;
    control.script["interface"] = {
        R"({"id":%,"ok":true,"link_address":"00:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:dd:00:01","mtu":2044,)"
        R"("ipv4":["10.1.0.9/24"],"ipv6":["fe80::202:c903:dd:1/64"],"up":true,"mode":"datagram",)"
        R"("groups":["224.0.0.1","ff02::1"]})",
        R"({"id":%,"ok":true,"link_address":null,"mtu":null,"groups":[]})"};
    Dut dut{control, ""};
    const auto full = dut.interface();
    REQUIRE(full.link_address);
    CHECK((*full.link_address)[wire::LinkAddress::qpn] == 0x48);
    CHECK((*full.link_address)[wire::LinkAddress::gid].interface_id() == 0x0002c90300dd0001);
    CHECK(full.mtu == 2044);
    CHECK(full.is_up);
    CHECK(full.mode == "datagram");
    CHECK(full.ipv4 == std::vector<wire::IpNetwork>{{ip("10.1.0.9"), 24}});
    CHECK(full.ipv6 == std::vector<wire::IpNetwork>{{ip("fe80::202:c903:dd:1"), 64}});
    CHECK(full.groups == std::vector<wire::IpAddress>{ip("224.0.0.1"), ip("ff02::1")});

    const auto empty = dut.interface();
    CHECK_FALSE(empty.link_address);
    CHECK(empty.mtu == 0);
    CHECK_FALSE(empty.is_up);
    CHECK((empty.ipv4.empty() && empty.ipv6.empty() && empty.groups.empty()));
}

TEST_CASE("Dut: results of a wrong type break the channel") {
    struct Row {
        std::string what, members;
    };
    for (const auto& [what, members] : std::vector<Row>{
             {"interface", R"("link_address":"00:00:48")"},
             {"interface", R"("link_address":"00:00:0")"},
             {"interface", R"("link_address":[])"},
             {"interface", R"("mtu":"2044")"},
             {"interface", R"("mtu":-1)"},
             {"interface", R"("mtu":65536)"},
             {"interface", R"("mtu":2044.5)"},
             {"interface", R"("ipv4":"10.1.0.9/24")"},
             {"interface", R"("ipv4":["10.1.0.9"])"},
             {"interface", R"("ipv4":["fe80::1/64"])"},
             {"interface", R"("ipv6":["10.1.0.9/24"])"},
             {"interface", R"("ipv6":["fe80::1/129"])"},
             {"interface", R"("up":"yes")"},
             {"interface", R"("groups":["10.1.0.9"])"},
             {"interface", R"("groups":[[]])"},
             {"ping", R"("answered":1)"},
             {"ping", R"("x":1)"},
             {"received", R"("x":1)"},
             {"received", R"("datagrams":{})"},
             {"received", R"("datagrams":[7])"},
             {"received", R"("datagrams":[{"from":"10.1.0.1","to":"10.1.0.9","port":9}])"},
             {"received", R"("datagrams":[{"to":"10.1.0.9","port":9,"payload":""}])"},
             {"received", R"("datagrams":[{"from":"host","to":"10.1.0.9","port":9,"payload":""}])"},
             {"received", R"("datagrams":[{"from":"10.1.0.1","to":"10.1.0.9","port":65536,"payload":""}])"},
             {"received", R"("datagrams":[{"from":"10.1.0.1","to":"10.1.0.9","port":9,"payload":"abc"}])"},
             {"received", R"("datagrams":[{"from":"10.1.0.1","to":"10.1.0.9","port":9,"payload":"","ttl":256}])"},
             {"neighbours", R"("neighbours":[{"link_address":"00"}])"},
             {"neighbours", R"("neighbours":[{"address":"10.1.0.1","link_address":7}])"},
             {"log", R"("lines":"one")"},
             {"log", R"("line":[])"},
             {"health", R"("faults":[{}])"},
             {"health", R"("x":1)"},
         }) {
        INFO(what << ' ' << members);
        ScriptedControl control;
        control.script[what] = {R"({"id":%,"ok":true,)" + members + "}"};
        Dut dut{control, ""};
        const auto told = outcome([&, name = what] {
            if (name == "interface") static_cast<void>(dut.interface());
            if (name == "ping") static_cast<void>(dut.ping(ip("10.1.0.1"), 1));
            if (name == "received") static_cast<void>(dut.received());
            if (name == "neighbours") static_cast<void>(dut.neighbours());
            if (name == "log") static_cast<void>(dut.log());
            if (name == "health") static_cast<void>(dut.health());
        });
        CHECK_THAT(told, ContainsSubstring("ChannelBroken: the adapter's answer to '" + what + "'"));
    }
}

TEST_CASE("Dut: datagrams, neighbours, log and pings come back with their values") {
    ScriptedControl control;
    control.script["received"] = {
        R"({"id":%,"ok":true,"datagrams":[{"from":"10.1.0.1","to":"239.1.2.3","port":7,"payload":"00 AB","ttl":3},)"
        R"({"from":"fe80::1","to":"fe80::9","port":8,"payload":""}]})"};
    control.script["neighbours"] = {
        R"({"id":%,"ok":true,"neighbours":[{"address":"10.1.0.1","link_address":"00:00:00:48"},)"
        R"({"address":"10.1.0.2"}]})"};
    control.script["log"] = {R"({"id":%,"ok":true,"lines":["one","two\ttabs"]})"};
    control.script["ping"] = {R"({"id":%,"ok":true,"answered":true})", R"({"id":%,"ok":true,"answered":false})"};
    control.script["create_child"] = {R"({"id":%,"ok":true,"interface":"ib0.8001"})", R"({"id":%,"ok":true})"};
    Dut dut{control, ""};

    const auto datagrams = dut.received();
    REQUIRE(datagrams.size() == 2);
    CHECK(datagrams[0].from == ip("10.1.0.1"));
    CHECK(datagrams[0].to == ip("239.1.2.3"));
    CHECK(datagrams[0].port == 7);
    CHECK(datagrams[0].payload == "00ab");
    CHECK(datagrams[0].ttl == 3);
    CHECK(datagrams[1].payload.empty());
    const auto neighbours = dut.neighbours();
    REQUIRE(neighbours.size() == 2);
    CHECK(neighbours[0].link_address == std::vector<std::uint8_t>{0, 0, 0, 0x48});
    CHECK(neighbours[1].address == ip("10.1.0.2"));
    CHECK(neighbours[1].link_address.empty());
    CHECK(dut.log() == std::vector<std::string>{"one", "two tabs"});
    CHECK(dut.ping(ip("10.1.0.1"), 56));
    CHECK_FALSE(dut.ping(ip("10.1.0.1"), 56));
    CHECK(dut.create_child(0x8001) == "ib0.8001");
    CHECK(dut.create_child(0x8001).empty());
}

TEST_CASE("Dut: undo takes back what was asked, last first, and nothing twice") {
    ScriptedControl control;
    const std::string ok = R"({"id":%,"ok":true})", failed = R"({"id":%,"error":"failed","message":"gone"})";
    control.script = {{"join", {ok}},
                      {"leave", {failed, ok}},
                      {"router", {ok}},
                      {"set_mode", {ok}},
                      {"set_mtu", {ok}},
                      {"add_address", {ok}},
                      {"remove_address", {ok}},
                      {"dhcp", {ok}},
                      {"interface", {R"({"id":%,"ok":true,"mode":"datagram","mtu":2044})"}}};
    Dut dut{control, ""};
    dut.join(ip("239.1.2.3"));
    dut.router(true);
    dut.set_mode("connected");
    dut.dhcp(true);
    dut.set_mtu(1400);
    dut.lend_address({ip("fe80::9"), 64});
    control.requests.clear();
    dut.undo();
    dut.undo();
    CHECK(control.requests ==
          std::vector<std::string>{
              R"({"id":9,"do":"remove_address","address":"fe80::9/64"})", R"({"id":10,"do":"set_mtu","mtu":2044})",
              R"({"id":11,"do":"dhcp","stop":true})", R"({"id":12,"do":"set_mode","mode":"datagram"})",
              R"({"id":13,"do":"router","enabled":false})", R"({"id":14,"do":"leave","group":"239.1.2.3"})"});
}

TEST_CASE("Dut: a scope that a case sets gives way to the configured one") {
    ScriptedControl control;
    control.script = {{"set_scope", {R"({"id":%,"ok":true})"}}};
    Dut dut{control, ""};
    dut.configure_scope(5);
    dut.undo();
    CHECK(control.requests.size() == 1);
    dut.set_scope(0);
    dut.undo();
    CHECK(control.requests.back() == R"({"id":3,"do":"set_scope","scope":5})");
}

TEST_CASE("Dut: a time that a case has shortened is the usual one afterwards") {
    ScriptedControl control;
    control.script = {{"timers", {R"({"id":%,"ok":true})"}}};
    Dut dut{control, ""};
    dut.timers(2, 0, 0);
    dut.undo();
    CHECK(control.requests.back() == R"({"id":2,"do":"timers","reachable":30})");
    dut.undo();
    CHECK(control.requests.size() == 2);
}

TEST_CASE("Dut: an adapter that cannot tell of its health has no faults, one that fails to tell is heard") {
    ScriptedControl control;
    Dut dut{control, ""};
    CHECK(dut.health().empty());
    control.script["health"] = {R"({"id":%,"ok":true,"faults":["BUG: x"]})", R"({"id":%,"error":"failed"})"};
    CHECK(dut.health() == std::vector<std::string>{"BUG: x"});
    CHECK_THAT(outcome([&] { static_cast<void>(dut.health()); }), ContainsSubstring("ControlFailed: health"));
}

TEST_CASE("Dut: lines with any octets damaged are answers or refused, never more") {
    std::mt19937_64 random{7};
    const std::string good = R"({"id":1,"ok":true,"datagrams":[{"from":"10.1.0.1","to":"10.1.0.9","port":9,)"
                             R"("payload":"00ff","ttl":3}],"mtu":2044,"ipv4":["10.1.0.9/24"],"faults":["x"]})";
    unsigned refused = 0;
    for (unsigned round = 0; round < 3000; ++round) {
        auto line = good;
        for (auto n = random() % 4 + 1; n > 0; --n) line[random() % line.size()] = static_cast<char>(random());
        if (round % 3 == 0) line.resize(random() % line.size());
        std::erase(line, '%');
        ScriptedControl control;
        control.script["received"] = control.script["interface"] = control.script["health"] = {line};
        for (int which = 0; which < 3; ++which) {
            const auto told = outcome([&] {
                Dut dut{control, ""};
                if (which == 0) static_cast<void>(dut.received());
                if (which == 1) static_cast<void>(dut.interface());
                if (which == 2) static_cast<void>(dut.health());
            });
            refused += !told.empty();
        }
    }
    CHECK(refused > 1000);
}

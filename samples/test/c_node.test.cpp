// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples/test/subnet_bench.hpp"

using namespace ipoib;
using namespace ipoib::samples::test;

namespace {

const std::string program = "exec " IPOIB_NODE " --port @";

/// UDP datagrams to a port of the neighbour's that arrived.
std::vector<stack::Sockets::Received> heard(SubnetBench& bench, std::size_t count = 1) {
    std::vector<stack::Sockets::Received> all;
    bench.until(
        [&] {
            for (auto& one : bench.ib0().sockets().take()) all.push_back(std::move(one));
            return all.size() >= count;
        },
        5s);
    return all;
}

void join_peer(SubnetBench& bench, std::string_view group) {
    std::optional<std::string> answer;
    bench.ib0().membership().join(ip(group), [&](const std::string& reason) { answer = reason; });
    REQUIRE(bench.until([&] { return answer.has_value(); }));
    REQUIRE(answer->empty());
}

}  // namespace

TEST_CASE("C node: is brought up, joins, adopts the link, and is reached by ARP and echo both ways") {
    for (const auto* const scenario : {"default", "controlled", "scope5", "mtu4k"}) {
        INFO(scenario);
        SubnetBench bench{program, scenario};
        bench.start();
        const auto& link = bench.fabric.subnet().scenario().link;
        const auto mtu = (128u << link.mtu) - 4;
        CHECK_THAT(bench.ask("interface"),
                   ContainsSubstring("ok up=1 mtu=" + std::to_string(mtu) +
                                     " link_address=00:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:dd:00:01 "
                                     "ipv4=10.1.0.9/24 group=224.0.0.1"));
        CHECK(bench.ping("10.1.0.9"));
        CHECK(bench.ask("ping 10.1.0.1 56") == "ok answered");
        CHECK(bench.ping("10.1.0.9", mtu - 28));
        CHECK(bench.ask("ping 10.1.0.1 " + std::to_string(mtu - 28)) == "ok answered");
        CHECK_THAT(bench.ask("ping 10.1.0.1 " + std::to_string(mtu - 27)), ContainsSubstring("failed"));
        CHECK_THAT(bench.ask("neighbours"), ContainsSubstring(" 10.1.0.1,00:00:00:48:fe:80:"));
    }
}

TEST_CASE("C node: nobody answers for an address that nobody has") {
    SubnetBench bench{program};
    bench.start();
    CHECK(bench.ask("ping 10.1.0.77 0") == "ok silent");
    CHECK(bench.ask("resolve 10.1.0.77") == "ok");
    CHECK(bench.ask("neighbours") == "ok");
}

TEST_CASE("C node: a group that it joins is created like the broadcast group, and left") {
    SubnetBench bench{program, "controlled"};
    bench.start();
    CHECK(bench.ask("join 239.1.2.3") == "ok");
    CHECK(bench.ask("join 239.1.2.3") == "ok");
    const auto* group = bench.sa().find(bench.mgid("239.1.2.3"));
    const auto* like = bench.sa().find(bench.mgid("255.255.255.255"));
    REQUIRE((group && like));
    using wire::McMemberRecord;
    const auto alike = [&](const auto& field) { return group->record[field] == like->record[field]; };
    CHECK(alike(McMemberRecord::q_key));
    CHECK(alike(McMemberRecord::p_key));
    CHECK(alike(McMemberRecord::mtu));
    CHECK(alike(McMemberRecord::rate));
    CHECK(alike(McMemberRecord::sl));
    CHECK(alike(McMemberRecord::traffic_class));
    CHECK(alike(McMemberRecord::flow_label));
    CHECK(alike(McMemberRecord::hop_limit));
    CHECK(alike(McMemberRecord::lifetime));

    CHECK(bench.ask("listen 239.1.2.3 7") == "ok");
    const std::vector<std::uint8_t> payload{1, 2, 0xff};
    REQUIRE(bench.ib0().sockets().send(ip("239.1.2.3"), 7, payload, 5).empty());
    std::string received;
    CHECK(bench.until([&] { return (received = bench.ask("received")) != "ok"; }, 5s));
    CHECK(received == "ok 10.1.0.1,239.1.2.3,7,5,0102ff");

    // Who listens stays in the group.
    CHECK(bench.ask("leave 239.1.2.3") == "ok");
    bench.fabric.loop().run_for(500ms);
    CHECK(bench.state_of("239.1.2.3") == 1);
    CHECK_THAT(bench.ask("leave 239.1.2.3"), ContainsSubstring("failed"));

    CHECK(bench.ask("join 239.1.2.4") == "ok");
    CHECK(bench.ask("leave 239.1.2.4") == "ok");
    CHECK(bench.until([&] { return bench.state_of("239.1.2.4") <= 0; }));
}

TEST_CASE("C node: the egress steps for multicast: member, existing group, all routers, created later, drop") {
    SubnetBench bench{program};
    bench.start();
    std::vector<wire::Gid> sent_to;
    bench.watcher = [&](const wire::Packet& packet) {
        const auto to_group = packet.grh && packet.grh[wire::Grh::dgid].is_multicast();
        if (to_group && packet.udp && packet.lrh[wire::Lrh::slid] != bench.peer.hca.facts().lid)
            sent_to.push_back(packet.grh[wire::Grh::dgid]);
    };
    REQUIRE(bench.ib0().sockets().listen(std::nullopt, 9).empty());

    // Nobody listens, and there are no routers.
    CHECK(bench.ask("send 239.1.1.1 9 8 aa") == "ok");
    CHECK(bench.ask("send 224.0.0.77 9 1 aa") == "ok");
    bench.fabric.loop().run_for(500ms);
    CHECK(sent_to.empty());
    CHECK(bench.state_of("239.1.1.1") == -1);

    // The group exists.
    join_peer(bench, "239.2.2.2");
    CHECK(bench.ask("send 239.2.2.2 9 8 bb") == "ok");
    const auto datagrams = heard(bench);
    REQUIRE(datagrams.size() == 1);
    CHECK(datagrams[0].to == ip("239.2.2.2"));
    CHECK(datagrams[0].hop_limit == 8);
    CHECK(datagrams[0].payload == std::vector<std::uint8_t>{0xbb});
    CHECK(bench.state_of("239.2.2.2") == 4);
    CHECK(sent_to == std::vector{bench.mgid("239.2.2.2")});

    // Routers hear what goes beyond the link.
    join_peer(bench, "224.0.0.2");
    bench.fabric.loop().run_for(200ms);  // the report of trap 66
    sent_to.clear();
    CHECK(bench.ask("send 239.3.3.3 9 8 cc") == "ok");
    CHECK(bench.ask("send 224.0.0.88 9 8 cc") == "ok");
    CHECK(bench.until([&] { return !sent_to.empty(); }, 5s));
    bench.fabric.loop().run_for(300ms);
    CHECK(sent_to == std::vector{bench.mgid("224.0.0.2")});

    // The group is created later.
    join_peer(bench, "239.3.3.3");
    bench.fabric.loop().run_for(200ms);
    sent_to.clear();
    CHECK(bench.ask("send 239.3.3.3 9 8 dd") == "ok");
    CHECK(heard(bench).size() == 1);
    CHECK(sent_to == std::vector{bench.mgid("239.3.3.3")});

    // It is deleted: its MLID is used no longer.
    REQUIRE(bench.ib0().membership().leave(ip("239.3.3.3")));
    REQUIRE(bench.until([&] { return bench.state_of("239.3.3.3") == -1; }));
    bench.fabric.loop().run_for(200ms);
    sent_to.clear();
    CHECK(bench.ask("send 239.3.3.3 9 8 ee") == "ok");
    CHECK(bench.until([&] { return !sent_to.empty(); }, 5s));
    CHECK(sent_to == std::vector{bench.mgid("224.0.0.2")});
}

TEST_CASE("C node: a sender leaves the group when it has nothing more to send") {
    SubnetBench bench{program};
    bench.start();
    REQUIRE(bench.ask("timers 0 1") == "ok");
    join_peer(bench, "239.2.2.2");
    CHECK(bench.ask("send 239.2.2.2 9 8 bb") == "ok");
    CHECK(bench.until([&] { return bench.state_of("239.2.2.2") == 4; }));
    CHECK(bench.until([&] { return bench.state_of("239.2.2.2") == 0; }));
}

TEST_CASE("C node: joins everything anew when the subnet manager was restarted") {
    SubnetBench bench{program};
    bench.start();
    REQUIRE(bench.ask("join 239.1.2.3") == "ok");
    bench.fabric.subnet().stop_manager();
    bench.fabric.loop().run_for(200ms);
    bench.fabric.subnet().start_manager(false);
    CHECK(bench.until([&] { return bench.state_of("255.255.255.255") == 1 && bench.state_of("239.1.2.3") == 1; }));
    CHECK(bench.until([&] { return bench.sa().subscriptions() == 4; }));
    CHECK(bench.is_up());
    CHECK(bench.until([&] { return bench.ib0().is_running(); }));
    CHECK(bench.ping("10.1.0.9"));
}

TEST_CASE("C node: repeats requests that are not answered, and tells of refused joins") {
    SubnetBench bench{program};
    bench.start();
    bench.sa().faults.drop_next = 2;
    CHECK(bench.ask("join 239.1.2.3") == "ok");
    bench.sa().faults.refuse_joins = 0x0200;
    CHECK(bench.ask("join 239.1.2.4") == "failed the SA refused to join: status 0x0200");
    CHECK_THAT(bench.node->diagnostics(),
               ContainsSubstring("joining group 239.1.2.4 of P_Key 0xffff, scope 2, failed"));
}

TEST_CASE("C node: leaves everything when it goes down, is restarted, or ends") {
    SubnetBench bench{program};
    bench.start();
    REQUIRE(bench.ask("join 239.1.2.3") == "ok");
    const auto is_away = [&] {
        return bench.state_of("239.1.2.3") == -1 && bench.state_of("255.255.255.255") == 0 &&
               bench.sa().subscriptions() == 2;
    };
    CHECK(bench.ask("down") == "ok");
    CHECK(bench.until(is_away));
    CHECK_THAT(bench.ask("interface"), ContainsSubstring("ok up=0 mtu=0"));
    CHECK_FALSE(bench.ping("10.1.0.9", 56, 500ms));
    CHECK(bench.ask("up") == "ok");
    CHECK(bench.until([&] { return bench.state_of("239.1.2.3") == 1; }));

    const auto connections = bench.connections;
    CHECK(bench.ask("restart") == "ok");
    CHECK(bench.until([&] { return bench.connections == connections + 1; }));
    CHECK(bench.ask("up") == "ok");
    CHECK(bench.until([&] { return bench.state_of("239.1.2.3") == 1; }));
    CHECK(bench.ping("10.1.0.9"));

    unsigned leaves = 0;
    bench.watcher = [&](const wire::Packet& packet) {
        leaves += packet.sa && packet.mad[wire::Mad::method] == wire::Method::del;
    };
    bench.node.reset();  // its standard input ends
    CHECK(bench.until(is_away));
    CHECK(leaves >= 3);
}

TEST_CASE("C node: comes back after the other side closed the port, and is down when it says so") {
    SubnetBench bench{program};
    bench.start();
    bench.disconnect();
    CHECK(bench.until([&] { return bench.connections == 2; }));
    CHECK(bench.is_up());
    CHECK(bench.ping("10.1.0.9"));
    bench.port->send_link_down();
    CHECK(bench.until([&] { return bench.ask("interface").starts_with("ok up=0"); }));
}

TEST_CASE("C node: says why a command failed, and what it does not know") {
    SubnetBench bench{program};
    for (const auto* const wrong :
         {"add", "add 10.1.0.9", "add 10.1.0.9/33", "add 10.1.0.9/-1", "remove 10.1.0.9/24", "join 10.1.0.9",
          "leave 239.1.2.3", "send 10.1.0.1 9", "send 10.1.0.1 65536 1 aa", "send 10.1.0.1 9 1 a",
          "send 10.1.0.1 9 1 xx", "listen 10.1.0.9", "ping 10.1.0.1", "ping 10.1.0.1 9999999999999999999999",
          "resolve x", "timers 1", "send 10.1.0.1 9 1 aa"}) {
        INFO(wrong);
        CHECK_THAT(bench.ask(wrong), ContainsSubstring("failed "));
    }
    for (const auto* const unknown : {"", " ", "join_all", "quit now please", "\x01\xff"})
        CHECK(bench.ask(unknown) == "unsupported");
    CHECK(bench.ask("join 239.1.2.3" + std::string(5000, ' ')) == "ok");
}

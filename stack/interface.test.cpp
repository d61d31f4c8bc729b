// SPDX-License-Identifier: GPL-2.0-or-later
// The link from a port to ping: setting up, adopted parameters, echo, fragments. RFC 4391, 5 to 7.
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

TEST_CASE("Stack: in every scenario an interface comes up with the parameters of its broadcast group") {
    for (const auto& scenario : fabric::scenarios()) {
        CAPTURE(scenario.name);
        World world{scenario.name};
        auto& host = world.running();
        const auto& link = host.ib0().link();
        const auto& wanted = scenario.link;
        CHECK(link.p_key == wanted.p_key);
        CHECK(link.q_key == wanted.q_key);
        CHECK(link.sl == wanted.sl);
        CHECK(link.traffic_class == wanted.traffic_class);
        CHECK(link.flow_label == wanted.flow_label);
        CHECK(link.hop_limit == wanted.hop_limit);
        CHECK(link.scope == wanted.scope);
        CHECK(link.mtu == wanted.mtu);
        CHECK(host.ib0().mtu() == (std::size_t{128} << wanted.mtu) - 4);
        const auto* group = world.subnet.sa().find(wanted.broadcast_gid());
        REQUIRE(group);
        CHECK(group->members.at(host.gid()) == join_state::full_member);
        CHECK(world.subnet.sa().subscriptions() == 2);
    }
}

TEST_CASE("Stack: two nodes ping each other over IPv4 and IPv6 in every scenario") {
    for (const auto& scenario : fabric::scenarios()) {
        CAPTURE(scenario.name);
        World world{scenario.name};
        auto& a = world.running();
        auto& b = world.running();
        CHECK(world.ping(a, ip("10.1.0.2")));
        CHECK(world.ping(b, ip("10.1.0.1"), 0));
        CHECK(world.ping(a, b.ib0().addresses().back().address));
        CHECK_FALSE(world.ping(a, ip("10.1.0.77")));
    }
}

TEST_CASE("Stack: a datagram that fills the MTU goes in one packet, a longer one in fragments") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    const auto v6 = b.ib0().addresses().back().address;
    REQUIRE(world.ping(a, v6));
    const auto count = [&](const IpAddress& to, std::size_t size) {
        world.clear();
        CHECK(world.ping(a, to, size));
        return world.all([](const Packet& packet) { return packet.ipv4 || packet.ipv6; }).size();
    };
    CHECK(count(ip("10.1.0.2"), 2044 - 28) == 2);
    CHECK(count(ip("10.1.0.2"), 2045 - 28) == 4);
    CHECK(count(ip("10.1.0.2"), 4000) == 4);
    CHECK(count(ip("10.1.0.2"), 65507) == 66);
    CHECK(count(v6, 2044 - 48) == 2);
    CHECK(count(v6, 4000) == 6);
    for (const auto* one : world.all([](const Packet& packet) { return packet.is_ipoib(); }))
        CHECK(one->packet.payload.size() <= 2048);
}

TEST_CASE("Stack: the MTU is the broadcast group's, whatever the port could do") {
    World world{"mtu4k"};
    auto& host = world.running();
    CHECK(host.ib0().port().mtu == 5);
    CHECK(host.ib0().mtu() == 2044);
}

TEST_CASE("Stack: the MTU set by hand stays within the link's") {
    World world;
    auto& a = world.running();
    world.running();
    CHECK_FALSE(a.ib0().set_mtu(2045).empty());
    CHECK_FALSE(a.ib0().set_mtu(67).empty());
    CHECK(a.ib0().set_mtu(1500).empty());
    REQUIRE(world.ping(a, ip("10.1.0.2"), 1400));
    world.clear();
    CHECK(world.ping(a, ip("10.1.0.2"), 1500));
    for (const auto* one : world.all([](const Packet& packet) { return packet.ipv4 && packet.deth; }))
        if (one->packet.deth[Deth::src_qp] == a.ib0().ud_qpn() && one->packet.lrh[Lrh::slid] == a.hca.facts().lid)
            CHECK(one->packet.payload.size() <= 1504);
    CHECK(a.ib0().set_mtu(2044).empty());
}

TEST_CASE("Stack: without a broadcast group the interface waits, and comes up once there is one") {
    World world;
    world.subnet.sa().delete_group(world.subnet_link().broadcast_gid());
    auto& host = world.add();
    REQUIRE(host.ib0().up().empty());
    CHECK_FALSE(world.until([&] { return host.ib0().is_running(); }));
    CHECK(host.ib0().trouble() == "there is no broadcast group");
    CHECK(world.joins(world.subnet_link().broadcast_gid()).empty());
    world.subnet.sa().create_broadcast_group(world.subnet_link());
    CHECK(world.until([&] { return host.ib0().is_running(); }, 17s));
}

TEST_CASE("Stack: an interface whose join is refused stays down, says why and tries again") {
    World world;
    world.subnet.sa().faults.refuse_joins = sa_status::denied;
    auto& host = world.add();
    REQUIRE(host.ib0().up().empty());
    CHECK_FALSE(world.until([&] { return host.ib0().is_running(); }));
    CHECK_THAT(host.ib0().trouble(), ContainsSubstring("ERR_REQ_DENIED"));
    world.subnet.sa().faults.refuse_joins = 0;
    CHECK(world.until([&] { return host.ib0().is_running(); }, 17s));
}

TEST_CASE("Stack: a port that cannot carry the MTU of the broadcast group does not take part") {
    World world;
    auto& host = world.add({}, {.mtu = 3});
    REQUIRE(host.ib0().up().empty());
    CHECK_FALSE(world.until([&] { return host.ib0().is_running(); }, 5s));
}

TEST_CASE("Stack: an interface that goes down leaves every group and its queue pair") {
    World world;
    auto& host = world.running();
    REQUIRE(world.join(host, ip("239.1.2.3")).empty());
    const auto qpn = host.ib0().ud_qpn();
    host.ib0().down();
    world.settle();
    CHECK_FALSE(host.ib0().is_running());
    CHECK(world.subnet.sa().find(world.subnet_link().broadcast_gid())->members.empty());
    CHECK(world.subnet.sa().find(world.mgid(ip("239.1.2.3"))) == nullptr);
    REQUIRE(host.ib0().up().empty());
    REQUIRE(world.until([&] { return host.ib0().is_running(); }));
    world.settle();
    CHECK(host.ib0().ud_qpn() != qpn);
    CHECK(world.subnet.sa().find(world.mgid(ip("239.1.2.3"))) != nullptr);
}

TEST_CASE("Stack: a join that is answered after the interface went down is undone") {
    World world;
    auto& host = world.running();
    world.subnet.sa().faults.delay = 10ms;
    host.ib0().membership().join(ip("239.1.2.3"), [](const std::string&) {});
    world.loop.run_for(1ms);
    host.ib0().down();
    world.settle();
    CHECK(world.subnet.sa().find(world.mgid(ip("239.1.2.3"))) == nullptr);
    CHECK(world.subnet.sa().find(world.subnet_link().broadcast_gid())->members.empty());
}

TEST_CASE("Stack: after a new subnet manager everything is joined and subscribed to again") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    REQUIRE(world.join(a, ip("239.1.2.3")).empty());
    world.subnet.start_manager(false);
    REQUIRE(world.until([&] {
        const auto* group = world.subnet.sa().find(world.subnet_link().broadcast_gid());
        return group && group->members.size() == 2 && world.subnet.sa().find(world.mgid(ip("239.1.2.3")));
    }));
    world.settle();
    CHECK(world.subnet.sa().subscriptions() == 4);
    CHECK(world.ping(a, ip("10.1.0.2")));
    CHECK(world.ping(b, ip("10.1.0.1")));
}

TEST_CASE("Stack: a link that comes back is set up again") {
    World world;
    auto& a = world.running();
    world.running();
    REQUIRE(world.subnet.set_link(World::first_guid + 1, false));
    REQUIRE(world.until([&] { return !a.ib0().is_running(); }));
    REQUIRE(world.subnet.set_link(World::first_guid + 1, true));
    REQUIRE(world.until([&] { return a.ib0().is_running(); }));
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("Stack: a link that is set up with other parameters is joined anew") {
    World world;
    auto& a = world.running();
    world.running();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.subnet.change_scenario(*fabric::find_scenario("controlled"));
    REQUIRE(world.until(
        [&] {
            for (const auto& host : world.hosts)
                if (host->ib0().link().p_key != 0x8123 || !host->ib0().is_running()) return false;
            return true;
        },
        40s));
    world.settle();
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("Stack: a child interface is a link of its own") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    fabric::Partition partition;
    partition.p_key = 0x8123;
    partition.q_key = 0x80001234;
    world.subnet.sa().create_broadcast_group(partition);
    for (std::uint64_t n = 1; n <= 2; ++n) REQUIRE(world.subnet.add_p_key(World::first_guid + n, 0x8123));
    world.settle();
    for (auto* host : {&a, &b}) {
        auto* child = host->node.create_child(0x0123);
        REQUIRE(child);
        CHECK(child->name() == "ib0.8123");
        CHECK(host->node.create_child(0x8123) == nullptr);
        const auto address = IpAddress::v4(host == &a ? 0x0a020001 : 0x0a020002);
        REQUIRE(child->add_address({address, 24}).empty());
        REQUIRE(child->up().empty());
        REQUIRE(world.until([&] { return child->is_running(); }));
        CHECK(child->link().q_key == 0x80001234);
    }
    bool is_answered = false;
    REQUIRE(a.node.find("ib0.8123")->echo().ping(ip("10.2.0.2"), 56, 4s, [&](bool is) { is_answered = is; }).empty());
    world.loop.run_for(4s);
    CHECK(is_answered);
    CHECK(world.ping(a, ip("10.1.0.2")));
    CHECK(a.node.delete_child("ib0.8123"));
    CHECK_FALSE(a.node.delete_child("ib0"));
    world.settle();
    CHECK(world.subnet.sa().find(partition.broadcast_gid())->members.size() == 1);
}

TEST_CASE("Stack: a group stays joined while another interface of the port is in it") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    auto* twin = a.node.create_child(0xffff);
    REQUIRE(twin);
    REQUIRE(twin->up().empty());
    REQUIRE(world.until([&] { return twin->is_running(); }));
    const auto members = [&] { return world.subnet.sa().find(world.subnet_link().broadcast_gid())->members.size(); };
    SECTION("the second one goes") { CHECK(a.node.delete_child("ib0.ffff")); }
    SECTION("the second one goes down") { twin->down(); }
    world.settle();
    CHECK(members() == 2);
    CHECK(world.ping(b, ip("10.1.0.1")));
    a.node.close();
    world.settle();
    CHECK(members() == 1);
}

TEST_CASE("Stack: an interface whose P_Key is taken away stops, and comes up when it is back") {
    World world;
    auto& host = world.running();
    fabric::Partition partition;
    partition.p_key = 0x8123;
    world.subnet.sa().create_broadcast_group(partition);
    auto* child = host.node.create_child(0x8123);
    REQUIRE(child->up().empty());
    world.settle();
    CHECK_FALSE(child->is_running());
    CHECK_THAT(child->trouble(), ContainsSubstring("P_Key"));
    const auto guid = World::first_guid + 1;
    REQUIRE(world.subnet.add_p_key(guid, 0x8123));
    CHECK(world.until([&] { return child->is_running(); }));
    REQUIRE(world.subnet.remove_p_key(guid, 0x8123));
    CHECK(world.until([&] { return !child->is_running(); }));
    REQUIRE(world.subnet.add_p_key(guid, 0x8123));
    CHECK(world.until([&] { return child->is_running(); }));
    CHECK(host.ib0().is_running());
}

TEST_CASE("Stack: limited and directed broadcasts reach every node by the broadcast group") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    REQUIRE(b.ib0().sockets().listen({}, 4000).empty());
    for (const auto* to : {"255.255.255.255", "10.1.0.255"}) {
        world.clear();
        world.send(a, ip(to), 4000);
        CHECK(world.packets_to(world.subnet_link().broadcast_gid()).size() == 1);
        const auto received = b.ib0().sockets().take();
        REQUIRE(received.size() == 1);
        CHECK(received[0].from == ip("10.1.0.1"));
        CHECK(received[0].to == ip(to));
        CHECK(received[0].payload == std::vector<std::uint8_t>(20, 0x5a));
    }
}

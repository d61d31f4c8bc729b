// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/subnet.hpp"

#include "fabric/simulated/fabric.hpp"
#include "fabric/simulated/subnet_test.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using Keys = std::vector<std::uint16_t>;

TEST_CASE("Subnet manager: a port that is plugged in becomes active with LID, P_Keys and MTU") {
    World world{"controlled"};
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    const auto facts = host.hca.facts();
    CHECK(facts.is_active);
    CHECK(facts.sm_lid == world.subnet.sm_hca().facts().lid);
    CHECK(facts.mtu == 4);
    CHECK(facts.p_keys == Keys{0x8123, 0x7fff});
    CHECK(facts.gid == wire::Gid::of(std::uint64_t{0xfe80} << 48, host.guid()));
    CHECK(world.subnet.sm_hca().facts().p_keys == Keys{0x8123, 0xffff});
    CHECK(host.has(PortEvent::active));
    CHECK_FALSE(host.has(PortEvent::client_reregister));
}

TEST_CASE("Subnet manager: where the link is in the default partition no other P_Key is added") {
    World world;
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    CHECK(host.hca.facts().p_keys == Keys{0xffff});
}

TEST_CASE("Subnet manager: the MTU is the lesser of the subnet's and the port's") {
    World world{"mtu4k"};
    Host small{world.subnet, host_guid(1), {.mtu = 3}}, large{world.subnet, host_guid(2), {.mtu = 5}};
    REQUIRE((small.bring_up() && large.bring_up()));
    CHECK(small.hca.facts().mtu == 3);
    CHECK(large.hca.facts().mtu == 5);
    CHECK(world.known(small.guid())->mtu == 3);
    CHECK(world.known(large.guid())->mtu == 5);
}

TEST_CASE("Subnet manager: what it knows of a port is what the port said") {
    World world;
    Host host{world.subnet, host_guid(1), {.description = "a host", .rate = 7}};
    REQUIRE(host.bring_up());
    const auto* port = world.known(host.guid());
    REQUIRE(port);
    CHECK(port->lid == host.lid());
    CHECK(port->gid == host.hca.facts().gid);
    CHECK(port->description == "a host");
    CHECK(port->rate == 7);
    CHECK(port->p_keys == Keys{0xffff});
    CHECK(port->node_guid == wire::View<wire::NodeInfo>::at(port->node_info)[wire::NodeInfo::node_guid]);
    const auto info = wire::View<wire::PortInfo>::at(port->port_info);
    CHECK(info[wire::PortInfo::lid] == host.lid());
    CHECK(info[wire::PortInfo::port_state] == wire::PortState::active);
    CHECK(world.subnet.view().by_lid(host.lid()) == port);
    CHECK(world.subnet.view().by_gid(port->gid) == port);
    CHECK_FALSE(world.subnet.view().by_lid(0xbfff));
    CHECK_FALSE(world.subnet.view().by_gid(wire::Gid::of(1, host.guid())));
}

/// Every host reaches every other.
void check_all_reach_all(World& world, Hosts& hosts) {
    for (const auto& from : hosts.all)
        for (const auto& to : hosts.all)
            if (from != to) from->send_to(*to);
    world.run();
    for (const auto& host : hosts.all) CHECK(host->received.size() == hosts.all.size() - 1);
    CHECK(world.subnet.counters().dropped_no_route == 0);
    CHECK(world.subnet.counters().forwarded == hosts.all.size() * (hosts.all.size() - 1));
}

TEST_CASE("Subnet manager: hosts at one switch reach each other") {
    World world;
    Hosts hosts{world.subnet, 6};
    REQUIRE(hosts.bring_up());
    check_all_reach_all(world, hosts);
}

TEST_CASE("Subnet manager: hosts over many levels of switches reach each other") {
    World world{"default", {.ports_per_switch = 4}};
    Hosts hosts{world.subnet, 30};
    REQUIRE(hosts.bring_up());
    check_all_reach_all(world, hosts);
}

TEST_CASE("Subnet manager: a host that comes later is reached over switches that come with it") {
    World world{"default", {.ports_per_switch = 4}};
    Hosts hosts{world.subnet, 3};
    REQUIRE(hosts.bring_up());
    for (unsigned i = 4; i <= 12; ++i) {
        hosts.all.push_back(std::make_unique<Host>(world.subnet, host_guid(i)));
        REQUIRE(hosts.all.back()->bring_up());
    }
    check_all_reach_all(world, hosts);
}

TEST_CASE("Subnet manager: LIDs follow from the order of plugging, and stay with the port") {
    World world, same;
    Hosts hosts{world.subnet, 5}, same_hosts{same.subnet, 5};
    REQUIRE((hosts.bring_up() && same_hosts.bring_up()));
    std::vector<std::uint16_t> lids;
    for (unsigned i = 0; i < 5; ++i) {
        CHECK(hosts[i].lid() == same_hosts[i].lid());
        lids.push_back(hosts[i].lid());
    }
    hosts[1].switch_port->unplug();
    hosts[3].switch_port->unplug();
    world.run();
    hosts[3].switch_port = &world.subnet.plug(hosts[3].hca, NodeRole::other);
    hosts[1].switch_port = &world.subnet.plug(hosts[1].hca, NodeRole::other);
    REQUIRE(hosts.bring_up());
    for (unsigned i = 0; i < 5; ++i) CHECK(hosts[i].lid() == lids[i]);
    check_all_reach_all(world, hosts);
}

TEST_CASE("Subnet manager: a port that is unplugged is forgotten, its memberships too, and frames to it are dropped") {
    World world;
    Hosts hosts{world.subnet, 3};
    REQUIRE(hosts.bring_up());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    const auto mgid = world.subnet.scenario().link.broadcast_gid();
    CHECK(world.subnet.sa().find(mgid)->members.size() == 3);
    const auto gone = hosts[2].node();
    hosts[2].switch_port->unplug();
    CHECK(hosts[2].has(PortEvent::down));
    CHECK_FALSE(world.known(hosts[2].guid()));
    CHECK(world.subnet.sa().find(mgid)->members.size() == 2);
    world.run();
    hosts[0].hca.send(build::udp(hosts[0].node(), gone, hosts[0].link(), 40).build());
    hosts[0].broadcast();
    world.run();
    CHECK(hosts[1].received.size() == 1);
    CHECK(hosts[2].received.empty());
    CHECK(world.subnet.counters().dropped_no_route == 1);
}

TEST_CASE("Subnet: frames on their way to a node that is unplugged never arrive") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    hosts[0].send_to(hosts[1]);
    hosts[1].switch_port->unplug();
    hosts.all.pop_back();
    world.run();
    CHECK(world.subnet.counters().forwarded == 1);
}

TEST_CASE("Subnet: a node that is unplugged hears nothing more, not even what was on its way") {
    World world;
    Stranger node;
    node.plug_into(world.subnet);
    world.run(1ms);
    const auto heard = node.asked.size();
    node.switch_port->unplug();
    node.plug_into(world.subnet);
    node.switch_port->unplug();
    world.run(1s);
    CHECK(node.asked.size() == heard);
}

TEST_CASE("Subnet: a link that is taken down is down for both ends, and comes up again") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    REQUIRE(world.subnet.set_link(hosts[0].guid(), false));
    CHECK_FALSE(hosts[0].hca.facts().is_active);
    CHECK_FALSE(hosts[0].bring_up());
    CHECK_FALSE(world.known(hosts[0].guid()));
    REQUIRE(world.subnet.set_link(hosts[0].guid(), true));
    REQUIRE(hosts[0].bring_up());
    CHECK(std::count(hosts[0].events.begin(), hosts[0].events.end(), PortEvent::active) == 2);
    CHECK_FALSE(world.subnet.set_link(host_guid(99), false));
    hosts[0].send_to(hosts[1]);
    world.run();
    CHECK(hosts[1].received.size() == 1);
}

TEST_CASE("Subnet: who listens at a switch_port hears of its link") {
    World world;
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    std::vector<bool> heard;
    host.switch_port->on_link([&](bool is_up) { heard.push_back(is_up); });
    (void)world.subnet.set_link(host.guid(), false);
    (void)world.subnet.set_link(host.guid(), false);
    (void)world.subnet.set_link(host.guid(), true);
    CHECK(heard == std::vector<bool>{false, true});
}

TEST_CASE("Subnet manager: P_Keys that are added and removed keep the others in their places, and the port hears") {
    World world;
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    host.events.clear();
    REQUIRE(world.subnet.add_p_key(host.guid(), 0x8055));
    REQUIRE(world.subnet.add_p_key(host.guid(), 0x8066));
    world.run();
    CHECK(host.hca.facts().p_keys == Keys{0xffff, 0x8055, 0x8066});
    CHECK(world.known(host.guid())->p_keys == Keys{0xffff, 0x8055, 0x8066});
    CHECK(host.events == std::vector{PortEvent::p_key_change, PortEvent::p_key_change});
    REQUIRE(world.subnet.remove_p_key(host.guid(), 0x8055));
    world.run();
    CHECK(host.hca.facts().p_keys == Keys{0xffff, 0, 0x8066});
    CHECK(world.known(host.guid())->p_keys == Keys{0xffff, 0x8066});
    REQUIRE(world.subnet.add_p_key(host.guid(), 0x8077));
    world.run();
    CHECK(host.hca.facts().p_keys == Keys{0xffff, 0x8077, 0x8066});
    CHECK(world.subnet.remove_p_key(host.guid(), 0x8055));
    CHECK_FALSE(world.subnet.remove_p_key(host.guid(), 0));
    CHECK_FALSE(world.subnet.add_p_key(host.guid(), 0x8000));
    CHECK_FALSE(world.subnet.add_p_key(host_guid(99), 0x8055));
    for (std::uint16_t i = 0; i < 29; ++i)
        REQUIRE(world.subnet.add_p_key(host.guid(), static_cast<std::uint16_t>(0x8100 + i)));
    CHECK_FALSE(world.subnet.add_p_key(host.guid(), 0x8200));
}

TEST_CASE("Subnet manager: after a restart without state every port reregisters, and no group has members") {
    World world;
    Hosts hosts{world.subnet, 3};
    REQUIRE(hosts.bring_up());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    const auto lid = hosts[0].lid();
    world.subnet.stop_manager();
    CHECK_FALSE(hosts[0].bring_up());
    CHECK(hosts[0].join() == -1);
    CHECK(hosts[0].hca.facts().is_active);
    world.subnet.start_manager();
    REQUIRE(hosts.bring_up());
    const auto mgid = world.subnet.scenario().link.broadcast_gid();
    REQUIRE(world.subnet.sa().find(mgid));
    CHECK(world.subnet.sa().find(mgid)->members.empty());
    CHECK(hosts[0].lid() == lid);
    for (const auto& host : hosts.all) {
        CHECK(std::count(host->events.begin(), host->events.end(), PortEvent::client_reregister) == 1);
        host->received.clear();
    }
    hosts[0].broadcast();
    world.run();
    CHECK(hosts[1].received.empty());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    hosts[0].broadcast();
    world.run();
    CHECK(hosts[1].received.size() == 1);
}

TEST_CASE("Subnet manager: after a restart without state nobody sends by what was joined before") {
    World world{"default", {.ports_per_switch = 4}};
    Hosts hosts{world.subnet, 8};
    REQUIRE(hosts.bring_up());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    world.subnet.start_manager();
    REQUIRE(hosts.bring_up());
    // The first host is at the switch that the others' packets cross.
    for (std::size_t i = 1; i < 8; ++i) REQUIRE(hosts[i].join() == 0);
    hosts[0].broadcast();
    hosts[7].broadcast();
    world.run();
    for (std::size_t i = 0; i < 8; ++i) CHECK(hosts[i].received.size() == (i == 0 || i == 7 ? 0 : 1));
}

TEST_CASE("Subnet manager: after a restart with state the groups go on") {
    World world{"default", {.ports_per_switch = 4}};
    Hosts hosts{world.subnet, 8};
    REQUIRE(hosts.bring_up());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    world.subnet.stop_manager();
    hosts[7].switch_port->unplug();
    world.subnet.start_manager(true);
    for (std::size_t i = 0; i < 7; ++i) REQUIRE(hosts[i].bring_up());
    world.run();
    CHECK(hosts[0].has(PortEvent::client_reregister));
    // What vanished meanwhile is found out.
    CHECK(world.subnet.sa().find(world.subnet.scenario().link.broadcast_gid())->members.size() == 7);
    hosts[0].broadcast();
    world.run();
    for (std::size_t i = 1; i < 7; ++i) CHECK(hosts[i].received.size() == 1);
    CHECK(hosts[7].received.empty());
}

TEST_CASE("Subnet: a node that left with its link down is not taken for the next one at its place") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    CHECK(world.subnet.set_link(host_guid(1), false));
    hosts[0].switch_port->unplug();
    Host next{world.subnet, host_guid(3)};
    REQUIRE(next.bring_up());
    CHECK_FALSE(world.subnet.set_link(host_guid(1), false));
    CHECK(next.hca.facts().is_active);
}

TEST_CASE("Subnet manager: ports that were plugged in, or moved, while it was stopped are found") {
    World world;
    Hosts hosts{world.subnet, 3};
    REQUIRE(hosts.bring_up());
    const auto lid = hosts[0].lid();
    world.subnet.stop_manager();
    hosts[0].switch_port->unplug();
    hosts[1].switch_port->unplug();
    hosts[1].switch_port = &world.subnet.plug(hosts[1].hca, NodeRole::other);
    hosts[0].switch_port = &world.subnet.plug(hosts[0].hca, NodeRole::other);
    hosts.all.push_back(std::make_unique<Host>(world.subnet, host_guid(9)));
    world.run();
    CHECK_FALSE(hosts[3].hca.facts().is_active);
    world.subnet.start_manager(true);
    REQUIRE(hosts.bring_up());
    CHECK(hosts[0].lid() == lid);
    check_all_reach_all(world, hosts);
}

TEST_CASE("Subnet: another scenario sets ports and broadcast group up anew") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    REQUIRE(hosts[0].join() == 0);
    const auto old = world.subnet.scenario().link.broadcast_gid();
    world.subnet.change_scenario(*find_scenario("controlled"));
    CHECK(hosts[0].has(PortEvent::down));
    REQUIRE(hosts.bring_up());
    CHECK(hosts[0].hca.facts().p_keys == Keys{0x8123, 0x7fff});
    CHECK_FALSE(world.subnet.sa().find(old));
    const auto* group = world.subnet.sa().find(world.subnet.scenario().link.broadcast_gid());
    REQUIRE(group);
    CHECK(group->record[wire::McMemberRecord::q_key] == 0x80000b1b);
    CHECK(group->record[wire::McMemberRecord::sl] == 3);
    CHECK(group->members.empty());
}

TEST_CASE("Subnet: another scenario while the manager is stopped waits for its start") {
    World world;
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    world.subnet.stop_manager();
    world.subnet.change_scenario(*find_scenario("controlled"));
    CHECK_FALSE(host.bring_up());
    world.subnet.start_manager();
    REQUIRE(host.bring_up());
    CHECK(host.hca.facts().p_keys == Keys{0x8123, 0x7fff});
}

TEST_CASE("Subnet: who watches sees each frame once, when it is sent, with the role of its sender") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    std::map<NodeRole, unsigned> seen;
    world.subnet.watch([&](Time, const Frame&, NodeRole role) { ++seen[role]; });
    hosts[0].send_to(hosts[1]);
    CHECK(seen == std::map<NodeRole, unsigned>{{NodeRole::other, 1}});
    REQUIRE(hosts[0].join() == 0);
    CHECK(seen[NodeRole::other] == 2);
    CHECK(seen[NodeRole::subnet_manager] > 0);
    world.subnet.watch(nullptr);
    hosts[0].send_to(hosts[1]);
    CHECK(seen[NodeRole::other] == 2);
}

TEST_CASE("Subnet: the manager's port may be hidden from who watches") {
    World world{"default", {.may_see_sa_port = false}};
    std::map<NodeRole, unsigned> seen;
    world.subnet.watch([&](Time, const Frame&, NodeRole role) { ++seen[role]; });
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    CHECK(seen[NodeRole::other] > 0);
    CHECK(seen[NodeRole::subnet_manager] == 0);
}

}  // namespace
}  // namespace ipoib::fabric::simulated

// SPDX-License-Identifier: GPL-2.0-or-later
// Each finding by hosts that have its cause and nothing else, and by ones that look alike and are healthy.
#include "conformance/hosts/compare.hpp"

#include "catch2.hpp"
#include "conformance/hosts/test_hosts.hpp"

using namespace ipoib;
using namespace ipoib::hosts;
using namespace ipoib::hosts::testing;
using Names = std::set<std::string>;

namespace {

/// Three hosts of which the second one is changed, beside an administrator that may be.
struct Trial {
    std::vector<HostState> hosts = hosts_in_order();
    Surroundings around = in_order();

    Interface& second() { return hosts[1].interfaces.front(); }
    assumptions::StatedGroup& group(const wire::Gid& mgid) {
        return *std::ranges::find(around.groups, mgid, [](const auto& one) { return one.parameters.mgid; });
    }
    [[nodiscard]] Comparison compared() const { return compare(hosts, around); }
    [[nodiscard]] Names found() const { return names(compared()); }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const auto& one : compared().findings) all += one.text;
        return all;
    }
};

}  // namespace

TEST_CASE("Host states: hosts that agree with the SA and each other have no finding") {
    const Trial trial;
    CHECK(trial.found() == Names{});
    CHECK(trial.compared().notes.empty());
    // Nor has a host of which much is not told.
    Trial less;
    less.second().driver_groups.reset();
    less.second().link_groups.reset();
    less.second().port.reset();
    less.second().is_running.reset();
    less.second().mode.clear();
    CHECK(less.found() == Names{});
    CHECK(names(compare(less.hosts, {})) == Names{});
}

TEST_CASE("Host states: a group that the host is in, and the SA has without it") {
    Trial trial;
    std::erase_if(trial.group(mgid("224.0.0.1")).members, [](const auto& one) { return one.port_gid == port_gid(2); });
    CHECK(trial.found() == Names{"host-not-member"});
    CHECK_THAT(trial.text(),
               ContainsSubstring("node2 ib0 (0002c90300100002) believes to be a member of 224.0.0.1, but the "
                                 "SA has it not there"));
    // Without debugfs it is what the network stack wants.
    trial.second().driver_groups.reset();
    CHECK(trial.found() == Names{"host-not-member"});
    CHECK_THAT(trial.text(), ContainsSubstring("wants to be"));
    // A list without members says nothing, nor does a group of another partition that is not told.
    trial.group(mgid("224.0.0.1")).members_are_listed = false;
    CHECK(trial.found() == Names{});
    trial.second().driver_groups = {{{broadcast(), true, false}, {mgid("239.1.1.1"), true, false}}};
    CHECK(trial.found() == Names{"host-not-member"});
    trial.around.p_keys = {0xffff};
    CHECK(trial.found() == Names{});
    // Whoever joined to send need not be a FullMember.
    trial.around.p_keys.clear();
    trial.second().driver_groups = {{{broadcast(), true, false}, {mgid("239.1.1.1"), true, true}}};
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: a group that the SA has the host in as a sender only") {
    Trial trial;
    for (auto& member : trial.group(mgid("224.0.0.1")).members)
        if (member.port_gid == port_gid(2)) member.join_state = wire::join_state::send_only_non_member;
    CHECK(trial.found() == Names{"host-not-member"});
    CHECK_THAT(trial.text(), ContainsSubstring("only to send"));
}

TEST_CASE("Host states: a refusal in a capture counts for states of that time alone") {
    Trial trial;
    const auto time = *trial.hosts[1].time;
    trial.around = {.absent = {{mgid("224.0.0.1"), port_gid(2), time - 1000}}, .began = time - 2000, .ended = time + 5};
    CHECK(trial.found() == Names{"host-not-member"});
    trial.around.absent.front().since = time + 1;
    CHECK(trial.found() == Names{});
    trial.around.absent.front().since = time - 1000;
    trial.hosts[1].time = time + 2 * freshness;
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: an interface that is down and still a member") {
    Trial trial;
    trial.second().is_up = trial.second().is_running = false;
    CHECK(trial.found() == Names{"host-down-member"});
    // Another interface of the port is on the same link.
    auto other = host(2).interfaces.front();
    other.name = "ib0.1";
    other.qpn = 0x99;
    other.addresses.front().network = address(22);
    trial.hosts[1].interfaces.push_back(other);
    CHECK(trial.found() == Names{});
    trial.hosts[1].interfaces.pop_back();
    std::erase_if(trial.group(broadcast()).members, [](const auto& one) { return one.port_gid == port_gid(2); });
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: an MTU that the link does not carry") {
    Trial trial;
    for (auto& one : trial.hosts) one.interfaces.front().mtu = 4092;
    CHECK(trial.found() == Names{"host-mtu"});
    CHECK_THAT(trial.text(), ContainsSubstring("carries 2044"));
    for (auto& one : trial.hosts) one.interfaces.front().mtu = 1500;
    CHECK(trial.found() == Names{});
    // Connections carry more than the group.
    for (auto& one : trial.hosts) {
        one.interfaces.front().mode = "connected";
        one.interfaces.front().mtu = 65520;
    }
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: hosts of one link with several modes or MTUs") {
    Trial trial;
    trial.second().mode = "connected";
    trial.second().mtu = 65520;
    CHECK(trial.found() == Names{"host-modes-differ"});
    CHECK_THAT(trial.text(), ContainsSubstring("In connected mode: node2"));
    trial = {};
    trial.second().mtu = 1500;
    CHECK(trial.found() == Names{"host-mtus-differ"});
    CHECK_THAT(trial.text(), ContainsSubstring("1500 have node2"));
    // Another link has its own.
    trial.second().p_key = 0x8002;
    trial.second().broadcast = wire::broadcast_gid(0x8002, 2);
    trial.second().link_groups.reset();
    trial.second().driver_groups.reset();
    trial.second().port->p_keys = {{0x8002}};
    trial.around = {};
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: P_Keys") {
    Trial trial;
    trial.second().port->p_keys = {{0xffff}};
    CHECK(trial.found() == Names{"host-p-key"});
    CHECK_THAT(trial.text(), ContainsSubstring("has it not"));
    trial.second().port->p_keys = {{0x0001, 0xffff}};
    CHECK(trial.found() == Names{"host-p-key"});
    CHECK_THAT(trial.text(), ContainsSubstring("only 0x0001, the limited one"));
    trial = {};
    trial.around.ports[1].p_keys = {{0xffff}};
    CHECK(trial.found() == Names{"host-p-key"});
    trial = {};
    trial.second().p_key = 0xffff;
    trial.second().driver_groups.reset();
    trial.second().link_groups.reset();
    trial.hosts[0].interfaces[0].neighbours.clear();
    trial.hosts[2].interfaces[0].neighbours.clear();
    CHECK(trial.found() == Names{"host-p-key"});
    CHECK_THAT(trial.text(), ContainsSubstring("its broadcast address is that of 0x8001"));
}

TEST_CASE("Host states: groups of the partition before") {
    Trial trial;
    trial.second().link_groups->push_back(wire::mgid_for_ipv4(0xe0000001, 0x8002, 2));
    CHECK(trial.found() == Names{"host-group-of-another-p-key"});
}

TEST_CASE("Host states: GID and LID") {
    Trial trial;
    trial.second().port->gid = wire::Gid::of(0xfec0000000000001, trial.second().gid.interface_id());
    CHECK(trial.found() == Names{"host-gid"});
    trial = {};
    trial.around.ports[1].gid = wire::Gid::of(0xfec0000000000001, trial.second().gid.interface_id());
    CHECK(trial.found() == Names{"host-gid"});
    // An alias of a virtual function is another GUID, which the SA may know nothing of.
    trial = {};
    trial.around.ports.erase(trial.around.ports.begin() + 1);
    trial.second().port->gid = port_gid(77);
    CHECK(trial.found() == Names{});
    trial = {};
    trial.around.ports[1].lid = 0x22;
    CHECK(trial.found() == Names{"host-lid"});
}

TEST_CASE("Host states: carrier and port") {
    Trial trial;
    trial.second().is_running = false;
    CHECK(trial.found() == Names{"host-no-carrier"});
    trial.second().port->state = "2: INIT";
    CHECK(trial.found() == Names{"host-port-not-active"});
    // Nobody is to wonder at a port without a cable, or an interface that is not to be up.
    trial.second().port->phys_state = "2: Polling";
    CHECK(trial.found() == Names{});
    trial.second().is_up = false;
    std::erase_if(trial.group(broadcast()).members, [](const auto& one) { return one.port_gid == port_gid(2); });
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: joins that wait") {
    Trial trial;
    trial.second().driver_groups->push_back({mgid("239.1.1.1"), false, false});
    CHECK(trial.found() == Names{"host-join-waits"});
    trial = {};
    trial.second().driver_groups = {{{broadcast(), true, false}, {mgid("224.0.0.1"), false, true}}};
    trial.group(mgid("224.0.0.1")).members.erase(trial.group(mgid("224.0.0.1")).members.begin() + 1);
    CHECK(trial.found() == Names{"host-send-only-waits"});
    // To a group that nobody is in, nobody need join.
    trial.group(mgid("224.0.0.1")).members.clear();
    trial.hosts[0].interfaces[0].driver_groups.reset();
    trial.hosts[2].interfaces[0].driver_groups.reset();
    trial.hosts[0].interfaces[0].link_groups.reset();
    trial.hosts[2].interfaces[0].link_groups.reset();
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: one address twice") {
    Trial trial;
    trial.second().addresses.push_back({.network = address(3)});
    CHECK(trial.found() == Names{"duplicate-address"});
    CHECK_THAT(trial.text(), ContainsSubstring("all have 10.1.0.3 on one link"));
    trial.second().addresses.back().is_tentative = true;
    CHECK(trial.found() == Names{});
    trial.second().addresses.back() = {.network = address(9), .is_duplicate = true};
    CHECK(trial.found() == Names{"duplicate-address"});
    CHECK_THAT(trial.text(), ContainsSubstring("another host has it"));
    // The same on another link is another host's business.
    trial = {};
    trial.second().addresses.push_back({.network = address(3)});
    trial.second().gid = wire::Gid::of(0xfe80000000000000, trial.second().gid.interface_id());
    trial.hosts[0].interfaces[0].neighbours.clear();
    trial.hosts[2].interfaces[0].neighbours.clear();
    trial.second().neighbours.clear();
    trial.second().port.reset();
    trial.around = {};
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: an entry for a neighbour with an old queue pair or GID") {
    Trial trial;
    auto& entry = trial.hosts[0].interfaces[0].neighbours.front();
    REQUIRE(entry.address == address(2).address.octets);
    entry.qpn = 0x777;
    CHECK(trial.found() == Names{"stale-neighbour"});
    CHECK_THAT(trial.text(), ContainsSubstring("10.1.0.2 at QPN 0x000777"));
    entry.state = "PERMANENT";
    CHECK_THAT(trial.text(), ContainsSubstring("never asks again"));
    // Without a state of that neighbour nothing is known, but what a capture shows.
    trial.hosts.erase(trial.hosts.begin() + 1);
    CHECK(trial.found() == Names{});
    const auto time = *trial.hosts[0].time;
    trial.around.announcements = {{address(2).address.octets, p_key, port_gid(2), 0x42, time - 10}};
    trial.around.began = time - 100;
    trial.around.ended = time;
    CHECK(trial.found() == Names{"stale-neighbour"});
    // Announced later than the host was looked at.
    trial.around.announcements.front().since = time + 1;
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: a queue pair that a capture shows otherwise") {
    Trial trial;
    const auto time = *trial.hosts[1].time;
    trial.around.announcements = {{address(2).address.octets, p_key, port_gid(2), 0x42, time - 10}};
    trial.around.began = time - 100;
    trial.around.ended = time;
    CHECK(trial.found() == Names{});
    trial.around.announcements.front().qpn = 0x55;
    CHECK(trial.found() == Names{"host-qpn"});
}

TEST_CASE("Host states: a path to where a port was before") {
    Trial trial;
    trial.hosts[0].interfaces[0].paths.front().dlid = 0x44;
    CHECK(trial.found() == Names{"stale-path"});
    // One of several LIDs of the port, and a path that is being asked for.
    trial.second().port->lmc = 2;
    trial.hosts[0].interfaces[0].paths.front().dlid = 5;
    CHECK(trial.found() == Names{});
    trial.hosts[0].interfaces[0].paths.front().dlid = 0;
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: an interface without an address where the others have one") {
    Trial trial;
    trial.hosts[0].interfaces[0].neighbours.clear();
    trial.hosts[2].interfaces[0].neighbours.clear();
    trial.second().addresses = {{.network = wire::parse_network("fe80::1/64").value()}};
    CHECK(trial.found() == Names{"host-no-address"});
    trial.second().has_master = true;
    CHECK(trial.found() == Names{});
    trial.second().has_master = false;
    for (auto& one : trial.hosts) one.interfaces[0].addresses.clear();
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: rails of one host in one IP network") {
    Trial trial;
    auto rail = host(4).interfaces.front();
    rail.name = "ib1";
    rail.driver_groups.reset();
    rail.link_groups.reset();
    rail.broadcast = {};
    trial.hosts[1].interfaces.push_back(rail);
    CHECK(trial.found() == Names{"host-arp-flux"});
    trial.hosts[1].interfaces.back().arp_ignore = 1;
    CHECK(trial.found() == Names{});
    trial.hosts[1].interfaces.back().arp_ignore = 0;
    trial.hosts[1].interfaces.back().addresses = {{.network = wire::parse_network("10.2.0.4/24").value()}};
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: what cannot be compared is said") {
    Trial trial;
    trial.hosts[1].unread = {{"/sys/kernel/debug/ipoib/ib0_mcg", "Permission denied"}};
    trial.second().gid = {};
    trial.around.began = trial.around.ended = *trial.hosts[0].time + 2 * nearness;
    trial.around.p_keys = {0xffff};
    trial.around.groups.clear();
    const auto notes = trial.compared().notes;
    REQUIRE(notes.size() == 4);
    CHECK_THAT(notes[0], ContainsSubstring("1 interfaces have no link-layer address"));
    CHECK_THAT(notes[1], ContainsSubstring("2 interfaces (node1, "));
    CHECK_THAT(notes[2], ContainsSubstring("could not read 1 things"));
    CHECK_THAT(notes[3], ContainsSubstring("P_Keys 0x8001, of which the SA tells the asker nothing"));
}

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
    // A bond has the mode of the interface that it uses; without that, nobody knows.
    for (auto& one : trial.hosts) {
        auto bond = one.interfaces.front();
        one.interfaces.front().master = bond.name = "bond0";
        one.interfaces.front().addresses.clear();
        bond.mode.clear();
        bond.port.reset();
        one.interfaces.push_back(bond);
    }
    CHECK(trial.found() == Names{});
    for (auto& one : trial.hosts) one.interfaces.front().mode.clear();
    CHECK(trial.found() == Names{});
    for (auto& one : trial.hosts) one.interfaces.front().mode = "datagram";
    CHECK(trial.found() == Names{"host-mtu"});
    CHECK_THAT(trial.text(), ContainsSubstring("bond0"));
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

TEST_CASE("Host states: a port with an LMC sends from any of its LIDs") {
    Trial trial;
    trial.second().port->lid = 4;
    trial.second().port->lmc = 2;
    trial.hosts[0].interfaces[0].paths.clear();
    trial.hosts[2].interfaces[0].paths.clear();
    trial.around.ports[1].lid = 6;
    CHECK(trial.found() == Names{});
    // Without the LMC a LID that it sends from tells little; one of the SA's does.
    trial.second().port->lmc.reset();
    CHECK(trial.found() == Names{"host-lid"});
    CHECK_THAT(trial.text(), ContainsSubstring("at 0x0006 by those of the SA"));
    trial.around.seen_lids = {port_gid(2)};
    CHECK(trial.found() == Names{});
    trial.second().port->lmc = 2;
    trial.around.ports[1].lid = 8;
    CHECK(trial.found() == Names{"host-lid"});
    CHECK_THAT(trial.text(), ContainsSubstring("sends from 0x0008 in the capture"));
}

TEST_CASE("Host states: states of several times are not compared with each other") {
    const auto later = [](Trial& trial, std::int64_t span) { trial.hosts[1].time = *trial.hosts[0].time + span; };
    // An address that has moved from host to host, and one whose host has another queue pair since.
    Trial trial;
    trial.second().addresses.push_back({.network = address(3)});
    trial.second().qpn = 0x777;
    CHECK(trial.found() == Names{"duplicate-address", "stale-neighbour"});
    later(trial, freshness);
    CHECK(trial.found() == Names{"duplicate-address", "stale-neighbour"});
    CHECK(trial.compared().notes.empty());
    later(trial, freshness + 1);
    CHECK(trial.found() == Names{});
    later(trial, 40 * freshness);
    REQUIRE(trial.compared().notes.size() == 1);
    CHECK_THAT(trial.compared().notes[0],
               ContainsSubstring("states are up to 40 minutes apart (node1, ") && ContainsSubstring("; node2, "));
    trial.hosts[1].time.reset();
    CHECK(trial.found() == Names{});
    CHECK_THAT(trial.compared().notes.at(0), ContainsSubstring("1 state has no time"));
    // What seldom changes, for an hour; then with those that were looked at with most others.
    trial = {};
    trial.second().mtu = 1500;
    later(trial, nearness);
    CHECK(trial.found() == Names{"host-mtus-differ"});
    later(trial, nearness + 1);
    CHECK(trial.found() == Names{});
    // A port that has another name and another queue pair since has its address once.
    trial = {};
    trial.hosts.push_back(trial.hosts[1]);
    trial.hosts.back().host = "renamed";
    trial.hosts.back().interfaces.front().qpn = 0x999;
    trial.hosts.back().time = *trial.hosts[1].time + 10;
    CHECK(trial.found() == Names{});
}

TEST_CASE("Host states: hosts without a name of their own") {
    Trial trial;
    for (std::size_t i = 0; i < trial.hosts.size(); ++i) {
        trial.hosts[i].host = "localhost";
        trial.hosts[i].machine = i + 1;
    }
    CHECK(trial.found() == Names{});
    REQUIRE(trial.compared().notes.size() == 1);
    CHECK_THAT(trial.compared().notes[0], ContainsSubstring("3 states are of hosts called localhost"));
}

TEST_CASE("Host states: two fabrics with the default subnet prefix") {
    Trial trial;
    trial.around = {};
    const auto with_default_prefix = [](wire::Gid& gid) {
        gid = wire::Gid::of(0xfe80000000000000, gid.interface_id());
    };
    for (auto& one : trial.hosts) {
        auto& rail = one.interfaces.front();
        rail.neighbours.clear();
        rail.paths.clear();
        auto other = rail;
        other.name = "ib1";
        other.gid = wire::Gid::of(0, rail.gid.interface_id() + 0x100);
        for (auto* which : {&rail, &other}) {
            with_default_prefix(which->gid);
            which->port->gid = which->gid;
        }
        other.mtu = 1500;
        one.interfaces.push_back(other);
    }
    const Names differing{"duplicate-address", "host-arp-flux", "host-mtus-differ"};
    trial.hosts[1].interfaces[1].addresses = {{.network = address(1)}};
    for (auto* which : {&trial.hosts[0], &trial.hosts[2]})
        which->interfaces[1].addresses = which->interfaces[0].addresses;
    CHECK(trial.found() == differing);
    for (const auto& one : trial.compared().findings) CHECK_THAT(one.text, ContainsSubstring("may be on two fabrics"));
    // Their subnet managers tell them apart.
    for (auto& one : trial.hosts)
        for (std::uint16_t i = 0; i < 2; ++i) one.interfaces[i].port->sm_lid = static_cast<std::uint16_t>(1 + i);
    trial.hosts[1].interfaces[1].addresses = trial.hosts[1].interfaces[0].addresses;
    CHECK(trial.found() == Names{});
    REQUIRE(trial.compared().notes.size() == 1);
    CHECK_THAT(trial.compared().notes[0], ContainsSubstring("at LIDs 0x0001, 0x0002: taken for as many fabrics"));
    // A list of one of them says nothing of the other.
    trial.around = in_order();
    for (auto& group : trial.around.groups) {
        for (auto& member : group.members) with_default_prefix(member.port_gid);
        std::ranges::sort(group.members, {}, &assumptions::StatedMember::port_gid);
    }
    for (auto& port : trial.around.ports) with_default_prefix(port.gid);
    CHECK(trial.found() == Names{});
    CHECK_THAT(trial.compared().notes.at(1), ContainsSubstring("3 ports with the default subnet prefix (node1 ib1 "));
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
    // Who has not answered is asked for again.
    for (const auto* state : {"FAILED", "INCOMPLETE"}) {
        entry.state = state;
        CHECK(trial.found() == Names{});
    }
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
    trial.hosts[0].interfaces[0].paths.front().dlid = 3;
    CHECK(trial.found() == Names{});
    trial.hosts[0].interfaces[0].paths.front().dlid = 4;
    CHECK(trial.found() == Names{"stale-path"});
    trial.second().port->lmc.reset();
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
    trial.second().master = "bond0";
    CHECK(trial.found() == Names{});
    trial.second().master.clear();
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
    CHECK_THAT(trial.text(), ContainsSubstring("and each answers"));
    // An entry for one address at the other rail: the host takes what is sent there.
    auto& entry = trial.hosts[0].interfaces[0].neighbours.front();
    const auto right = entry;
    entry.gid = rail.gid;
    entry.qpn = *rail.qpn;
    CHECK(trial.found() == Names{"host-arp-flux"});
    entry.qpn = 0x777;
    CHECK(trial.found() == Names{"host-arp-flux", "stale-neighbour"});
    entry = right;
    // One that keeps to its own address is no help as long as the other answers for it.
    trial.hosts[1].interfaces.back().arp_ignore = 1;
    CHECK(trial.found() == Names{"host-arp-flux"});
    CHECK_THAT(trial.text(), ContainsSubstring("ib0") && ContainsSubstring("answers for the addresses of all"));
    trial.second().arp_ignore = 1;
    CHECK(trial.found() == Names{});
    trial.second().arp_ignore = trial.hosts[1].interfaces.back().arp_ignore = 0;
    // In a VRF of its own it neither answers for the other nor takes what is for it.
    trial.hosts[1].interfaces.back().vrf = "storage";
    CHECK(trial.found() == Names{});
    entry.gid = rail.gid;
    entry.qpn = *rail.qpn;
    CHECK(trial.found() == Names{"stale-neighbour"});
    entry = right;
    trial.second().vrf = "storage";
    CHECK(trial.found() == Names{"host-arp-flux"});
    trial.second().vrf = trial.hosts[1].interfaces.back().vrf = "";
    // A network that is a part of the other.
    trial.hosts[1].interfaces.back().addresses = {{.network = wire::parse_network("10.1.0.101/25").value()}};
    CHECK(trial.found() == Names{"host-arp-flux"});
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
    CHECK_THAT(notes[0], ContainsSubstring("1 interface has no link-layer address"));
    CHECK_THAT(notes[1], ContainsSubstring("2 interfaces (node1, "));
    CHECK_THAT(notes[2], ContainsSubstring("could not read 1 thing, first"));
    CHECK_THAT(notes[3], ContainsSubstring("P_Keys 0x8001, of which the SA tells the asker nothing"));
}

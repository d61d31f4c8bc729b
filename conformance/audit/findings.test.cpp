// SPDX-License-Identifier: GPL-2.0-or-later
// Each finding by records that have its cause and nothing else, and by ones that look alike and are healthy.
#include "conformance/audit/findings.hpp"

#include "catch2.hpp"
#include "conformance/assumptions/sa_list.hpp"
#include "conformance/hosts/test_hosts.hpp"
#include "protocol/wire/text.hpp"

#include <set>

using namespace ipoib;
using namespace ipoib::audit;
using FindingNames = std::set<std::string>;

namespace {

FindingNames found_names(const Troubles& troubles) {
    FindingNames all;
    for (const auto& one : troubles.findings) all.insert(one.name);
    return all;
}

/// As `saquery NR` and `saquery PIR` print them.
std::string described_port(const std::string& counters,
                           const std::string& speed = "LinkSpeedExtActive:..............No Extended Speed") {
    return "NodeRecord dump:\n\t\tlid.....................4\n\t\tnode_type...............Channel Adapter\n"
           "\t\tport_guid...............0x0002c90300100001\n\t\tport_num................1\n"
           "\t\tNodeDescription.........node-1\n"
           "PortInfoRecord dump:\n\tRID\n\t\tEndPortLid..............4\n\t\tPortNum.................1\n"
           "\tPortInfo dump:\n\t\tLinkWidthActive:.................4X\n\t\tLinkSpeedActive:.................10.0 "
           "Gbps\n" +
           counters + "\t\t" + speed + "\n";
}
/// As `saquery -g` prints it.
const std::string broadcast_group =
    "MCMemberRecord group dump:\n\t\tMGID....................ff12:401b:8001::ffff:ffff\n"
    "\t\tMlid....................0xC000\n\t\tMtu.....................0x84\n\t\tpkey....................0x8001\n"
    "\t\tRate....................0x83\n\t\tSL......................0x0\n";
Inventory listed(const std::string& text) {
    return inventory_of(assumptions::parse_sa_list(broadcast_group + text, "x.txt", assumptions::Irregularities::kept));
}
const std::string some_violations =
    "\t\tPkeyViolations:..................7\n\t\tQkeyViolations:..................65535\n";
const std::string no_violation = "\t\tPkeyViolations:..................0\n\t\tQkeyViolations:..................0\n";

/// So many groups, of which some are solicited-node groups, on switches with room for so many.
Inventory groups(std::size_t count, std::size_t solicited, std::uint16_t room) {
    Inventory inventory;
    for (std::size_t i = 0; i < count; ++i) {
        assumptions::StatedGroup group;
        const auto number = static_cast<std::uint32_t>(i);
        group.parameters.mgid =
            i < solicited ? wire::mgid_for_ipv6(wire::solicited_node_group(wire::Gid::of(0, number)), 0x8001, 2)
                          : wire::mgid_for_ipv4(0xef000000 + number, 0x8001, 2);
        group.parameters.mlid = static_cast<std::uint16_t>(0xc000 + i);
        group.given = assumptions::bit(assumptions::Parameter::mlid);
        inventory.groups.push_back(group);
    }
    inventory.switch_groups = room;
    return inventory;
}

}  // namespace

TEST_CASE("Audit findings: packets that ports have dropped for their keys") {
    const auto found = troubles_of(listed(described_port(some_violations)), {}, 0);
    CHECK(found_names(found) == FindingNames{"p-key-violations", "q-key-violations"});
    CHECK_THAT(found.findings[0].text,
               ContainsSubstring("0002c90300100001 (node-1) has dropped 7 packets for their P_Key"));
    CHECK_THAT(found.findings[1].text, ContainsSubstring("65535 and more packets"));
    CHECK(found_names(troubles_of(listed(described_port(no_violation)), {}, 0)) == FindingNames{});
    CHECK(found_names(troubles_of(listed(described_port("")), {}, 0)) == FindingNames{});
}

TEST_CASE("Audit findings: of counters that were there before, only what they have grown by") {
    const auto before = listed(described_port(some_violations)),
               after = listed(described_port("\t\tPkeyViolations:..................9\n"));
    CHECK(found_names(troubles_of(before, {}, 0, &before)) == FindingNames{});
    const auto found = troubles_of(after, {}, 0, &before);
    CHECK(found_names(found) == FindingNames{"p-key-violations"});
    CHECK_THAT(found.findings[0].text,
               ContainsSubstring("has dropped 2 packets for their P_Key since it was asked before"));
    // A counter that was cleared meanwhile, and a port that was not there, have grown by nothing that is known.
    CHECK(found_names(troubles_of(listed(described_port(no_violation)), {}, 0, &before)) == FindingNames{});
    const Inventory empty;
    CHECK(found_names(troubles_of(after, {}, 0, &empty)) == FindingNames{});
}

TEST_CASE("Audit findings: solicited-node groups that use up the room of switches") {
    CHECK(found_names(troubles_of(groups(90, 60, 100), {}, 0)) == FindingNames{"solicited-node-groups"});
    CHECK(found_names(troubles_of(groups(90, 30, 100), {}, 0)) == FindingNames{});
    CHECK(found_names(troubles_of(groups(80, 60, 100), {}, 0)) == FindingNames{});
    CHECK(found_names(troubles_of(groups(90, 60, 0), {}, 0)) == FindingNames{});
    const auto mlids = mlids_of(groups(90, 60, 100));
    CHECK((mlids.in_use == 90 && mlids.solicited_node == 60 && mlids.room == 100));
}

TEST_CASE("Audit findings: a port that keeps many groups alone is noted") {
    const auto hoard = [](std::size_t held, std::uint16_t room, bool has_others) {
        auto inventory = groups(200, 0, room);
        for (std::size_t i = 0; i < held; ++i) {
            auto& members = inventory.groups[i].members;
            members.push_back({.port_gid = wire::Gid::of(1, 1), .join_state = 1, .node_description = {}});
            if (has_others)
                members.push_back({.port_gid = wire::Gid::of(1, 2), .join_state = 8, .node_description = {}});
            members.push_back({.port_gid = wire::Gid::of(1, 3), .join_state = 4, .node_description = {}});
        }
        return troubles_of(inventory, {}, 0).notes;
    };
    REQUIRE(hoard(128, 1024, false).size() == 1);
    CHECK_THAT(hoard(128, 1024, false)[0],
               ContainsSubstring("alone keeps 128 of 200 groups, and the switch with the least room holds 1024"));
    CHECK(hoard(127, 1024, false).empty());
    CHECK(hoard(128, 1024, true).empty());
    CHECK(hoard(32, 0, false).empty());
    CHECK(hoard(128, 0, false).size() == 1);
    CHECK(hoard(31, 64, false).empty());
    CHECK(hoard(32, 64, false).size() == 1);
}

TEST_CASE("Audit findings: an MLID of groups of two partitions is noted") {
    auto inventory = groups(3, 0, 0);
    for (auto& group : inventory.groups) {
        group.parameters.p_key = 0x8001;
        group.parameters.mlid = 0xc001;
        group.given |= assumptions::bit(assumptions::Parameter::p_key);
    }
    CHECK(troubles_of(inventory, {}, 0).notes.empty());
    inventory.groups[2].parameters.p_key = 0x8002;
    REQUIRE(troubles_of(inventory, {}, 0).notes.size() == 1);
    CHECK_THAT(troubles_of(inventory, {}, 0).notes[0],
               ContainsSubstring("1 MLID is shared by groups of two partitions, first 0xc001"));
}

TEST_CASE("Audit findings: the room of switches that saquery SWI tells") {
    const auto inventory =
        listed(described_port(no_violation) +
               "SwitchInfoRecord dump:\n\tRID\n\t\tLID.....................2\n\tSwitchInfo dump:\n"
               "\t\tLinearFdbCap:....................49152\n\t\tMcastFdbCap:.....................4096\n"
               "SwitchInfoRecord dump:\n\tRID\n\t\tLID.....................3\n\tSwitchInfo dump:\n"
               "\t\tMcastFdbCap:.....................1024\n");
    CHECK(mlids_of(inventory).room == 1024);
}

TEST_CASE("Audit findings: speeds that are new, and those that are not known") {
    const auto xdr = listed(described_port(no_violation, "LinkSpeedExtActive2:.............212.5 Gbps"));
    REQUIRE(xdr.ports.size() == 1);
    CHECK(xdr.ports[0].rate == 23);  // 800 Gb/s
    CHECK(troubles_of(xdr, {}, 0).notes.empty());
    CHECK(listed(described_port(no_violation, "LinkSpeedExtActive2:.............No Extended Speed 2")).ports[0].rate ==
          7);  // 40 Gb/s
    const auto unknown = listed(described_port(no_violation, "LinkSpeedExtActive2:.............undefined (2)"));
    CHECK(unknown.ports[0].rate == 0);
    const auto notes = troubles_of(unknown, {}, 0).notes;
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0],
               ContainsSubstring("1 port tells the width or speed of its link in a way that is not known here"));
}

TEST_CASE("Audit findings: hosts beside what the administrator holds") {
    using namespace ipoib::hosts::testing;
    Inventory inventory;
    const auto around = in_order();
    inventory.groups = around.groups;
    inventory.ports = around.ports;
    auto hosts = hosts_in_order();
    CHECK(found_names(troubles_of(inventory, hosts, 0)) == FindingNames{});
    std::erase_if(inventory.groups[0].members, [](const auto& one) { return one.port_gid == port_gid(2); });
    const auto found = troubles_of(inventory, hosts, 0);
    CHECK(found_names(found) == FindingNames{"host-not-member"});
    CHECK(found.findings[0].link == "fec0::/0x8001");
    // Looked at long before the administrator was asked.
    const auto later = troubles_of(inventory, hosts, *hosts[0].time + 2 * hosts::nearness);
    CHECK(found_names(later) == FindingNames{});
    CHECK(later.notes.size() == 1);
}

TEST_CASE("Audit findings: hosts without an administrator") {
    using namespace ipoib::hosts::testing;
    auto hosts = hosts_in_order();
    CHECK(found_names(troubles_of(hosts)) == FindingNames{});
    hosts[1].interfaces[0].addresses.push_back({.network = address(3)});
    const auto found = troubles_of(hosts);
    CHECK(found_names(found) == FindingNames{"duplicate-address"});
    CHECK(found.findings[0].link == "fec0::/0x8001");
}

TEST_CASE("Audit findings: hosts that several administrators have a part of") {
    using namespace ipoib::hosts::testing;
    auto hosts = hosts_in_order();
    std::vector<Inventory> both(2);
    for (auto& inventory : both) {
        inventory.groups = in_order().groups;
        inventory.ports = in_order().ports;
    }
    // The third host's port is one of the second subnet.
    for (auto& group : both[0].groups) group.members.pop_back();
    both[0].ports.pop_back();
    CHECK(found_names(troubles_of(both[0], hosts, 0)) == FindingNames{"host-not-member"});
    const auto of_first = hosts_of(hosts, both, 0), of_second = hosts_of(hosts, both, 1);
    CHECK(of_first.size() == 3);
    CHECK(of_first[2].interfaces.empty());
    CHECK(found_names(troubles_of(both[0], of_first, 0)) == FindingNames{});
    CHECK(found_names(troubles_of(both[1], of_second, 0)) == FindingNames{});
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/fabric_control/partitions.hpp"

#include "catch2.hpp"
#include "lab/guest/fabric_control/ports.hpp"

using namespace ipoib::lab;

TEST_CASE("Partitions: the usual link is the default partition, with a second one for children") {
    CHECK(text_of({.scenario = find_scenario("default")}) ==
          "Default=0x7fff, ipoib, mtu=4, rate=3 : ALL=full;\nOther=0x0001, ipoib : ALL=full;\n");
    CHECK(text_of({.scenario = find_scenario("mtu4k")}) == text_of({.scenario = find_scenario("default")}));
    CHECK_THAT(text_of({.scenario = find_scenario("link4k")}),
               ContainsSubstring("Default=0x7fff, ipoib, mtu=5, rate=3"));
}

TEST_CASE("Partitions: in controlled the judged link is at index 0, and everyone can ask the administrator") {
    CHECK(text_of({.scenario = find_scenario("controlled")}) ==
          "Default=0x7fff : ALL=limited, SELF=full;\n"
          "Judged=0x123, indx0, ipoib, mtu=4, rate=3, Q_Key=0x80000b1b, sl=3, TClass=0x20, FlowLabel=0x12345 : "
          "ALL=full;\n");
    CHECK(find_scenario("controlled")->not_set == "HopLimit");
}

TEST_CASE("Partitions: in hardened all are limited members of the default partition, and another tenant has its own") {
    CHECK(text_of({.scenario = find_scenario("hardened")}) ==
          "Default=0x7fff : ALL=limited, SELF=full;\n"
          "Judged=0xa0b, indx0, ipoib, mtu=4, rate=3, Q_Key=0x80000b1b : ALL=full;\n"
          "Tenant=0xa0c, ipoib, mtu=4, rate=3, Q_Key=0x80000b1b : 0x2c903ffff0001=full;\n");
}

TEST_CASE("Partitions: a broadcast group of another scope is asked for by its MGID, on a line of its own") {
    CHECK_THAT(
        text_of({.scenario = find_scenario("scope5")}),
        ContainsSubstring("Default=0x7fff, mtu=4, rate=3 : \n mgid=ff15:401b:ffff::ffff:ffff, scope=5\n ALL=full;\n"));
}

TEST_CASE("Partitions: only those of the names") {
    for (const auto* name : {"", "Default", "mtu4", "controlled "}) CHECK_FALSE(find_scenario(name));
}

TEST_CASE("Partitions: a port can be added to a partition, and taken out of one by naming the others") {
    Partitions partitions{.scenario = find_scenario("default"), .ports = {0x11, 0x22, 0x33}};
    partitions.additions[0x8055].insert(0x22);
    partitions.additions[0x0056].insert(0x33);
    partitions.removals[0x0001].insert(0x22);
    const auto text = text_of(partitions);
    CHECK_THAT(text, ContainsSubstring("Default=0x7fff, ipoib, mtu=4, rate=3 : ALL=full;\n"));
    CHECK_THAT(text, ContainsSubstring("Other=0x0001, ipoib : 0x11=full, 0x33=full;\n"));
    CHECK_THAT(text, ContainsSubstring("Added=0x55, ipoib : 0x22=full;\n"));
    CHECK_THAT(text, ContainsSubstring("Added=0x56, ipoib : 0x33=limited;\n"));
    // A limited member instead of a full one.
    Partitions judged{.scenario = find_scenario("controlled"), .ports = {0x11, 0x22}};
    judged.removals[0x0123].insert(0x22);
    judged.additions[0x0123].insert(0x22);
    CHECK_THAT(text_of(judged), ContainsSubstring(" : 0x11=full;\nAdded=0x123, indx0, ipoib : 0x22=limited;\n"));
}

namespace {

const std::string links =
    "hca0 up hca0 sent 13 frames 3770 octets received 13 frames 1 octets sw0.1 sent 1 frames 1 octets received 1 "
    "frames\n"
    "raw0 down raw0 sent 0 frames 0 octets received 0 frames 0 octets sw0.3 sent 0 frames 0 octets received 0 frames\n"
    "sw0 up sw0.4 sent 0 frames 0 octets received 0 frames 0 octets sw1.1 sent 0 frames 0 octets received 0 frames\n";

// Of ibnetdiscover 44.
const std::string topology =
    "vendid=0x2c9\nswitchguid=0x2c9b100000000(2c9b100000000)\n"
    "Switch\t4 \"S-0002c9b100000000\"\t\t# \"vib switch 0\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-0002c9b200000000\"[1](2c9b200000001) \t\t# \"vib0\" lid 3 4xSDR\n"
    "[3]\t\"H-0002c90300aa0000\"[1](2c90300aa0001) \t\t# \"a \\\" lid 9 \"H-\" lid 4 4xSDR\n"
    "[4]\t\"S-0002c9b100000100\"[1]\t\t# \"vib switch 1\" lid 5 4xSDR\n\n"
    "caguid=0x2c9b200000000\nCa\t1 \"H-0002c9b200000000\"\t\t# \"vib0\"\n"
    "[1](2c9b200000001) \t\"S-0002c9b100000000\"[1]\t\t# lid 3 lmc 0 \"vib switch 0\" lid 1 4xSDR\n";

}  // namespace

TEST_CASE("Ports: cables are told from both ends' names") {
    CHECK(parse_links(links) == std::map<std::string, std::string>{{"sw0.1", "hca0"}, {"sw0.3", "raw0"}});
    CHECK(parse_links("\n\nx\n").empty());
}

TEST_CASE("Ports: end ports have GUID, LID and cable, whatever nodes call themselves") {
    CHECK(parse_topology(topology, parse_links(links)) ==
          std::vector<EndPort>{{0x0002c9b200000001, 3, "hca0"}, {0x0002c90300aa0001, 4, "raw0"}});
}

TEST_CASE("Ports: what is cut or no topology gives no port") {
    for (std::size_t size = 0; size < topology.size(); ++size)
        CHECK(parse_topology(topology.substr(0, size), parse_links(links)).size() <= 2);
    CHECK(parse_topology("Switch\n[1]\n[\"H-](\n[3]\t\"H-x\"[1](zz) lid 5\n", parse_links(links)).empty());
    CHECK(parse_topology(topology, {}).empty());
}

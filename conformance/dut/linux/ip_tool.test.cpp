// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/ip_tool.hpp"

#include "catch2.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstdio>

using namespace ipoib::host;

namespace {

// Of iproute2 6.1 on an ib0 that has joined its broadcast group.
const std::string running = R"([{},{"ifindex":3,"ifname":"ib0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],
 "mtu":2044,"qdisc":"fq_codel","operstate":"UP","group":"default","txqlen":256,"link_type":"infiniband",
 "address":"80:00:00:03:fe:80:00:00:00:00:00:00:00:02:c9:b2:00:00:00:01",
 "broadcast":"00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff",
 "addr_info":[{"family":"inet","local":"10.1.0.1","prefixlen":24,"broadcast":"10.1.0.255","scope":"global"},
 {"family":"inet6","local":"fe80::202:c9b2:0:1","prefixlen":64,"scope":"link","tentative":true},
 {"family":"inet6","local":"fd00::1","prefixlen":64,"scope":"global","dadfailed":true,"tentative":true}]}])";

}  // namespace

TEST_CASE("ip: an interface has its addresses, and says which cannot be used yet") {
    const auto state = parse_interface(running, "ib0");
    REQUIRE(state);
    CHECK(state->link_address == "80:00:00:03:fe:80:00:00:00:00:00:00:00:02:c9:b2:00:00:00:01");
    CHECK(state->broadcast.size() == 59);
    CHECK(state->mtu == 2044);
    CHECK((state->is_up && state->is_running));
    CHECK(state->addresses ==
          std::vector<InterfaceAddress>{{.text = "10.1.0.1/24", .is_v4 = true},
                                        {.text = "fe80::202:c9b2:0:1/64", .is_tentative = true, .is_link_local = true},
                                        {.text = "fd00::1/64", .is_tentative = true, .is_duplicate = true}});
    CHECK_FALSE(parse_interface(running, "ib1"));
}

TEST_CASE("ip: an interface runs when it is up and its link is there") {
    const auto is_running = [](const std::string& flags) {
        return parse_interface(R"([{"ifname":"ib0","flags":[)" + flags + "]}]", "ib0")->is_running;
    };
    CHECK(is_running(R"("UP","LOWER_UP")"));
    CHECK_FALSE(is_running(R"("UP")"));
    CHECK_FALSE(is_running(R"("LOWER_UP")"));
    CHECK_FALSE(is_running(R"("NO-CARRIER","UP","LOWER_UP")"));
    CHECK_FALSE(is_running(""));
}

TEST_CASE("ip: what is no answer of it, or of another shape, is nothing") {
    for (const std::string text : {"", "[", "{}", "[1]", "[[]]", R"([{"ifname":1}])", "null", R"(["ifname"])"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_interface(text, "ib0"));
        CHECK(parse_neighbours(text).empty());
    }
    const auto odd =
        parse_interface(R"([{"ifname":"ib0","mtu":"x","flags":3,"address":[],"addr_info":[1,{"local":2}]}])", "ib0");
    REQUIRE(odd);
    CHECK((odd->mtu == 0 && odd->addresses.empty() && odd->link_address.empty() && !odd->is_up));
}

TEST_CASE("ip: neighbours are those with a link address that is in use") {
    const std::string text =
        R"([{"dst":"10.1.0.2","lladdr":"80:00:02:08","state":["REACHABLE"]},{"dst":"10.1.0.3","state":["FAILED"]},
        {"dst":"10.1.0.4","lladdr":"80:01","state":["FAILED"]},{"dst":"fe80::2","lladdr":"80:02","state":["STALE"]},
        {"dst":"10.1.0.5","lladdr":"80:03","state":["INCOMPLETE"]},{"dst":"224.0.0.1","lladdr":"00:ff","state":["NOARP"]},
        {"lladdr":"80:05","state":["STALE"]}])";
    CHECK(parse_neighbours(text) ==
          std::vector<Neighbour>{{"10.1.0.2", "80:00:02:08", "REACHABLE"}, {"fe80::2", "80:02", "STALE"}});
}

TEST_CASE("ip: groups of IPv4 are read in the byte order of the machine that printed them") {
    std::array<char, 9> all_nodes{};
    std::snprintf(all_nodes.data(), all_nodes.size(), "%08X", ::inet_addr("224.0.0.1"));
    const std::string text =
        "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
        "1\tlo        :     1      V3\n\t\t\t\t12345678     1 0:00000000\t\t0\n"
        "3\tib0       :     2      V3\n\t\t\t\t" +
        std::string(all_nodes.data()) + "     1 0:00000000\t\t0\n\t\t\t\tzzzz 1\n";
    CHECK(parse_igmp(text, "ib0") == std::vector<std::string>{"224.0.0.1"});
    CHECK(parse_igmp(text, "ib1").empty());
    CHECK(parse_igmp("", "ib0").empty());
}

TEST_CASE("ip: groups of IPv6 are those of the interface") {
    const std::string text =
        "1    lo              ff020000000000000000000000000001     1 0000000C 0\n"
        "3    ib0             ff0200000000000000000001ff000001     1 00000004 0\n"
        "3    ib0             ff02\n3 ib0\n";
    CHECK(parse_igmp6(text, "ib0") == std::vector<std::string>{"ff02::1:ff00:1"});
    CHECK(parse_igmp6(text, "lo") == std::vector<std::string>{"ff02::1"});
}

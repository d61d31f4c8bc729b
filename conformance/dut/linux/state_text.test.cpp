// SPDX-License-Identifier: GPL-2.0-or-later
// Texts as Linux 6.1 writes them.
#include "conformance/dut/linux/state_text.hpp"

#include "catch2.hpp"

using namespace ipoib::host;

TEST_CASE("Host state: link-layer groups of one interface") {
    const std::string text =
        "2    eth0            1     0     01005e000001\n"
        "4    ib0             1     0     00ffffffff12401bffff000000000000ffffffff\n"
        "4    ib0             2     0     00ffffffff12601bffff00000000000000000001\n"
        "5    ib0.8001        1     0     00ffffffff12401b8001000000000000ffffffff\n"
        "4    ib0\n";
    CHECK(parse_dev_mcast(text, "ib0") ==
          std::vector<std::string>{"00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff",
                                   "00:ff:ff:ff:ff:12:60:1b:ff:ff:00:00:00:00:00:00:00:00:00:01"});
    CHECK(parse_dev_mcast(text, "ib1").empty());
    CHECK(parse_dev_mcast("", "ib0").empty());
}

TEST_CASE("Host state: groups of the driver") {
    const auto groups = parse_driver_groups(
        "GID: ff12:401b:ffff:0:0:0:ffff:ffff\n"
        "  created: 4294892300\n"
        "  queuelen:         0\n"
        "  complete:       yes\n"
        "  send_only:       no\n"
        "\n"
        "GID: ff12:401b:ffff:0:0:0:f01:203\n"
        "  created: 4294892301\n"
        "  queuelen:         3\n"
        "  complete:        no\n"
        "  send_only:      yes\n"
        "\n");
    CHECK(groups == std::vector<DriverGroup>{{"ff12:401b:ffff:0:0:0:ffff:ffff", true, false, 0},
                                             {"ff12:401b:ffff:0:0:0:f01:203", false, true, 3}});
    CHECK(parse_driver_groups("complete: yes\nnothing\n").empty());
}

TEST_CASE("Host state: paths of the driver") {
    const auto paths = parse_driver_paths(
        "GID: fe80:0:0:0:2:c903:10:1\n"
        "  complete:    yes\n"
        "  DLID:     0x0004\n"
        "  SL:            3\n"
        "  rate:      100.0 Gb/sec\n"
        "\n"
        "GID: fe80:0:0:0:2:c903:10:2\n"
        "  complete:     no\n"
        "\n");
    CHECK(paths == std::vector<DriverPath>{{"fe80:0:0:0:2:c903:10:1", true, 4, 3, "100.0 Gb/sec"},
                                           {"fe80:0:0:0:2:c903:10:2", false, 0, 0, ""}});
}

TEST_CASE("Host state: what a master is") {
    CHECK(parse_device_type("DEVTYPE=vrf\nINTERFACE=red\nIFINDEX=9\n") == "vrf");
    CHECK(parse_device_type("INTERFACE=bond0\nDEVTYPE=bond") == "bond");
    CHECK(parse_device_type("INTERFACE=ib0\nIFINDEX=4\n").empty());
    CHECK(parse_device_type("").empty());
}

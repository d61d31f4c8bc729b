// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/facts.hpp"

#include "catch2.hpp"

using namespace ipoib::host;

TEST_CASE("Facts: a driver with datagrams only says no RC in its link-layer address") {
    const std::string rest = ":00:00:03:fe:80:00:00:00:00:00:00:00:02:c9:b2:00:00:00:01";
    CHECK(lacks_connected_mode("00" + rest));
    CHECK(lacks_connected_mode("40" + rest));
    CHECK(!lacks_connected_mode("80" + rest));
    CHECK(!lacks_connected_mode("c0" + rest));
    CHECK(!lacks_connected_mode("00:11:22:33:44:55"));
    CHECK(!lacks_connected_mode(""));
    CHECK(guid_in("00" + rest) == "0x0002c9b200000001");
}

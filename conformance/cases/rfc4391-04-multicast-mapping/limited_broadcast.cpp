// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case limited_broadcast_is_mapped{
    .id = "IPOIB-4391-4-VAL-004",
    .title = "255.255.255.255 is sent to the broadcast-GID",
    .checks = {&rfc4391::limited_broadcast_mapping},
    .pass_if = "the DUT's broadcast datagram has the broadcast-GID as DGID and reaches the group's members",
    .tags = {"mgid", "ipv4"},
    .dut_can = {"send"},
    .steps =
        [](Bench& bench) {
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            const auto port = bench.fresh_port();
            bench.step("The DUT sends a datagram to 255.255.255.255");
            bench.control();
            bench.dut.sends(everyone, port);
            bench.require(udp_from_dut(everyone, port).with(Grh::dgid, bench.link().broadcast_gid()), within(3s));
        },
};

}  // namespace ipoib::conformance

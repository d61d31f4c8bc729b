// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case directed_broadcasts_go_to_the_broadcast_group{
    .id = "IPOIB-4391-5-VAL-005",
    .title = "A directed broadcast goes to the broadcast group",
    .checks = {&rfc4391::broadcast_group_carries_broadcasts},
    .pass_if = "the DUT's datagram to all hosts of its network has the broadcast-GID as DGID and its MLID as DLID",
    .tags = {"broadcast", "ipv4"},
    .dut_can = {"send", "interface"},
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto everyone = bench.dut.directed_broadcast();
            if (!everyone) bench.not_applicable("the DUT does not tell the prefix of its network");
            bench.step("The DUT sends a datagram to all hosts of its network");
            const auto port = bench.fresh_port();
            bench.dut.sends(*everyone, port);
            bench.require(udp_from_dut(*everyone, port)
                              .sent_anywhere()
                              .with(Grh::dgid, link.broadcast_gid())
                              .with(Lrh::dlid, link.broadcast_mlid),
                          within(3s));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case missing_group_without_routers{
    .id = "IPOIB-4391-10-VAL-004",
    .title = "Without routers a packet to a missing group is dropped or broadcast; the group is not created",
    .checks = {&rfc4391::fallback_to_routers, &rfc4391::fallback_drop},
    .pass_if = "no group appears at the SA for a datagram to a group that nobody has joined",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            if (bench.sa.group(bench.mgid_of(bench.all_routers())))
                bench.not_applicable("this link has an all-router group");
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group that nobody has joined", rfc4391::fallback_to_routers);
            bench.control();
            bench.dut.sends(group, port);
            bench.pass_time(2s);
            bench.require(!bench.sa.group(bench.mgid_of(group)), "no new group at the SA", "the group was created");
            bench.control();
            bench.step("What it does instead", rfc4391::fallback_drop);
            bench.dut.sends(group, port);
            const bool is_broadcast = bench.happens(udp_from_dut(group, port), within(2s));
            bench.require(true, "either");
            bench.note(is_broadcast ? "the packet goes to the broadcast group" : "the packet is dropped");
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case missing_link_local_group_is_dropped{
    .id = "IPOIB-4391-10-INV-001",
    .title = "A packet to a missing group of link-local scope is dropped, also when there are routers",
    .checks = {&rfc4391::link_local_drop},
    .pass_if = "the datagram is not sent over any group, and no group is created",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_link_local_group();
            const auto port = bench.fresh_port();
            bench.step("The tester is in the all-router group; the DUT sends to a link-local group nobody has joined");
            bench.sa.join(bench.all_routers());
            // It may remember for its own time that there was no such group. Who is in it knows that there is one.
            if (bench.dut->can("join")) bench.dut.joins(bench.all_routers());
            bench.dut.maps_rightly(bench.all_routers());
            bench.pass_time(500ms);
            bench.precondition(!bench.sa.group(bench.mgid_of(group)), "nobody is in " + text(group));
            bench.control();
            bench.dut.sends(group, port);
            bench.forbid(udp_from_dut(group, port), within(2s));
            bench.require(!bench.sa.group(bench.mgid_of(group)), "no new group at the SA", "the group was created");
        },
};

}  // namespace ipoib::conformance

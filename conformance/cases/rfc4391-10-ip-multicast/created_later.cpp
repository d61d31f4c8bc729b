// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case redirected_packets_find_the_group_later{
    .id = "IPOIB-4391-10-VAL-005",
    .title = "Packets that went to the all-router group go to their own group once it is created",
    .checks = {&rfc4391::fallback_ends_with_group},
    .pass_if = "after the tester has joined the group the DUT's datagrams come over it",
    .tags = {"sa", "egress", "trap", "ipv4", "ipv6"},
    .impact = Impact::link,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            bench.step("There are routers");
            bench.sa.join(bench.all_routers());
            // It may remember for its own time that there was no such group. Who is in it knows that there is one.
            if (bench.dut->can("join")) bench.dut.joins(bench.all_routers());
            bench.dut.maps_rightly(bench.all_routers());
            bench.pass_time(500ms);
            for (const auto* which : {"A group", "Another group"}) {
                const auto group = bench.fresh_group();
                const auto port = bench.fresh_port();
                bench.step(std::string(which) + " is missing: its packets go to the routers");
                bench.dut.sends(group, port);
                bench.dut.maps_rightly(group);
                const bool is_redirected = bench.happens(udp_from_dut(group, port), within(5s));
                if (bench.sa.group(bench.mgid_of(group)))
                    bench.not_applicable("the DUT redirects nothing: it has created the group");
                bench.precondition(is_redirected, "its datagram is seen");
                bench.step("The group is created");
                const auto mlid = bench.sa.join(group).mlid();
                bench.pass_time(1s);
                bench.dut.sends(group, port);
                bench.require(udp_from_dut(group, port).with(Lrh::dlid, mlid), within(5s));
            }
        },
};

}  // namespace ipoib::conformance

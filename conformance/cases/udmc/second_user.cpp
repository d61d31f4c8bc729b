// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case group_of_two_programs_is_kept{
    .id = "IPOIB-UDMC-VAL-004",
    .title = "A group that two programs are in stays when one of them leaves",
    .checks = {&udmc::leave_after_last_detach},
    .pass_if = "after one has left the DUT is FullMember still, and the other one hears the group",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"join", "leave", "listen", "received"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            const auto mgid = bench.mgid_of(group);
            bench.step("Two programs of the DUT are in one group");
            const auto joined = bench.sa.join(group);
            bench.dut->listen(group, port);
            bench.dut->join(group);
            bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
            const auto datagram = udp_to_group(group, joined.mlid(), port);
            bench.precondition(bench.dut.receives(datagram, port, within(2s)), "the one that listens hears the group");
            bench.step("The other one leaves");
            bench.control();
            bench.dut->leave(group);
            bench.pass_time(2s);
            bench.require((bench.sa.join_state_of_dut(mgid) & 1) != 0, "still FullMember", "no member any more");
            bench.require(bench.dut.receives(datagram, port, within(2s)), "the datagram at the one that listens",
                          "none");
        },
};

}  // namespace ipoib::conformance

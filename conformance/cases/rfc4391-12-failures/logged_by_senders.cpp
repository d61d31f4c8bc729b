// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case failed_joins_of_senders_are_logged{
    .id = "IPOIB-4391-12-VAL-003",
    .title = "A join for sending that fails is logged",
    .checks = {&rfc4391::failures_logged},
    .pass_if = "while the SA refuses a sender's join of a group that exists the DUT's log grows",
    .tags = {"sa", "egress", "robust", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"log", "send"},
    .in_both_families = true,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto mgid = bench.sa.join(group).mgid;
            bench.step("The SA refuses a join of the DUT, which is to send to a group that exists");
            const auto before = bench.dut.quiet_log();
            bench.fabric.change(refused_joins(mgid));
            bench.dut.sends(group, bench.fresh_port());
            bench.precondition(join_of(mgid), within(5s));
            // Not longer: what has nothing to do with it may be logged, too.
            bench.pass_time(2s);
            const auto after = bench.dut->log();
            bench.require(!after.empty() && after != before, "a line in the DUT's log", "none");
            bench.fabric.change(SetSa{.resets = true});
        },
};

}  // namespace ipoib::conformance

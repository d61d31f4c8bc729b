// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case multicast_failures_are_logged{
    .id = "IPOIB-4391-12-VAL-001",
    .title = "A multicast operation that fails is logged, and the stack lives",
    .checks = {&rfc4391::failures_logged},
    .pass_if = "while the SA refuses joins the DUT's log grows with each; afterwards the DUT answers and can join",
    .tags = {"sa", "robust", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"log", "join"},
    .in_both_families = true,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            for (const auto* const which : {"The SA refuses a join of the DUT", "It refuses a join of another group"}) {
                const auto group = bench.fresh_group();
                bench.step(which);
                const auto before = bench.dut.quiet_log();
                bench.fabric.change(refused_joins(bench.mgid_of(group)));
                bench.dut.joins(group);
                bench.precondition(bench.sa.hears_join(bench.mgid_of(group), within(5s)), "the DUT asks for the group");
                bench.pass_time(3s);
                // An adapter gives the whole log or what is new since the last time.
                const auto after = bench.dut->log();
                bench.require(!after.empty() && after != before, "a line in the DUT's log", "none");
            }
            bench.step("The SA grants joins again");
            bench.fabric.change(SetSa{.resets = true});
            bench.control();
            const auto another = bench.fresh_group();
            bench.dut.joins(another);
            bench.precondition(bench.sa.has_group(bench.mgid_of(another), within(10s)), "the DUT can join groups");
        },
};

}  // namespace ipoib::conformance

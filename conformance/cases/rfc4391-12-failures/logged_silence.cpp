// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case unanswered_joins_are_logged{
    .id = "IPOIB-4391-12-VAL-004",
    .title = "A join or leave that the SA does not answer is logged",
    .checks = {&rfc4391::failures_logged},
    .pass_if = "while the SA is silent the DUT's log grows with a join, and with a leave; afterwards the DUT can join",
    .tags = {"sa", "robust", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"log", "join", "leave"},
    .in_both_families = true,
    .lasts_at_most = 200s,
    .steps =
        [](Bench& bench) {
            // Longer than three tries of a few seconds each, which are the DUT's own.
            constexpr auto patience = stated(20s);
            const auto log_grows = [&](auto&& action) {
                const auto before = bench.dut.quiet_log();
                action();
                bench.pass_time(patience);
                const auto after = bench.dut->log();
                return !after.empty() && after != before;
            };
            bench.step("The DUT is in a group");
            const auto left = bench.fresh_group();
            bench.dut.joins(left);
            bench.precondition(bench.sa.has_group(bench.mgid_of(left), within(10s)), "the DUT can join groups");
            bench.step("The SA does not answer a leave");
            bench.fabric.change(SetSa{.is_silent = true});
            const bool tells_of_leave = log_grows([&] { bench.dut->leave(left); });
            bench.precondition(bench.count(leave_of(bench.mgid_of(left))) > 0, "the DUT leaves the group");
            bench.require(tells_of_leave, "a line in the DUT's log", "none");
            bench.step("Nor a join");
            const auto group = bench.fresh_group();
            const bool tells_of_join = log_grows([&] { (void)bench.dut.can_join(group); });
            // Before it joins, it may ask whether the group exists.
            bench.precondition(bench.count(request_about(bench.mgid_of(group))) > 0, "the DUT asks for the group");
            bench.require(tells_of_join, "a line in the DUT's log", "none");
            bench.step("The SA answers again");
            bench.fabric.change(SetSa{.resets = true});
            bench.control();
            // What it could not leave it may try to leave later, as it does what it sends nothing to: not in what
            // follows.
            const auto later = bench.profile().send_only_leave;
            if (later <= 20s) bench.pass_time(later + 5s);
        },
};

}  // namespace ipoib::conformance

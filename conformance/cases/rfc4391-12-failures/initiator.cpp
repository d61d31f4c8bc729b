// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

// "Usually ... can be propagated": not by a call that ends before the SA has answered.
const Case program_hears_of_failed_join{
    .id = "IPOIB-4391-12-VAL-002",
    .title = "A program whose join of a group the SA refuses is told",
    .checks = {&rfc4391::failures_reach_initiator},
    .pass_if =
        "the DUT says that the join failed while the SA refuses it, and that it succeeded where the SA grants it. NA "
        "where its call ends before the SA has answered",
    .tags = {"sa", "robust", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("The SA grants a join of the DUT");
            const auto granted = bench.fresh_group();
            bench.precondition(bench.dut.can_join(granted), "the DUT says that a join succeeded which the SA grants");
            const auto refused = bench.fresh_group();
            const auto mgid = bench.mgid_of(refused);
            bench.step("The SA refuses one");
            // Long enough for a call that does not wait to be over.
            bench.fabric.change(SetSa{.delay = 1s, .refuse_joins = sa_status::invalid_request, .refuse_only = mgid});
            const bool says_it_joined = bench.dut.can_join(refused);
            const bool has_waited = bench.sa.has_answered_join(mgid);
            bench.precondition(bench.sa.hears_join(mgid, within(5s)), "the DUT asks for the group");
            bench.fabric.change(SetSa{.resets = true});
            if (says_it_joined && !has_waited)
                bench.not_applicable(
                    "the DUT's call succeeds before the SA has answered, so nothing can be told by it");
            bench.recommend(!says_it_joined, "that the program is told of the failure", "the call succeeded");
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case receiver_leaves{
    .id = "IPOIB-4391-10-VAL-008",
    .title = "A group that IP leaves is left at the SA",
    .checks = {&rfc4391::leaves_group, &rfc4392::receiver_leaves},
    .pass_if = "after the DUT left the group it is no FullMember of it",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"join", "leave"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto mgid = bench.mgid_of(group);
            bench.step("The DUT joins a group");
            bench.dut->join(group);
            bench.precondition(bench.sa.has_group(mgid, within(5s)), "the group is at the SA");
            bench.precondition((bench.sa.join_state_of_dut(mgid) & 1) != 0, "the DUT is FullMember");
            bench.step("It leaves the group", rfc4391::leaves_group);
            bench.dut->leave(group);
            bench.pass_time(2s);
            const auto state = bench.sa.join_state_of_dut(mgid);
            const auto found = "JoinState " + std::to_string(state);
            bench.require((state & 1) == 0, "no FullMember any more", found);
            // RFC 4392 says "must", but is informational; RFC 4391, the standard, says SHOULD.
            bench.same_step("In the words of RFC 4392", rfc4392::receiver_leaves);
            bench.recommend((state & 1) == 0, "no FullMember any more", found);
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ipv4_group_is_mapped{
    .id = "IPOIB-4391-4-VAL-001",
    .title = "An IPv4 group that the DUT joins is the group of its MGID at the SA",
    .checks = {&rfc4391::joiner_maps_address},
    .pass_if = "the SA is asked for, or holds, the group that section 4 maps the address to",
    .tags = {"mgid", "ipv4", "sa"},
    .dut_can = {"join"},
    .steps =
        [](Bench& bench) {
            bench.step("The DUT joins IPv4 groups with many different bits");
            for (int i = 0; i < 3; ++i) {
                const auto group = bench.fresh_group4();
                const auto mgid = bench.mgid_of(group);
                bench.dut.joins(group);
                bench.require(bench.sa.hears_join(mgid, within(5s)), "a join of " + text(mgid) + " for " + text(group));
            }
        },
};

}  // namespace ipoib::conformance

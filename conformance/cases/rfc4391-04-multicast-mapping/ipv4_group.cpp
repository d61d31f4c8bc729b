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
            // All 28 bits count: also those that Ethernet's mapping leaves out, and in blocks of other uses (RFC 5771).
            constexpr std::uint32_t low = 0x00ffffff, not_on_ethernet = 0x00800000;
            const auto fresh = bench.fresh_group4().v4() & low;
            for (const std::uint32_t bits : {0xef000000 | fresh, 0xe1000000 | (fresh ^ not_on_ethernet),
                                             0xe8000000 | fresh, 0xee000000 | (fresh ^ not_on_ethernet)}) {
                const auto group = IpAddress::v4(bits);
                const auto mgid = bench.mgid_of(group);
                bench.dut.joins(group);
                bench.require(bench.sa.hears_join(mgid, within(5s)), "a join of " + text(mgid) + " for " + text(group));
            }
        },
};

}  // namespace ipoib::conformance

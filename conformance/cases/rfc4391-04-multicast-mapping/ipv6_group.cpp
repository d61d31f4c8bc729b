// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ipv6_group_is_mapped{
    .id = "IPOIB-4391-4-VAL-002",
    .title = "An IPv6 group that the DUT joins is the group of its MGID at the SA",
    .checks = {&rfc4391::joiner_maps_address},
    .pass_if = "the SA is asked for, or holds, the group that section 4 maps the address to",
    .tags = {"mgid", "ipv6", "sa"},
    .dut_can = {"join"},
    .steps =
        [](Bench& bench) {
            bench.step("The DUT joins IPv6 groups that differ in all 80 bits of the group ID");
            for (const auto high : {0x0000u, 0x8001u, 0x4242u}) {
                const auto fresh = bench.fresh_group6().octets;
                const auto group = IpAddress::v6(
                    Gid::of(fresh.prefix() | high, fresh.interface_id() | std::uint64_t{0xa5000000} << 32));
                const auto mgid = bench.mgid_of(group);
                bench.dut.joins(group);
                bench.require(bench.sa.hears_join(mgid, within(5s)), "a join of " + text(mgid) + " for " + text(group));
            }
        },
};

}  // namespace ipoib::conformance

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
            bench.step("The DUT joins IPv6 groups that differ in all 80 bits of the group ID, and in flags and scope");
            struct Kind {
                std::uint64_t flags_and_scope, high;
            };
            // Flags of RFC 4291, 2.7, and RFC 3306, 4: transient, permanently assigned, made of a prefix.
            for (const auto& [flags_and_scope, high] : {Kind{0xff15, 0x0000}, {0xff05, 0x8001}, {0xff3e, 0x4242}}) {
                const auto low = bench.fresh_group6().octets.interface_id() | std::uint64_t{0xa5000000} << 32;
                const auto group = IpAddress::v6(Gid::of(flags_and_scope << 48 | high, low));
                const auto mgid = bench.mgid_of(group);
                bench.dut.joins(group);
                bench.require(bench.sa.hears_join(mgid, within(5s)), "a join of " + text(mgid) + " for " + text(group));
            }
        },
};

}  // namespace ipoib::conformance

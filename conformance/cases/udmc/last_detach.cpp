// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case group_is_left_with_its_last_user{
    .id = "IPOIB-UDMC-VAL-001",
    .title = "A group is left at the SA only when nothing on the interface uses it any more",
    .checks = {&udmc::leave_after_last_detach},
    .pass_if = "of two IP groups with one MGID the first one left causes no leave, the second one does",
    .tags = {"sa", "ipv6"},
    .needs = Ability::see_all | Ability::trusted_sa,
    .dut_can = {"join", "leave"},
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            // RFC 4391, 4: the scope of an IP group is no part of its MGID.
            const auto site = bench.fresh_group6();
            auto octets = site.octets;
            octets.octets[1] = 0x12;
            const auto link = IpAddress::v6(octets);
            const auto mgid = bench.mgid_of(site);
            bench.step("The DUT joins two IPv6 groups that have one MGID");
            bench.dut.joins(site);
            bench.dut.joins(link);
            bench.precondition(mgid == bench.mgid_of(link), "both have the same MGID");
            bench.precondition(bench.sa.has_group(mgid, within(5s)), "the group is at the SA");
            bench.precondition((bench.sa.join_state_of_dut(mgid) & 1) != 0, "the DUT is FullMember");
            bench.step("It leaves one of them");
            bench.dut->leave(site);
            bench.pass_time(2s);
            bench.forbid_so_far(leave_of(mgid));
            bench.require((bench.sa.join_state_of_dut(mgid) & 1) != 0, "still FullMember", "no member any more");
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case missing_group_goes_to_all_routers{
    .id = "IPOIB-4391-10-VAL-003",
    .title = "A packet to a missing group goes to the all-router group, if that exists",
    .checks = {&rfc4391::fallback_to_routers, &rfc4391::fallback_prefers_all_router, &rfc4392::missing_group_fallback},
    .pass_if = "the datagram, its IP destination unchanged, comes over the all-router group and no group is created",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("The tester is a router: it is in the all-router group", rfc4391::fallback_to_routers);
            const auto routers = bench.sa.join(bench.all_routers());
            // It may remember for its own time that there was no such group. Who is in it knows that there is one.
            if (bench.dut->can("join")) bench.dut.joins(bench.all_routers());
            bench.dut.maps_rightly(bench.all_routers());
            bench.pass_time(500ms);
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            const auto redirected =
                udp_from_dut(group, port)
                    .such_that("over the all-router or the broadcast group", [routers](const Packet& p, auto& now) {
                        const auto dlid = p.lrh ? p.lrh[Lrh::dlid] : std::uint16_t{0};
                        return dlid == routers.mlid() || dlid == now.link.broadcast_mlid;
                    });
            bench.step("The DUT sends to a group that nobody has joined", rfc4391::fallback_to_routers,
                       rfc4392::missing_group_fallback);
            bench.dut.sends(group, port);
            bench.dut.maps_rightly(group);
            bench.require(redirected, within(5s));
            bench.require(!bench.sa.group(bench.mgid_of(group)), "no new group at the SA", "the group was created");
            bench.step("It prefers the all-router group to the broadcast group", rfc4391::fallback_prefers_all_router);
            bench.dut.sends(group, port);
            bench.inspect(redirected.with(Lrh::dlid, routers.mlid()), within(5s));
        },
};

}  // namespace ipoib::conformance

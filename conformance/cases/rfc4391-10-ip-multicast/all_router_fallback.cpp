// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// Groups of other ranges and scopes whose packets leave the link: of IPv4 close to 224.0.0.0/24, which never does.
std::vector<IpAddress> further_groups(Bench& bench) {
    std::vector<IpAddress> all;
    if (bench.situation().is_ipv6()) {
        for (const std::uint8_t scope : std::array<std::uint8_t, 4>{3, 4, 8, 14}) {
            auto group = bench.fresh_group6().octets;
            group.octets[1] = static_cast<std::uint8_t>((group.octets[1] & 0xf0) | scope);
            all.push_back(IpAddress::v6(group));
        }
        return all;
    }
    for (const std::uint32_t range : std::array<std::uint32_t, 3>{0xe0000100, 0xe0010000, 0xe8000000})
        all.push_back(IpAddress::v4(range | (bench.fresh_group4().v4() & 0xff)));
    return all;
}

}  // namespace

const Case missing_group_goes_to_all_routers{
    .id = "IPOIB-4391-10-VAL-003",
    .title = "A packet to a missing group goes to the all-router group, if that exists",
    .checks = {&rfc4391::fallback_to_routers, &rfc4391::fallback_prefers_all_router, &rfc4392::missing_group_fallback},
    .pass_if = "the datagram, its IP destination unchanged, comes over the all-router group and no group is created",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
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
            const auto redirected_to = [&](const IpAddress& missing, std::uint16_t at) {
                return udp_from_dut(missing, at)
                    .such_that("over the all-router or the broadcast group", [routers](const Packet& p, auto& now) {
                        const auto dlid = p.lrh ? p.lrh[Lrh::dlid] : std::uint16_t{0};
                        return dlid == routers.mlid() || dlid == now.link.broadcast_mlid;
                    });
            };
            const auto redirected = redirected_to(group, port);
            bench.step("The DUT sends to a group that nobody has joined", rfc4391::fallback_to_routers,
                       rfc4392::missing_group_fallback);
            bench.dut.sends(group, port);
            bench.dut.maps_rightly(group);
            bench.require(redirected, within(5s));
            bench.require(!bench.sa.group(bench.mgid_of(group)), "no new group at the SA", "the group was created");
            bench.step("It prefers the all-router group to the broadcast group", rfc4391::fallback_prefers_all_router);
            bench.dut.sends(group, port);
            bench.inspect(redirected.with(Lrh::dlid, routers.mlid()), within(5s));
            bench.step("The same of groups of other ranges and scopes", rfc4391::fallback_to_routers,
                       rfc4392::missing_group_fallback);
            for (const auto& other : further_groups(bench)) {
                if (bench.sa.group(bench.mgid_of(other))) continue;
                bench.dut.sends(other, port);
                bench.require(redirected_to(other, port), within(5s));
            }
        },
};

}  // namespace ipoib::conformance

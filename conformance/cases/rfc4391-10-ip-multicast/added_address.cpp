// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case solicited_node_group_follows_address{
    .id = "IPOIB-4391-10-VAL-015",
    .title = "The solicited-node group of an address is joined with the address, and left with it",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins, &rfc4391::leaves_group},
    .pass_if = "the DUT is FullMember of the group while it has the address, and no longer",
    .tags = {"sa", "nd", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"add_address", "remove_address"},
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            if (bench.situation().dut.ipv6.is_zero()) bench.not_applicable("the DUT tells no IPv6 address");
            constexpr std::uint64_t unique_local = 0xfd49506f49420000;
            constexpr std::uint8_t length = 64;
            const auto number = bench.fresh_group6().octets.interface_id();
            const IpNetwork address{IpAddress::v6(Gid::of(unique_local, number)), length};
            const auto group = IpAddress::v6(solicited_node_group(address.address.octets));
            bench.step("The DUT gets a further address", rfc4391::receiver_full_member_join, rfc4392::receiver_joins);
            bench.dut->lend_address(address);
            bench.require(bench.sa.has_dut_as_full_member(group, within(5s)),
                          "FullMember of the solicited-node group of " + text(address.address), "not at the SA");
            bench.step("It loses it", rfc4391::leaves_group);
            bench.dut->remove_address(address);
            bench.pass_time(2s);
            const auto state = bench.sa.join_state_of_dut(bench.mgid_of(group));
            bench.require((state & 1) == 0, "no FullMember any more", "JoinState " + std::to_string(state));
        },
};

}  // namespace ipoib::conformance

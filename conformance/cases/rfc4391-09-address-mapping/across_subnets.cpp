// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case packets_across_subnets_have_a_grh{
    .id = "IPOIB-4391-9.1-VAL-001",
    .title = "A packet to a peer of another IB subnet has a GRH with the peer's GID",
    .checks = {&rfc4391::grh_across_subnets},
    .pass_if = "the DUT asks for the path to a GID of another prefix, and sends to it with a GRH",
    .tags = {"grh", "sa", "arp", "nd"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            constexpr std::uint64_t another_subnet = 0xfec0'0000'0000'0001;
            const auto remote = Gid::of(another_subnet, tester.gid.interface_id());
            bench.step("The tester is in another subnet, behind a router that its own port stands for");
            bench.fabric.change(SetPath{remote, tester.lid});
            bench.tester.answer_resolution(false);
            bench.dut->flush_neighbours();
            bench.send(address_request().with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, remote));
            bench.precondition(address_reply().sent_anywhere(), within(2s));
            const auto port = bench.fresh_port();
            const auto to = bench.situation().tester_address();
            bench.dut.sends(to, port);
            bench.inspect(udp_from_dut(to, port).sent_anywhere().having<Grh>().with(Grh::dgid, remote), within(5s));
        },
};

}  // namespace ipoib::conformance

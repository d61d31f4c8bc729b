// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case multicast_has_a_grh{
    .id = "IPOIB-4391-6-VAL-002",
    .title = "Every multicast packet has a GRH",
    .checks = {&rfc4391::grh_on_multicast},
    .pass_if = "the DUT's packet to a group has a GRH with the group's MGID",
    .tags = {"grh", "mgid", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT sends to a group that the tester has joined");
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            const auto mgid = bench.sa.join(group).mgid;
            bench.dut.sends(group, port);
            bench.inspect(udp_from_dut(group, port).sent_anywhere().having<Grh>().with(Grh::dgid, mgid), within(5s));
            bench.step("So have its packets of other lengths");
            for (const auto length : std::array<std::size_t, 7>{2, 3, 5, 64, 257, 514, 771}) {
                if (length + Ipv6::size + Udp::size > bench.situation().ip_mtu()) break;
                const auto another = bench.fresh_port();
                if (!bench.dut.tries_to_send(group, another, length))
                    return bench.note("the DUT sends no datagram of " + std::to_string(length) + " octets");
                bench.inspect(udp_from_dut(group, another).sent_anywhere().having<Grh>().with(Grh::dgid, mgid),
                              within(5s));
            }
        },
};

}  // namespace ipoib::conformance

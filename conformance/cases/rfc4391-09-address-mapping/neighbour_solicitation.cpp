// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case neighbour_solicitation_is_sent{
    .id = "IPOIB-4391-9.3-VAL-002",
    .title = "IPv6 addresses are resolved by Neighbour Discovery",
    .checks = {&rfc4391::ipv6_resolved_by_nd},
    .pass_if = "the DUT answers a solicitation; with an empty cache it solicits the tester in its solicited-node group",
    .tags = {"nd", "ipv6"},
    .dut_can = {"flush_neighbours", "resolve"},
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester.ipv6;
            if (bench.situation().dut.ipv6.is_zero()) bench.not_applicable("the DUT tells no IPv6 address");
            bench.step("The DUT answers ordinary traffic, and a solicitation");
            // Who resolves the tester in another way may not be able to answer this one.
            bench.send(echo_request6());
            const bool is_answered = bench.happens(echo_reply6(), within(3s));
            bench.send(unicast_neighbour_solicitation());
            if (!is_answered) bench.precondition(neighbour_advertisement(), within(2s));
            bench.require(neighbour_advertisement(), within(2s));
            bench.step("It solicits an address that it does not know");
            bench.dut->flush_neighbours();
            bench.dut.resolves(IpAddress::v6(tester));
            bench.dut.maps_rightly(IpAddress::v6(solicited_node_group(tester)));
            bench.require(neighbour_solicitation_for(tester), within(5s));
            // RFC 4861, 7.2.2.
            bench.inspect(neighbour_solicitation_for(tester).with(Ipv6::destination, solicited_node_group(tester)),
                          within(1s));
        },
};

}  // namespace ipoib::conformance

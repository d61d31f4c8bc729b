// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4391-09-address-mapping/silent_neighbour.hpp"

namespace ipoib::conformance {

const Case arp_request_is_broadcast{
    .id = "IPOIB-4391-9.2-VAL-002",
    .title = "IPv4 addresses are resolved by ARP, requests in the broadcast group",
    .checks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::broadcast_group_carries_broadcasts},
    .pass_if =
        "the DUT answers an ARP request, and for nobody else; with an empty cache it asks for the tester in the "
        "broadcast group, and for one that nobody had again later",
    .tags = {"arp", "broadcast"},
    .dut_can = {"flush_neighbours", "resolve"},
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester.ipv4;
            bench.step("The DUT answers ordinary traffic, and an ARP request", rfc4391::ipv4_resolved_by_arp);
            bench.send_until(arp_request(), arp_reply(), within(1s));
            bool is_answered = bench.happens(arp_reply(), within(0ms));
            bench.control();
            // Where nobody tells whether it hears the broadcast group, it is asked by itself.
            if (!is_answered && !bench.dut.is_reached()) {
                bench.send(unicast_arp_request());
                is_answered = bench.happens(arp_reply(), within(1s));
            }
            bench.require(is_answered, "an ARP reply", "none");
            // A router may answer for those behind it: RFC 1027.
            if (bench.stops_routing()) {
                bench.step("It does not answer for another's address", rfc4391::ipv4_resolved_by_arp);
                bench.control();
                const auto other = bench.fresh_neighbour4().v4();
                bench.send(arp_request().with(ArpAddresses::tpa, other));
                bench.forbid({"ARP reply for " + text(IpAddress::v4(other)),
                              [other](const Packet& p, const Situation&) {
                                  return p.arp && p.arp[Arp::operation] == Arp::reply && p.arp_addresses &&
                                         p.arp_addresses[ArpAddresses::spa] == other;
                              }},
                             within(1s));
            }
            bench.step("It asks for an address that it does not know", rfc4391::ipv4_resolved_by_arp);
            const auto question = to_a_group(arp_request_for(tester));
            bench.dut->flush_neighbours();
            bench.dut.resolves(IpAddress::v4(tester));
            bench.require(question, within(3s));
            bench.same_step("In the broadcast group", rfc4391::broadcast_group_carries_broadcasts);
            bench.inspect(question.with(Lrh::dlid, bench.link().broadcast_mlid), within(3s));
            asks_for_silent_again(bench, bench.fresh_neighbour4(), rfc4391::ipv4_resolved_by_arp);
        },
};

}  // namespace ipoib::conformance

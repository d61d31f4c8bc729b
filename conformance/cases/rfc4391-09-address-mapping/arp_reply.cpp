// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case arp_reply_in_full{
    .id = "IPOIB-4391-9.2-VAL-001",
    .title = "An ARP reply is right in every field",
    .checks = {&rfc4391::arp_fields, &rfc4391::arp_hardware_type, &rfc4391::arp_hardware_length,
               &rfc4391::arp_hardware_address},
    .pass_if = "hardware type 32, length 20, protocol 0x0800, length 4; sender and target addresses of 20 octets",
    .tags = {"arp"},
    .steps =
        [](Bench& bench) {
            const auto& now = bench.situation();
            bench.step("A broadcast ARP request is answered: protocol and its length", rfc4391::arp_fields);
            bench.send(arp_request());
            bench.inspect(arp_reply().with(Arp::protocol, 0x0800).with(Arp::protocol_length, 4), within(1s));
            bench.same_step("The hardware type", rfc4391::arp_hardware_type);
            bench.inspect(arp_reply().with(Arp::hardware, Arp::infiniband), within(1s));
            bench.same_step("The hardware length", rfc4391::arp_hardware_length);
            bench.inspect(arp_reply().with(Arp::hardware_length, LinkAddress::size), within(1s));
            bench.same_step("The target is the tester", rfc4391::arp_hardware_address);
            bench.inspect(
                arp_reply().with(ArpAddresses::tha_gid, now.tester.gid).with(ArpAddresses::tha_qpn, now.tester.qpn),
                within(1s));
        },
};

const Case every_request_is_answered{
    .id = "IPOIB-4391-9.2-VAL-003",
    .title = "An ARP request is answered whoever heard it, and whatever it says of those that it does not know",
    .checks = {&rfc4391::ipv4_resolved_by_arp},
    .pass_if =
        "the DUT answers an ARP request to itself alone, one with a target hardware address, which has no meaning, and "
        "one of somebody without an address, who asks whether the DUT's is free",
    .tags = {"arp"},
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            bench.step("An ordinary request is answered");
            bench.send_until(arp_request(), arp_reply(), within(1s));
            bench.precondition(arp_reply(), within(0ms));
            // RFC 1122, 2.3.2.1: as neighbours do that know the DUT.
            bench.step("A request to the DUT alone");
            bench.control();
            bench.send_until(unicast_arp_request(), arp_reply(), within(1s));
            bench.require(arp_reply(), within(0ms));
            // RFC 826: what is asked for is not known, so that nothing can be said there.
            bench.step("A request with a target hardware address");
            const auto& dut = bench.situation().dut;
            bench.send_until(arp_request().with(ArpAddresses::tha_qpn, dut.qpn).with(ArpAddresses::tha_gid, dut.gid),
                             arp_reply(), within(1s));
            bench.require(arp_reply(), within(0ms));
            // RFC 5227, 2.1.1.
            bench.step("A request of somebody without an address");
            const Expectation reply{"ARP reply", [](const Packet& p, const Situation&) {
                                        return p.arp && p.arp[Arp::operation] != Arp::request;
                                    }};
            bench.send_until(arp_request().with(ArpAddresses::spa, 0), reply, within(1s));
            bench.require(reply, within(0ms));
        },
};

}  // namespace ipoib::conformance

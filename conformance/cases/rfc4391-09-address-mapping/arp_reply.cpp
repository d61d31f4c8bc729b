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

}  // namespace ipoib::conformance

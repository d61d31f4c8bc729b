// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case all_attached_queue_pairs_get_it{
    .id = "IPOIB-UDMC-VAL-003",
    .title = "Multicast is delivered to every attached queue pair, also to those of the sender's adapter",
    .checks = {&udmc::delivery_to_all_attached_qps, &udmc::multicast_loopback},
    .pass_if = "two interfaces of the DUT on one port and link both answer broadcasts, those of each other, too",
    .tags = {"hca", "mgid", "arp"},
    .needs = Ability::see_all,
    .dut_can = {"create_child", "delete_child", "add_address", "interface", "resolve"},
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("A second interface of the DUT on the same link");
            const auto twin = bench.dut.has_twin();
            constexpr unsigned subnet = 24;
            const auto address = IpAddress::v4(bench.free_address());
            twin->add_address({address, subnet});
            const auto link_address = twin->interface().link_address;
            if (!link_address)
                bench.not_applicable("the adapter does not tell the second interface's link-layer address");
            const auto answer =
                Expectation{"ARP reply of the second interface",
                            [address, qpn = (*link_address)[LinkAddress::qpn]](const Packet& p, const Situation&) {
                                return p.arp && p.arp[Arp::operation] == Arp::reply && p.arp_addresses &&
                                       p.arp_addresses[ArpAddresses::spa] == address.v4() &&
                                       p.arp_addresses[ArpAddresses::sha_qpn] == qpn;
                            }};

            bench.step("The first interface answers ARP and echo requests as it should");
            bench.control();
            bench.send_until(arp_request(), arp_reply(), within(1s));
            const auto of_first = bench.obtain<ArpAddresses>(arp_reply().that_arrives(), within(1s));
            bench.precondition(arp_reply()
                                   .with(Arp::hardware, Arp::infiniband)
                                   .with(Arp::protocol, 0x0800)
                                   .with(Encap::type, EtherType::arp),
                               within(0ms));
            bench.precondition(of_first[ArpAddresses::sha_gid] == bench.situation().dut.gid, "its GID is its port's");

            bench.step("The tester broadcasts an ARP request for the address of the second one",
                       udmc::delivery_to_all_attached_qps);
            bench.send_until(arp_request().with(ArpAddresses::tpa, address.v4()), answer, within(1s));
            bench.require(answer, within(0ms));

            bench.step("The first one broadcasts an ARP request for the address of the second",
                       udmc::multicast_loopback);
            bool is_resolved = true;
            try {
                bench.dut->resolve(address);
            } catch (const ControlFailed&) {
                is_resolved = false;
            }
            const auto request = arp_request_for(address.v4());
            if (!bench.happens(request.sent_anywhere(), within(1s)))
                bench.not_applicable("the DUT asks nobody for an address of its own");
            bench.precondition(request.that_arrives(), within(1s));
            bench.require(is_resolved, "an answer from the second interface", "none");
        },
};

}  // namespace ipoib::conformance

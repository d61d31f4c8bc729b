// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case dhcp_server_replies{
    .id = "IPOIB-4390-2.2-VAL-002",
    .title = "A DHCP server broadcasts to a client that asks for it, and sends the ACK of a renewal to ciaddr",
    .checks = {&rfc4390::server_reply},
    .pass_if =
        "where the DUT has a DHCP server: OFFER and ACK come by broadcast to a client with the BROADCAST flag, the ACK "
        "of a renewal by unicast",
    .tags = {"dhcp"},
    .impact = Impact::link,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto is_group = [](auto lid, const Situation&) { return is_multicast_lid(lid); };
            const auto is_port = [](auto lid, const Situation&) { return !is_multicast_lid(lid); };
            const auto xid = 0x49500000u | bench.fresh_port(), renewal = 0x49510000u | bench.fresh_port();
            bench.step("A client without an address asks for a broadcast reply");
            if (bench.dut->can("dhcp_server")) bench.dut->dhcp_server(true);
            const auto offer = dhcp_reply_of_dut(DhcpType::offer, xid), ack = dhcp_reply_of_dut(DhcpType::ack, xid);
            bench.send(dhcp_discover(xid));
            if (!bench.happens(offer, within(5s))) {
                if (!bench.happens(arp_request_for_others(), within(0s)))
                    bench.not_applicable("no DHCP server answers here");
                bench.require(false, "DHCPOFFER by broadcast", "an ARP request for the address that is offered");
                return;
            }
            bench.inspect(offer.where(Lrh::dlid, is_group, "a multicast LID"), within(1s));
            const auto address = bench.obtain(offer, within(1s), dhcp_of)[Dhcp::yiaddr];
            const auto server = bench.obtain<Ipv4>(offer, within(1s))[Ipv4::source];
            bench.send(dhcp_request(xid, address, server));
            bench.inspect(ack.where(Lrh::dlid, is_group, "a multicast LID"), within(5s));
            bench.step("It renews its lease; ARP has told its link-layer address");
            const auto renewed = dhcp_reply_of_dut(DhcpType::ack, renewal);
            bench.send(arp_request().with(ArpAddresses::spa, address));
            bench.precondition(Expectation{"ARP reply to the client's address",
                                           [address](const Packet& p, const Situation&) {
                                               return p.arp_addresses && p.arp_addresses[ArpAddresses::tpa] == address;
                                           }},
                               within(2s));
            bench.send(dhcp_renewal(renewal, address));
            bench.inspect(renewed.with(Ipv4::destination, address).where(Lrh::dlid, is_port, "a unicast LID"),
                          within(5s));
            bench.send(dhcp_release(renewal, address));
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace ipoib::conformance {
namespace {

bool has_come(Dut& to, std::uint16_t port) {
    return std::ranges::any_of(to.received(), [port](const DatagramReceived& one) { return one.port == port; });
}

/// Whether the DUT tells an IPv6 address, which it may still be finding out about.
bool has_ipv6(Bench& bench) {
    constexpr int seconds = 8;
    for (int i = 0; i < seconds; ++i) {
        if (!bench.dut->interface().ipv6.empty()) return true;
        bench.pass_time(1s);
    }
    return false;
}

/// Whether the DUT's own list of neighbours has the address; an adapter without the list is believed.
bool is_neighbour(Bench& bench, const IpAddress& address) {
    if (!bench.dut->can("neighbours")) return true;
    constexpr int attempts = 6;
    for (int i = 0; i < attempts; ++i) {
        const auto all = bench.dut->neighbours();
        if (std::ranges::any_of(all, [&](const NeighbourEntry& one) { return one.address == address; })) return true;
        bench.pass_time(500ms);
    }
    return false;
}

/// The first interface sends to a group of IPv6 that the second is in, since hosts that take no IPv4 packet with an
/// address of their own as its source mostly take that. Judged where the second hears the tester there, also with that
/// source.
void sends_to_group_of(Bench& bench, Dut& twin) {
    const auto group = bench.fresh_group6();
    const auto of_tester = bench.fresh_port(), as_of_first = bench.fresh_port(), of_first = bench.fresh_port();
    bench.step("The second one listens to a group", udmc::multicast_loopback);
    bench.control6();
    const auto mlid = bench.sa.join(group).mlid();
    twin.join(group);
    for (const auto port : {of_tester, as_of_first, of_first}) twin.listen(group, port);
    const auto hears = [&](std::uint16_t port, const std::function<void()>& send) {
        constexpr int attempts = 5;
        bool has_heard = false;
        for (int i = 0; i < attempts && !has_heard; ++i) {
            send();
            bench.pass_time(500ms);
            has_heard = has_come(twin, port);
        }
        return has_heard;
    };
    const auto hears_tester = hears(of_tester, [&] { bench.send(udp_to_group(group, mlid, of_tester)); });
    bench.precondition(hears_tester, "it hears the tester there");
    // A host may drop at one interface what has the address of another one as its source, whoever has sent it.
    const auto as_first = udp_to_group(group, mlid, as_of_first).with(Ipv6::source, bench.situation().dut.ipv6);
    if (!hears(as_of_first, [&] { bench.send(as_first); }))
        bench.not_applicable("the host takes nothing that has an address of its own as its source");
    bench.step("The first one sends to it", udmc::multicast_loopback);
    const bool is_looped = hears(of_first, [&] { bench.dut.sends(group, of_first); });
    // What no queue pair should take is no fault of the adapter.
    bench.precondition(udp_from_dut(group, of_first)
                           .that_arrives()
                           .with(Grh::dgid, bench.mgid_of(group))
                           .with(Bth::dest_qp, Bth::multicast_qp)
                           .with(Deth::q_key, bench.link().q_key)
                           .with(Encap::type, EtherType::ipv6),
                       within(0ms));
    bench.require(is_looped, "the datagram at the second one", "none");
}

/// The first interface asks for the address of the second.
void asks_for(Bench& bench, const IpAddress& address) {
    if (!bench.dut->can("resolve")) bench.not_applicable("the DUT can neither be told to listen nor to resolve");
    bench.step("The first one broadcasts an ARP request for the address of the second", udmc::multicast_loopback);
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
    // A host may drop what has an address of its own as its source.
    if (is_resolved && !is_neighbour(bench, address))
        bench.not_applicable("no answer to the first interface is known, and the DUT cannot be told to listen in IPv6");
    bench.require(is_resolved, "an answer from the second interface", "none");
}

}  // namespace

const Case all_attached_queue_pairs_get_it{
    .id = "IPOIB-UDMC-VAL-003",
    .title = "Multicast is delivered to every attached queue pair, also to those of the sender's adapter",
    .checks = {&udmc::delivery_to_all_attached_qps, &udmc::multicast_loopback},
    .pass_if =
        "two interfaces of the DUT on one port and link both answer the tester's broadcasts, and one of them hears "
        "what the other sends to its group",
    .tags = {"hca", "mgid", "arp"},
    .needs = Ability::see_all,
    .dut_can = {"create_child", "delete_child", "add_address", "interface"},
    .lasts_at_most = 90s,
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

            constexpr std::array needed{"join", "listen", "received", "send"};
            const bool can_listen =
                std::ranges::all_of(needed, [&](const char* request) { return bench.dut->can(request); });
            if (can_listen && has_ipv6(bench))
                sends_to_group_of(bench, *twin);
            else
                asks_for(bench, address);
        },
};

const Case group_of_two_interfaces_is_kept{
    .id = "IPOIB-UDMC-VAL-005",
    .title = "A group that two interfaces of a port are in stays when one of them leaves",
    .checks = {&udmc::leave_after_last_detach},
    .pass_if = "after one has left the DUT's port is FullMember still",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"create_child", "delete_child", "join", "leave"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            bench.step("Two interfaces of the DUT on one link are in one group");
            const auto twin = bench.dut.has_twin();
            const auto group = bench.fresh_group();
            const auto mgid = bench.mgid_of(group);
            bench.sa.join(group);
            bench.dut->join(group);
            twin->join(group);
            bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
            bench.step("The second one leaves");
            twin->leave(group);
            bench.pass_time(2s);
            bench.require((bench.sa.join_state_of_dut(mgid) & join_state::full_member) != 0, "still FullMember",
                          "no member any more");
        },
};

}  // namespace ipoib::conformance

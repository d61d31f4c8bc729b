// SPDX-License-Identifier: GPL-2.0-or-later
// The DUT's own address changes. RFC 826: who asks tells its own address; RFC 4861, 7.2.2: and asks from it.
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {
namespace {

/// Addresses of one network that nobody uses: RFC 5737, RFC 4193.
IpNetwork in_further_network(Bench& bench) {
    constexpr std::uint32_t for_documentation = 0xc6336400;
    constexpr std::uint64_t unique_local = 0xfd49506f49429000;
    constexpr std::uint8_t prefix4 = 24, prefix6 = 64;
    if (bench.situation().is_ipv6())
        return {IpAddress::v6(Gid::of(unique_local, bench.fresh_group6().octets.interface_id())), prefix6};
    const auto host = bench.fresh_neighbour4().v4() & 0xff;
    return {IpAddress::v4(for_documentation | host), prefix4};
}

/// A question for an address of the DUT, or one that was.
Message question_for(const IpAddress& address) {
    return {"question for " + text(address), [address](Situation s) {
                if (s.is_ipv6())
                    s.dut.ipv6 = address.octets;
                else
                    s.dut.ipv4 = address.v4();
                return address_request().make(s);
            }};
}

Expectation answer_for(const IpAddress& address) {
    return {"answer for " + text(address),
            [address](const Packet& p, const Situation&) {
                if (const auto addresses = arp_addresses_of(p))
                    return p.arp[Arp::operation] == Arp::reply &&
                           IpAddress::v4(addresses[ArpAddresses::spa]) == address;
                return p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement && p.nd_target &&
                       IpAddress::v6(p.nd_target[NdTarget::target]) == address;
            },
            SeenBy::anyone};
}

/// A question for any address, from this one.
Expectation question_from(const IpAddress& address) {
    return {"question for a neighbour from " + text(address),
            [address](const Packet& p, const Situation&) {
                if (const auto addresses = arp_addresses_of(p))
                    return p.arp[Arp::operation] == Arp::request &&
                           IpAddress::v4(addresses[ArpAddresses::spa]) == address;
                return p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation && p.ipv6 &&
                       IpAddress::v6(p.ipv6[Ipv6::source]) == address;
            },
            SeenBy::anyone};
}

}  // namespace

const Case changed_address_is_asked_from{
    .id = "IPOIB-4391-9-VAL-001",
    .title = "An address that was taken away is not answered for, and nobody is asked from it",
    .checks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .pass_if =
        "when a further address of the DUT has given way to another one of its network, the DUT asks for new "
        "neighbours there, and for known ones again, not from the one that it had, and does not answer for that",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send", "add_address", "remove_address"},
    .in_both_families = true,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            const auto& judged =
                bench.situation().is_ipv6() ? rfc4391::ipv6_resolved_by_nd : rfc4391::ipv4_resolved_by_arp;
            const auto qpn = bench.situation().tester.qpn;
            const auto gid = bench.situation().tester.gid;
            const bool is_no_router = bench.stops_routing();
            const auto former = in_further_network(bench);
            bench.step("The DUT gets a further address, and answers for it");
            if (!bench.dut.takes_address(former)) bench.not_applicable("the DUT takes no further address");
            // In IPv6 it finds out first whether it is unique.
            bench.pass_time(3s);
            bench.send_until(question_for(former.address), answer_for(former.address), within(2s));
            bench.precondition(answer_for(former.address), within(0ms));

            bench.step("It asks for a neighbour in that network, which answers");
            const PlayedPeer known{in_further_network(bench).address, gid, qpn};
            const auto port = bench.fresh_port();
            bench.precondition(resolves_and_sends(bench, known, port), "the DUT asks for the neighbour");
            bench.precondition(udp_from_dut(known.address, port).sent_anywhere(), within(5s));

            bench.step("The address gives way to another one of the network", judged);
            constexpr unsigned reachable = 2;
            const bool asks_again = bench.dut->can("timers");
            if (asks_again) bench.dut->timers(reachable, 0, 0);
            bench.dut->remove_address(former);
            if (!bench.dut.takes_address(in_further_network(bench)))
                bench.not_applicable("the DUT does not take another address");
            bench.pass_time(stated(std::chrono::seconds{3 * reachable}));

            bench.step("It asks for another neighbour there, and for the known one again", judged);
            const auto unknown = in_further_network(bench).address;
            if (bench.situation().is_ipv6()) bench.sa.join(IpAddress::v6(solicited_node_group(unknown.octets)));
            const auto of_unknown = address_request_for(unknown).sent_anywhere();
            bench.dut.tries_to_send(unknown, bench.fresh_port());
            bench.precondition(of_unknown, within(5s));
            bench.dut.tries_to_send(known.address, bench.fresh_port());
            // Linux sends on and asks meanwhile, up to 5 s later.
            if (asks_again && !bench.happens(address_request_for(known.address).sent_anywhere(), within(15s)))
                bench.note("the DUT does not ask for the known neighbour again");
            bench.forbid_so_far(question_from(former.address));

            // A router may answer for those behind it: RFC 1027, RFC 4389.
            if (!is_no_router) return;
            bench.step("The tester asks for the address that it had", judged);
            bench.control();
            bench.send(question_for(former.address));
            bench.forbid(answer_for(former.address), within(2s));
            if (!bench.situation().is_ipv6()) return;
            bench.send(unicast_neighbour_solicitation().with(NdTarget::target, former.address.octets));
            bench.forbid(answer_for(former.address), within(2s));
        },
};

}  // namespace ipoib::conformance

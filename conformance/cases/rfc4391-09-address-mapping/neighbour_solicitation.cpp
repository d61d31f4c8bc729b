// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4391-09-address-mapping/silent_neighbour.hpp"

namespace ipoib::conformance {
namespace {

constexpr std::uint8_t only_from_the_link = 255;
constexpr std::uint32_t solicited_flag = 0x40000000;

/// RFC 4861, 7.2.4 and 7.1.2: what an answer must say to be taken.
Expectation answer_of(const Expectation& advertisement, bool is_to_all) {
    return advertisement.with(Ipv6::hop_limit, only_from_the_link)
        .where(
            Icmpv6::body,
            [is_to_all](std::uint32_t flags, const Situation&) { return ((flags & solicited_flag) != 0) != is_to_all; },
            is_to_all ? "without the Solicited flag" : "with the Solicited flag");
}

/// RFC 4861, 4.6: who does not know an option goes on behind it.
Message among_unknown_options() {
    return unicast_neighbour_solicitation().edited(" among unknown options", [](build::PacketBuilder& packet) {
        constexpr std::array<std::uint8_t, 8> nonce{14, 1, 1, 2, 3, 4, 5, 6}, unknown{200, 1};
        const auto option = packet.from(spec_of<LinkAddressOption>);
        const std::vector<std::uint8_t> known(option.begin(), option.end());
        packet.remove<LinkAddressOption>().add(Octets{nonce}).add(Octets{known}).add(Octets{unknown});
    });
}

Expectation advertisement_to_all() {
    return {"Neighbour Advertisement to all nodes", [](const Packet& p, const Situation& s) {
                return p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement && p.nd_target &&
                       p.nd_target[NdTarget::target] == s.dut.ipv6 && p.ipv6 &&
                       p.ipv6[Ipv6::destination] == Bench::all_nodes(Family::ipv6).octets;
            }};
}

Expectation advertisement_of(const IpAddress& address) {
    return {"Neighbour Advertisement of " + text(address), [address](const Packet& p, const Situation&) {
                return p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement && p.nd_target &&
                       p.nd_target[NdTarget::target] == address.octets;
            }};
}

}  // namespace

const Case neighbour_solicitation_is_sent{
    .id = "IPOIB-4391-9.3-VAL-002",
    .title = "IPv6 addresses are resolved by Neighbour Discovery",
    .checks = {&rfc4391::ipv6_resolved_by_nd},
    .pass_if =
        "the DUT answers a solicitation, one with unknown options and one without a source, in a way that is taken; it "
        "answers for nobody else, and none that came from beyond the link; with an empty cache it solicits the tester "
        "in its solicited-node group, and one that nobody had asks for again later",
    .tags = {"nd", "ipv6"},
    .dut_can = {"flush_neighbours", "resolve"},
    .lasts_at_most = 70s,
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
            bench.inspect(answer_of(neighbour_advertisement(), false), within(0s));
            bench.step("A solicitation with options that it does not know is answered");
            bench.send(among_unknown_options());
            bench.require(neighbour_advertisement(), within(2s));
            // RFC 4861, 4.3: asked alone, it may be left without the link-layer address of who asks.
            bench.step("A solicitation to the DUT alone without a link-layer address is answered");
            bench.send_until(unicast_neighbour_solicitation().without<LinkAddressOption>(), neighbour_advertisement(),
                             within(3s));
            bench.require(neighbour_advertisement(), within(0s));
            bench.step("Who asks without an address is answered by what all nodes hear");
            const auto solicited = bench.sa.join(IpAddress::v6(solicited_node_group(bench.situation().dut.ipv6)));
            bench.sa.join(Bench::all_nodes(Family::ipv6));
            const auto defence = advertisement_to_all();
            const auto probe =
                neighbour_solicitation(solicited.mlid()).with(Ipv6::source, {}).without<LinkAddressOption>();
            bench.send(probe);
            if (!bench.happens(defence, within(2s))) {
                (void)bench.dut.is_reached();
                bench.send_until(probe, defence, within(2s));
            }
            bench.require(answer_of(defence, true), within(0s));
            bench.step("Solicitations for another's address, and from beyond the link, are not answered");
            bench.control();
            // A router may answer for those behind it: RFC 4389.
            if (bench.stops_routing()) {
                const auto other = bench.fresh_neighbour6();
                bench.send(unicast_neighbour_solicitation().with(NdTarget::target, other.octets));
                bench.forbid(advertisement_of(other), within(1s));
            }
            constexpr std::uint8_t usual_hop_limit = 64;
            bench.send(unicast_neighbour_solicitation().with(Ipv6::hop_limit, usual_hop_limit));
            bench.forbid(neighbour_advertisement(), within(1s));
            bench.step("It solicits an address that it does not know");
            const auto question = to_a_group(neighbour_solicitation_for(tester));
            bench.dut->flush_neighbours();
            bench.dut.resolves(IpAddress::v6(tester));
            bench.dut.maps_rightly(IpAddress::v6(solicited_node_group(tester)));
            bench.require(question, within(5s));
            // RFC 4861, 7.2.2.
            bench.inspect(question.with(Ipv6::destination, solicited_node_group(tester))
                              .with(Ipv6::hop_limit, only_from_the_link),
                          within(1s));
            asks_for_silent_again(bench, bench.fresh_neighbour6(), rfc4391::ipv6_resolved_by_nd);
        },
};

}  // namespace ipoib::conformance

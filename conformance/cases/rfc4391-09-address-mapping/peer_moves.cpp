// SPDX-License-Identifier: GPL-2.0-or-later
// Peers that share a GID, that move, and whose paths change.
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// An address that the tester plays, with what it says of itself.
struct PlayedPeer {
    IpAddress address;
    Gid gid;
    std::uint32_t qpn = 0;
};

/// The DUT hears of the peer, by a question for its own address.
void tells_of(Bench& bench, const PlayedPeer& peer) {
    bench.send(address_request_from(peer.address)
                   .with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, peer.gid)
                   .with_either(ArpAddresses::sha_qpn, LinkAddressOption::qpn, peer.qpn)
                   .with(Deth::src_qp, bench.situation().tester.qpn));
    bench.pass_time(500ms);
}

/// The DUT sends a datagram to the peer, which tells of itself once more where none comes. INCONC without one.
Expectation datagram_to(Bench& bench, const PlayedPeer& peer) {
    const auto port = bench.fresh_port();
    const auto datagram = udp_from_dut(peer.address, port).sent_anywhere();
    bench.dut.sends(peer.address, port);
    if (!bench.happens(datagram, within(2s))) {
        tells_of(bench, peer);
        bench.dut.sends(peer.address, port);
    }
    bench.precondition(datagram, within(3s));
    return datagram;
}

/// A peer at a GID that the SA knows a path to, the tester's, and nobody has asked for yet.
PlayedPeer new_peer(Bench& bench, const IpAddress& address, std::uint32_t qpn) {
    const auto gid = bench.fabric.peer_never_seen();
    if (!gid) bench.not_applicable("the fabric cannot give the tester another GID");
    return {address, *gid, qpn};
}

/// Whether the DUT sends to the peer, some time after it could not.
bool sends_at_last(Bench& bench, const PlayedPeer& peer) {
    for (int i = 0; i < 10; ++i) {
        const auto port = bench.fresh_port();
        tells_of(bench, peer);
        bench.dut.sends(peer.address, port);
        if (bench.happens(udp_from_dut(peer.address, port).sent_anywhere(), within(2s))) return true;
    }
    bench.control();
    return false;
}

}  // namespace

const Case addresses_at_one_gid_are_kept_apart{
    .id = "IPOIB-4391-9.1.1-VAL-005",
    .title = "Two addresses at one GID are reached by the QPN of each",
    .checks = {&rfc4391::ip_to_advertised_qpn},
    .pass_if = "datagrams for two addresses that told the same GID with different QPNs go to the QPN of each",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            const PlayedPeer first{bench.fresh_neighbour(), tester.gid, tester.qpn ^ 0x000400};
            const PlayedPeer second{bench.fresh_neighbour(), tester.gid, tester.qpn ^ 0x000500};
            bench.step("Two interfaces at the tester's GID tell of themselves");
            bench.control();
            for (const auto& peer : {first, second}) tells_of(bench, peer);
            for (const auto& peer : {first, second, first})
                bench.inspect(datagram_to(bench, peer).with(Bth::dest_qp, peer.qpn), within(0ms));
        },
};

const Case peer_that_moves_is_followed{
    .id = "IPOIB-4391-9.1.1-VAL-006",
    .title = "IP goes to the link-layer address that a peer has told last, at another GID and back",
    .checks = {&rfc4391::ip_to_advertised_qpn},
    .pass_if =
        "after a peer told another GID and QPN the DUT's datagrams go to that QPN, and to the first one when it is "
        "told again",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto qpn = bench.situation().tester.qpn;
            const auto address = bench.fresh_neighbour();
            const auto here = new_peer(bench, address, qpn ^ 0x000600);
            const auto there = new_peer(bench, address, qpn ^ 0x000700);
            bench.step("A peer tells of itself");
            tells_of(bench, here);
            bench.precondition(datagram_to(bench, here), within(0ms));
            for (const auto& [title, peer] :
                 {std::pair{"It has moved to another port", there}, std::pair{"It is back", here}}) {
                bench.step(title);
                // What was told a moment ago is not replaced at once: Linux has a second (locktime).
                bench.pass_time(2s);
                tells_of(bench, peer);
                bench.inspect(datagram_to(bench, peer).with(Bth::dest_qp, peer.qpn), within(0ms));
            }
        },
};

const Case path_is_asked_for_again{
    .id = "IPOIB-4391-9.1.2-VAL-005",
    .title = "A path that was refused, or whose answer was lost, is asked for again",
    .checks = {&rfc4391::lid_by_iba_methods},
    .pass_if =
        "once the SA knows the path, and once it answers again, the DUT's later datagrams for the peer are sent. NA "
        "where it asks for no path",
    .tags = {"sa", "arp", "nd", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            const auto is_asked_for = [&](const PlayedPeer& peer) {
                tells_of(bench, peer);
                bench.dut.sends(peer.address, bench.fresh_port());
                bench.pass_time(1s);
                return bench.count(path_question_about(peer.gid)) != 0;
            };
            const auto unknown = new_peer(bench, bench.fresh_neighbour(), tester.qpn);
            bench.step("The SA knows no path to a peer");
            bench.fabric.change(SetPath{unknown.gid});
            if (!is_asked_for(unknown)) bench.not_applicable("the DUT asks for no path");
            bench.pass_time(2s);
            bench.step("It knows one now");
            bench.fabric.change(SetPath{unknown.gid, tester.lid});
            bench.require(sends_at_last(bench, unknown), "a datagram to the peer", "none");

            const auto unheard = new_peer(bench, bench.fresh_neighbour(), tester.qpn);
            bench.step("The SA does not answer");
            bench.fabric.change(SetSa{.is_silent = true});
            bench.precondition(is_asked_for(unheard), "the DUT asks for the path");
            bench.pass_time(3s);
            bench.step("It answers again");
            bench.fabric.change(SetSa{.resets = true});
            bench.require(sends_at_last(bench, unheard), "a datagram to the peer", "none");
        },
};

const Case changed_path_is_used{
    .id = "IPOIB-4391-9.1.2-VAL-006",
    .title = "A path that has changed is used when the subnet manager has asked the DUT to reregister",
    .checks = {&rfc4391::lid_by_iba_methods},
    .pass_if = "after a reregistration the DUT's datagrams for a peer go to the LID that the SA tells for it now",
    .tags = {"sa", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control | Ability::two_ports,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            const auto peer = new_peer(bench, bench.fresh_neighbour(), tester.qpn);
            const auto other_lid = bench.tester.second_node().lid;
            bench.step("The DUT sends to a peer at the tester's port");
            tells_of(bench, peer);
            bench.precondition(datagram_to(bench, peer)
                                   .such_that("to the tester's LID",
                                              [lid = tester.lid](const Packet& p, const Situation&) {
                                                  return p.lrh && p.lrh[Lrh::dlid] == lid;
                                              }),
                               within(0ms));
            if (bench.count(path_question_about(peer.gid)) == 0) bench.not_applicable("the DUT asks for no path");
            bench.step("The peer's path leads to another LID, and every port is asked to reregister");
            bench.fabric.change(SetPath{peer.gid, other_lid});
            bench.fabric.change(SetManager{.keeps_state = true});
            bench.tester.enter_link_again();
            bench.pass_time(5s);
            bench.inspect(datagram_to(bench, peer).with(Lrh::dlid, other_lid), within(0ms));
        },
};

}  // namespace ipoib::conformance

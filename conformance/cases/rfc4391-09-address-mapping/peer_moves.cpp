// SPDX-License-Identifier: GPL-2.0-or-later
// Peers that share a GID, that move, and whose paths change.
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {

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
                makes_known(bench, peer);
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
    .lasts_at_most = 160s,
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
            recommend_going_on(bench, unknown);
            bench.require(sends_at_last(bench, unknown), "a datagram to the peer", "none");

            const auto unheard = new_peer(bench, bench.fresh_neighbour(), tester.qpn);
            bench.step("The SA does not answer");
            bench.fabric.change(SetSa{.is_silent = true});
            bench.precondition(is_asked_for(unheard), "the DUT asks for the path");
            bench.pass_time(3s);
            bench.step("It answers again");
            bench.fabric.change(SetSa{.resets = true});
            recommend_going_on(bench, unheard);
            bench.require(sends_at_last(bench, unheard), "a datagram to the peer", "none");
        },
};

const Case first_packet_waits_for_path{
    .id = "IPOIB-4391-9.1.2-VAL-007",
    .title = "What is sent to a peer whose path is unknown waits for the path",
    .checks = {&rfc4391::lid_by_iba_methods, &rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .pass_if =
        "the first datagram for a peer that the DUT has heard of, and its answer to the first question of another, are "
        "sent when the SA has told the path. WARN where only later ones are",
    .tags = {"sa", "arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto qpn = bench.situation().tester.qpn;
            const auto recommend = [&](bool is_first, bool is_later, const std::string& what) {
                bench.require(is_first || is_later, what, "none");
                bench.recommend_sent(is_first, what + " at once", "a later one only");
            };
            bench.step("The tester asks for the DUT's address");
            const auto usual = answer_to(bench.situation().tester_address());
            bench.send_until(address_request(), usual, within(2s));
            bench.precondition(usual, within(0ms));
            constexpr auto first_title = "A peer asks for the DUT's address";
            if (bench.situation().is_ipv6())
                bench.step(first_title, rfc4391::ipv6_resolved_by_nd);
            else
                bench.step(first_title, rfc4391::ipv4_resolved_by_arp);
            const auto asking = new_peer(bench, bench.fresh_neighbour(), qpn);
            const auto question = address_request_from(asking.address)
                                      .with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, asking.gid);
            const auto answer = answer_to(asking.address);
            bench.control();
            bench.send(question);
            const bool is_answered = bench.happens(answer, within(3s));
            if (!is_answered) bench.send_until(question, answer, within(2s));
            recommend(is_answered, bench.happens(answer, within(0ms)), "an answer");

            bench.step("The DUT sends to a peer that has just answered it", rfc4391::lid_by_iba_methods);
            const auto peer = new_peer(bench, bench.fresh_neighbour(), qpn);
            const auto port = bench.fresh_port();
            const auto datagram = udp_from_dut(peer.address, port).sent_anywhere();
            bench.precondition(resolves_and_sends(bench, peer, port), "the DUT asks for the peer's address");
            const bool is_sent = bench.happens(datagram, within(3s));
            recommend(is_sent, is_sent || sends_at_last(bench, peer), "a datagram to the peer");
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
    .lasts_at_most = 130s,
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
            recommend_going_on(bench, peer);
            const auto datagram = sent_at_last(bench, peer);
            bench.require(datagram.has_value(), "a datagram to the peer", "none");
            bench.require(datagram->with(Lrh::dlid, other_lid), within(0ms));
        },
};

}  // namespace ipoib::conformance

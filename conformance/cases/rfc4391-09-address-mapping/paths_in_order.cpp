// SPDX-License-Identifier: GPL-2.0-or-later
// Two paths that are asked for at once. IBTA Vol 1, 13.4.6.4: an answer belongs to the question with its TransactionID.
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {
namespace {

/// A peer with its port's LID, where its path leads.
struct PeerAt {
    PlayedPeer peer;
    std::uint16_t lid = 0;
};

PeerAt new_peer_at(Bench& bench, std::uint16_t lid) {
    const auto peer = new_peer(bench, bench.fresh_neighbour(), bench.situation().tester.qpn);
    bench.fabric.change(SetPath{peer.gid, lid});
    return {peer, lid};
}

void tells_of(Bench& bench, const PeerAt& at) {
    tells_of(bench, at.peer, address_request_from(at.peer.address).with(Lrh::slid, at.lid));
}

/// The DUT is told of a peer, and to send to it: it needs the path now.
void needs_path(Bench& bench, const PeerAt& at) {
    tells_of(bench, at);
    bench.dut.tries_to_send(at.peer.address, bench.fresh_port());
}

/// A datagram of the DUT to the peer, which tells of itself once more where none comes. INCONC without one.
Expectation datagram_to(Bench& bench, const PeerAt& at) {
    const auto port = bench.fresh_port();
    auto datagram = udp_from_dut(at.peer.address, port).sent_anywhere();
    bench.dut.tries_to_send(at.peer.address, port);
    if (!bench.happens(datagram, within(2s))) {
        tells_of(bench, at);
        bench.dut.tries_to_send(at.peer.address, port);
    }
    bench.precondition(datagram, within(3s));
    return datagram;
}

void go_to_their_lids(Bench& bench, const std::vector<PeerAt>& peers) {
    bench.fabric.change(SetSa{.resets = true});
    bench.pass_time(5s);
    for (const auto& at : peers) {
        const auto datagram = datagram_to(bench, at);
        if (bench.count(path_question_about(at.peer.gid)) == 0) bench.not_applicable("the DUT asks for no path");
        bench.inspect(datagram.with(Lrh::dlid, at.lid), within(0ms));
    }
}

}  // namespace

const Case paths_are_not_mixed_up{
    .id = "IPOIB-4391-9.1.2-VAL-009",
    .title = "The path that the SA tells for one peer is not used for another one that was asked for at the same time",
    .checks = {&rfc4391::lid_by_iba_methods},
    .pass_if =
        "where the paths to two peers at two LIDs are asked for at once, and the SA answers the second question first, "
        "or the first one late, the DUT's datagrams for each go to its own LID. NA where it asks for no path",
    .tags = {"sa", "arp", "nd", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control | Ability::two_ports,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            const auto here = bench.situation().tester.lid, there = bench.tester.second_node().lid;
            {
                const auto first = new_peer_at(bench, here), second = new_peer_at(bench, there);
                bench.step("The first question is lost, the second one answered");
                bench.fabric.change(SetSa{.drop_next = 1});
                needs_path(bench, first);
                needs_path(bench, second);
                go_to_their_lids(bench, {first, second});
            }
            {
                const auto first = new_peer_at(bench, here), second = new_peer_at(bench, there);
                bench.step("The first answer comes when the second one is waited for");
                // Linux gives a question up after a second.
                bench.fabric.change(SetSa{.delay = 1300ms});
                needs_path(bench, first);
                bench.pass_time(500ms);
                needs_path(bench, second);
                go_to_their_lids(bench, {first, second});
            }
        },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Peers that the tester plays at its port, each with an address, a GID and a QPN of its own.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// An address that the tester plays, with what it says of itself.
struct PlayedPeer {
    IpAddress address;
    Gid gid;
    std::uint32_t qpn = 0;
};

/// What the DUT answers who asks for its address, by whatever address.
inline Expectation answer_to(const IpAddress& asking) {
    return {"answer about its address to " + text(asking),
            [asking](const Packet& p, const Situation& s) {
                if (const auto addresses = arp_addresses_of(p))
                    return p.arp[Arp::operation] == Arp::reply && addresses[ArpAddresses::spa] == s.dut.ipv4 &&
                           IpAddress::v4(addresses[ArpAddresses::tpa]) == asking;
                return p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement &&
                       IpAddress::v6(p.ipv6[Ipv6::destination]) == asking;
            },
            SeenBy::anyone};
}

/// The DUT hears of the peer, by a question for its own address.
inline void tells_of(Bench& bench, const PlayedPeer& peer, const Message& question) {
    bench.send(question.with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, peer.gid)
                   .with_either(ArpAddresses::sha_qpn, LinkAddressOption::qpn, peer.qpn)
                   .with(Deth::src_qp, bench.situation().tester.qpn));
    bench.pass_time(500ms);
}
inline void tells_of(Bench& bench, const PlayedPeer& peer) {
    tells_of(bench, peer, address_request_from(peer.address));
}
/// And again where it gives no answer: packets are lost, and what the DUT has not heard binds it to nothing.
inline void makes_known(Bench& bench, const PlayedPeer& peer) {
    const auto answer = answer_to(peer.address);
    const auto before = bench.count(answer);
    for (int i = 0; i < 3 && bench.count(answer) == before; ++i) tells_of(bench, peer);
}
/// And, as any neighbour does, by one to all where the queue pair that is known of the DUT does not answer.
inline void tells_of_anew(Bench& bench, const PlayedPeer& peer) {
    const auto answer = answer_to(peer.address);
    const auto before = bench.count(answer);
    tells_of(bench, peer);
    if (bench.situation().is_ipv6() && bench.count(answer) == before)
        tells_of(bench, peer, bench.address_request_to_group().with(Ipv6::source, peer.address.octets));
}

/// The DUT sends a datagram to the peer, which tells of itself once more where none comes. INCONC without one.
inline Expectation datagram_to(Bench& bench, const PlayedPeer& peer) {
    const auto port = bench.fresh_port();
    auto datagram = udp_from_dut(peer.address, port).sent_anywhere();
    bench.dut.sends(peer.address, port);
    if (!bench.happens(datagram, within(2s))) {
        tells_of(bench, peer);
        bench.dut.sends(peer.address, port);
    }
    bench.precondition(datagram, within(3s));
    return datagram;
}

/// A peer at a GID that the SA knows a path to, the tester's, and nobody has asked for yet.
inline PlayedPeer new_peer(Bench& bench, const IpAddress& address, std::uint32_t qpn) {
    const auto gid = bench.fabric.peer_never_seen();
    if (!gid) bench.not_applicable("the fabric cannot give the tester another GID");
    // Where it can be asked for its address.
    if (bench.situation().is_ipv6()) bench.sa.join(IpAddress::v6(solicited_node_group(address.octets)));
    return {address, *gid, qpn};
}

/// Whether the DUT sends to a peer that says nothing, or at least asks for its address anew: it has what it needs, or
/// can find it out.
inline bool goes_on_by_itself(Bench& bench, const PlayedPeer& peer) {
    const auto question = address_request_for(peer.address).sent_anywhere();
    const auto before = bench.count(question);
    for (int i = 0; i < 8; ++i) {
        const auto port = bench.fresh_port();
        // With a queue that is full it refuses what it has no way for.
        bench.dut.tries_to_send(peer.address, port);
        if (bench.happens(udp_from_dut(peer.address, port).sent_anywhere(), within(1500ms))) return true;
        if (bench.count(question) != before) return true;
    }
    return false;
}
/// WARN where it does not.
inline void recommend_going_on(Bench& bench, const PlayedPeer& peer) {
    bench.recommend_sent(goes_on_by_itself(bench, peer), "a datagram to the peer, or a question for its address",
                         "neither while the peer said nothing");
}

/// A datagram of the DUT to the peer, some time after it could send none.
inline std::optional<Expectation> sent_at_last(Bench& bench, const PlayedPeer& peer) {
    for (int i = 0; i < 10; ++i) {
        const auto port = bench.fresh_port();
        const auto datagram = udp_from_dut(peer.address, port).sent_anywhere();
        tells_of_anew(bench, peer);
        bench.dut.tries_to_send(peer.address, port);
        if (bench.happens(datagram, within(2s))) return datagram;
    }
    bench.control();
    return {};
}
inline bool sends_at_last(Bench& bench, const PlayedPeer& peer) { return sent_at_last(bench, peer).has_value(); }

/// The DUT sends to the peer, asks for its address, and is answered: its datagram then waits for the path only. Whether
/// it asked. What is changed of the SA comes before the answer.
inline bool resolves_and_sends(Bench& bench, const PlayedPeer& peer, std::uint16_t port,
                               const std::optional<SetSa>& before_answer = {}) {
    if (bench.situation().is_ipv6()) bench.sa.join(IpAddress::v6(solicited_node_group(peer.address.octets)));
    bench.dut.sends(peer.address, port);
    if (!bench.happens(address_request_for(peer.address).sent_anywhere(), within(3s))) return false;
    if (before_answer) bench.fabric.change(*before_answer);
    if (bench.situation().is_ipv6())
        bench.send(unasked_neighbour_advertisement()
                       .with(Ipv6::source, peer.address.octets)
                       .with(NdTarget::target, peer.address.octets)
                       .with(LinkAddressOption::gid, peer.gid));
    else
        bench.send(
            unasked_arp_reply().with(ArpAddresses::spa, peer.address.v4()).with(ArpAddresses::sha_gid, peer.gid));
    return true;
}

}  // namespace ipoib::conformance

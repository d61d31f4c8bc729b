// SPDX-License-Identifier: GPL-2.0-or-later
// What goes over connections: IP in messages, which wait in a ring until they are acknowledged. RFC 4755, 5 and 7; IBTA
// Vol 1, 9.7.
#include "protocol/build/connection.hpp"
#include "stack/connected.hpp"
#include "stack/framing.hpp"
#include "stack/interface.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t psn_mask = 0xffffff, half_of_psns = 0x800000;
constexpr unsigned most_repeats = 3;
constexpr fabric::Duration answer_is_due = 1s;
/// No connection is worth less: RFC 791, 3.2.
constexpr std::size_t least_connection_mtu = 68;
/// AETH.Syndrome: what its upper bits say. IBTA Vol 1, 9.7.5.2.1.
constexpr std::uint8_t kind_mask = 0x60, kind_ack = 0x00, kind_not_ready = 0x20;

/// Whether a PSN is not behind another.
constexpr bool is_up_to(std::uint32_t psn, std::uint32_t other) noexcept {
    return ((other - psn) & psn_mask) < half_of_psns;
}

/// RFC 4755, 7: address resolution stays with datagrams.
bool is_resolution(EtherType protocol, Octets datagram) noexcept {
    const auto ip = View<Ipv6>::at(datagram);
    if (protocol != EtherType::ipv6 || !ip || ip[Ipv6::next_header] != IpProtocol::icmpv6) return false;
    const auto message = View<Icmpv6>::at(datagram.subspan(Ipv6::size));
    return message && (message[Icmpv6::type] == Icmpv6Type::neighbour_solicitation ||
                       message[Icmpv6::type] == Icmpv6Type::neighbour_advertisement);
}

HardwareAddress address_of(HardwareAddress peer, std::uint32_t ud_qpn) noexcept {
    return peer.set(LinkAddress::flags, 0).set(LinkAddress::qpn, ud_qpn);
}

}  // namespace

/// The connection with a peer that unicast goes over, or waits for in vain.
Connections::All::const_iterator Connections::way_to(const HardwareAddress& peer, std::uint32_t ud_qpn,
                                                     Family family) const {
    const auto& policy = interface_.policy(family);
    const auto address = address_of(peer, ud_qpn);
    return std::find_if(all_.begin(), all_.end(), [&](const auto& item) {
        const auto& connection = item.second;
        if (connection.peer.octets != address.octets) return false;
        if (connection.state == State::refused)
            return policy.without_connection(connection.was_rejected) == Unconnected::silence;
        return connection.state == State::established && policy.sends_over_connection(connection.is_requester) &&
               policy.connection_mtu(connection.own_receive_mtu, connection.receive_mtu) >= least_connection_mtu;
    });
}

std::optional<std::size_t> Connections::mtu_to(const HardwareAddress& peer, std::uint32_t ud_qpn, Family family) const {
    if (!is_enabled_) return {};
    const auto found = way_to(peer, ud_qpn, family);
    if (found == all_.end() || found->second.state != State::established) return {};
    return interface_.policy(family).connection_mtu(found->second.own_receive_mtu, found->second.receive_mtu);
}

bool Connections::send(const HardwareAddress& peer, std::uint32_t ud_qpn, EtherType protocol, Octets datagram) {
    if (!is_enabled_ || is_resolution(protocol, datagram)) return false;
    const auto family = family_of(protocol);
    const auto way = way_to(peer, ud_qpn, family);
    if (way == all_.end()) return false;
    const auto found = all_.find(way->first);
    auto& connection = found->second;
    const auto& policy = interface_.policy(family);
    const auto mtu = policy.connection_mtu(connection.own_receive_mtu, connection.receive_mtu);
    if (connection.state != State::established || connection.is_over || connection.is_stopped || datagram.size() > mtu)
        return true;
    if (connection.ring.size() >= most_in_flight) {
        connection.is_stopped = true;
        connection.is_over = policy.full_ring == FullRing::ends_the_peer;
        return true;
    }
    const auto* path = interface_.paths().find(peer[LinkAddress::gid]);
    const Path way_there{.lid = connection.lid, .sl = path ? path->sl : interface_.link().sl};
    auto packet = unicast_packet(interface_, {peer[LinkAddress::gid], ud_qpn}, way_there, protocol, datagram);
    Connection::Message message;
    for (const auto& one : build::message_over_connection(std::move(packet), connection.remote_qpn, connection.next_psn,
                                                          connection.path_mtu)) {
        message.last_psn = connection.next_psn;
        connection.next_psn = (connection.next_psn + 1) & psn_mask;
        message.packets.emplace_back(Octets{one.build()});
    }
    const auto packets = message.packets;
    connection.ring.push_back(std::move(message));
    if (!connection.repeat_timer) await_answer(found->first, connection);
    for (const auto& one : packets) interface_.transmit_frame(one);
    return true;
}

void Connections::await_answer(std::uint32_t local_id, Connection& connection) {
    interface_.loop().cancel(connection.repeat_timer);
    connection.repeat_timer = {};
    if (connection.ring.empty()) return;
    connection.repeat_timer =
        interface_.loop().after(answer_is_due, lifetime_.guard([this, local_id] { repeat(local_id); }));
}

/// A refusal says too that all before it has come. IBTA Vol 1, 9.7.5.2.
void Connections::answered(std::uint32_t local_id, std::uint32_t psn, std::uint8_t syndrome) {
    const auto found = all_.find(local_id);
    if (found == all_.end()) return;
    auto& connection = found->second;
    const auto kind = syndrome & kind_mask;
    const auto last = kind == kind_ack ? psn : (psn - 1) & psn_mask;
    auto& ring = connection.ring;
    const auto before = ring.size();
    while (!ring.empty() && is_up_to(ring.front().last_psn, last)) ring.pop_front();
    if (ring.size() <= most_in_flight / 2 && interface_.policy().full_ring == FullRing::waits)
        connection.is_stopped = false;
    if (kind != kind_ack && kind != kind_not_ready && syndrome != build::sequence_error) return is_lost(found);
    if (ring.size() == before) return;
    connection.repeats = 0;
    await_answer(local_id, connection);
}

/// What was not acknowledged is sent again, from the first on.
void Connections::repeat(std::uint32_t local_id) {
    const auto found = all_.find(local_id);
    if (found == all_.end()) return;
    auto& connection = found->second;
    connection.repeat_timer = {};
    if (connection.ring.empty() || connection.is_over) return;
    if (++connection.repeats > most_repeats) return is_lost(found);
    await_answer(local_id, connection);
    const auto ring = connection.ring;
    for (const auto& message : ring)
        for (const auto& packet : message.packets) interface_.transmit_frame(packet);
}

/// Nobody is at the other end: the next datagram begins anew.
void Connections::is_lost(All::iterator at) {
    if (!interface_.policy().gives_up_lost) {
        at->second.is_over = true;
        at->second.ring.clear();
        return;
    }
    interface_.log("the connection with " + text(at->second.peer) + " is lost");
    say_goodbye(at->first, at->second);
    drop(at);
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Connected mode: which connections there are, and when one is begun or ended.
#include "stack/connected.hpp"

#include "stack/interface.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

namespace {

/// StartingPSN of the messages that this end sends: what the peer begins with. IBTA Vol 1, 12.7.31.
constexpr std::uint32_t first_psn = 0;

constexpr unsigned most_tries = 3;
constexpr fabric::Duration between_tries = 1s, after_refusal = 30s;

/// REJ:Reason. IBTA Vol 1, 12.6.7.2.
constexpr std::uint16_t no_queue_pair = 1, consumer_reject = 28;

HardwareAddress without_flags(HardwareAddress address) noexcept { return address.set(LinkAddress::flags, 0); }

}  // namespace

Connections::~Connections() {
    while (!all_.empty()) drop(all_.begin());
}

void Connections::disable() {
    is_enabled_ = false;
    close();
}

Connections::All::iterator Connections::with(const HardwareAddress& peer) {
    return std::find_if(all_.begin(), all_.end(),
                        [&](const auto& item) { return item.second.peer.octets == peer.octets; });
}

/// A connection by both communication IDs; the remote one may not be known yet.
Connections::All::iterator Connections::answered_by(std::uint32_t local_id, std::uint32_t remote_id) {
    const auto found = all_.find(local_id);
    if (found == all_.end()) return found;
    const auto known = found->second.remote_id;
    return known == 0 || remote_id == 0 || known == remote_id ? found : all_.end();
}

Connections::All::iterator Connections::with(const HardwareAddress& peer, State state) {
    return std::find_if(all_.begin(), all_.end(), [&](const auto& item) {
        return item.second.peer.octets == peer.octets && item.second.state == state;
    });
}

std::size_t Connections::count(State state) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(all_.begin(), all_.end(), [&](const auto& item) { return item.second.state == state; }));
}

std::optional<Connections::State> Connections::state_with(HardwareAddress peer) const {
    peer.set(LinkAddress::flags, 0);
    for (const auto& [id, connection] : all_)
        if (connection.peer.octets == peer.octets) return connection.state;
    return {};
}

Connections::All::iterator Connections::make(State state, const HardwareAddress& peer, std::uint16_t lid) {
    if (all_.size() >= most_connections) return all_.end();
    const bool is_requester = state == State::requesting;
    const auto receive_mtu = interface_.policy().receive_mtu(interface_.mtu());
    auto* queue_pair = interface_.create_queue_pair(is_requester, receive_mtu);
    if (!queue_pair) return all_.end();
    const auto id = interface_.next_communication_id();
    queue_pair->answered =
        lifetime_.guard([this, id](std::uint32_t psn, std::uint8_t syndrome) { answered(id, psn, syndrome); });
    const Connection made{.state = state,
                          .is_requester = is_requester,
                          .peer = peer,
                          .lid = lid,
                          .queue_pair = queue_pair,
                          .timer = {},
                          .own_receive_mtu = receive_mtu,
                          .path_mtu = mtu_octets(interface_.link().mtu)};
    return all_.try_emplace(id, made).first;
}

void Connections::drop(All::iterator at) {
    interface_.loop().cancel(at->second.timer);
    interface_.loop().cancel(at->second.repeat_timer);
    if (at->second.queue_pair) interface_.destroy_queue_pair(at->second.queue_pair);
    all_.erase(at);
}

/// RFC 4755, 3.1: the flags of both sides tell whether there can be a connection. To begin one is each side's choice.
void Connections::wanted(const HardwareAddress& peer, std::uint32_t ud_qpn) {
    if (!interface_.policy().begins_connection(is_enabled_, peer[LinkAddress::flags])) return;
    auto address = without_flags(peer);
    address.set(LinkAddress::qpn, ud_qpn);
    if (with(address) != all_.end()) return;
    const auto* path = interface_.paths().find(address[LinkAddress::gid]);
    if (!path) return;
    if (const auto made = make(State::requesting, address, path->lid); made != all_.end()) send_again(made->first);
}

/// REQ and REP are repeated until they are answered.
void Connections::send_again(std::uint32_t local_id) {
    const auto found = all_.find(local_id);
    if (found == all_.end()) return;
    auto& connection = found->second;
    connection.timer = {};
    const bool is_spent = connection.sent >= most_tries;
    if (connection.state == State::refused || (is_spent && connection.state != State::requesting)) return drop(found);
    if (is_spent) return refused(found, false);
    ++connection.sent;
    connection.timer =
        interface_.loop().after(between_tries, lifetime_.guard([this, local_id] { send_again(local_id); }));
    if (connection.state == State::requesting)
        send_req(local_id, connection);
    else
        send_rep(local_id, connection);
}

/// RFC 4755, 3.4: connections are part of their interface and end with it.
void Connections::close() {
    for (const auto& [local_id, connection] : all_) {
        if (connection.state != State::established || !interface_.policy().disconnects) continue;
        say_goodbye(local_id, connection);
    }
    while (!all_.empty()) drop(all_.begin());
    lifetime_.renew();
}

void Connections::say_goodbye(std::uint32_t local_id, const Connection& connection) {
    send(connection.lid, cm_attribute::dreq,
         Bytes<CmDreq>{}
             .set(CmDreq::local_comm_id, local_id)
             .set(CmDreq::remote_comm_id, connection.remote_id)
             .set(CmDreq::remote_qpn, connection.remote_qpn));
}

bool Connections::receive(const Packet& packet) {
    if (!is_enabled_) return false;
    switch (packet.mad[Mad::attribute_id]) {
        case cm_attribute::req:
            return on_req(packet, packet.get<CmReq>());
        case cm_attribute::rep:
            return on_rep(packet.get<CmRep>());
        case cm_attribute::rtu:
            return on_rtu(packet.get<CmRtu>());
        case cm_attribute::rej:
            return on_rej(packet.get<CmRej>());
        case cm_attribute::dreq:
            return on_dreq(packet, packet.get<CmDreq>());
        default:
            return false;
    }
}

/// The peer has not heard the answer to this REQ of its own, or not yet.
bool Connections::is_repeated(const HardwareAddress& peer, std::uint32_t remote_id) {
    for (const auto& [local_id, connection] : all_) {
        if (connection.is_requester || connection.peer.octets != peer.octets || connection.remote_id != remote_id)
            continue;
        if (connection.state == State::accepting) send_rep(local_id, connection);
        return true;
    }
    return false;
}

/// RFC 4755, 3.2 and 3.3: the peer is who its GID and its UD QPN say.
bool Connections::on_req(const Packet& packet, View<CmReq> req) {
    constexpr std::uint8_t reliable_connection = 0;
    const auto& policy = interface_.policy();
    if (!req || !interface_.is_running() || req[CmReq::service_id] != policy.service_id(interface_.ud_qpn()))
        return false;
    const auto data = ipoib_private_data(req);
    const auto lid = packet.lrh[Lrh::slid];
    const auto remote_id = req[CmReq::local_comm_id];
    if (!policy.accepts_private_reserved(data[CmPrivateData::reserved]) ||
        req[CmReq::transport_service_type] != reliable_connection) {
        send_rej(remote_id, lid, consumer_reject);
        return true;
    }
    HardwareAddress peer;
    peer.set(LinkAddress::qpn, data[CmPrivateData::ud_qpn]).set(LinkAddress::gid, req[CmReq::primary_local_gid]);
    if (is_repeated(peer, remote_id)) return true;
    if (const auto crossing = with(peer, State::requesting); crossing != all_.end()) {
        if (!policy.accepts_crossing(interface_.hardware_address(), peer)) {
            send_rej(remote_id, lid, consumer_reject);
            return true;
        }
        drop(crossing);
    }
    if (const auto refused = with(peer, State::refused); refused != all_.end()) drop(refused);
    // A further connection is the peer's choice, and the first one stays: the peer may use both.
    if (const auto first = with(peer, State::established); first != all_.end() && !policy.keeps_connections)
        drop(first);
    const auto made = make(State::accepting, peer, lid);
    if (made == all_.end()) {
        send_rej(remote_id, lid, no_queue_pair);
        return true;
    }
    made->second.remote_id = remote_id;
    made->second.remote_qpn = req[CmReq::local_qpn];
    made->second.receive_mtu = data[CmPrivateData::receive_mtu];
    made->second.next_psn = req[CmReq::starting_psn];
    made->second.path_mtu = mtu_octets(req[CmReq::path_mtu]);
    made->second.queue_pair->connection = {
        .lid = lid, .qpn = req[CmReq::local_qpn], .expected_psn = first_psn, .mtu = req[CmReq::path_mtu]};
    send_again(made->first);
    return true;
}

bool Connections::on_rep(View<CmRep> rep) {
    if (!rep) return false;
    const auto found = answered_by(rep[CmRep::remote_comm_id], rep[CmRep::local_comm_id]);
    if (found == all_.end()) return false;
    auto& connection = found->second;
    if (connection.state != State::requesting && connection.state != State::established) return true;
    interface_.loop().cancel(connection.timer);
    connection.timer = {};
    if (connection.state == State::requesting) {
        const auto data = ipoib_private_data(rep);
        connection.receive_mtu = data ? data[CmPrivateData::receive_mtu] : 0;
        connection.next_psn = rep[CmRep::starting_psn];
        connection.queue_pair->connection = {.lid = connection.lid,
                                             .qpn = rep[CmRep::local_qpn],
                                             .expected_psn = first_psn,
                                             .mtu = interface_.link().mtu};
    }
    connection.state = State::established;
    connection.remote_id = rep[CmRep::local_comm_id];
    connection.remote_qpn = rep[CmRep::local_qpn];
    send_rtu(found->first, connection);
    return true;
}

bool Connections::on_rtu(View<CmRtu> rtu) {
    if (!rtu) return false;
    const auto found = answered_by(rtu[CmRtu::remote_comm_id], rtu[CmRtu::local_comm_id]);
    if (found == all_.end()) return false;
    auto& connection = found->second;
    if (connection.state != State::accepting) return true;
    interface_.loop().cancel(connection.timer);
    connection.timer = {};
    connection.state = State::established;
    return true;
}

bool Connections::on_rej(View<CmRej> rej) {
    if (!rej) return false;
    const auto found = answered_by(rej[CmRej::remote_comm_id], rej[CmRej::local_comm_id]);
    if (found == all_.end() || found->second.state == State::refused) return false;
    refused(found, true);
    return true;
}

/// The peer is left in peace for a while; datagrams go to its UD queue pair.
void Connections::refused(All::iterator at, bool was_rejected) {
    auto& connection = at->second;
    interface_.loop().cancel(connection.timer);
    connection.timer = {};
    connection.state = State::refused;
    connection.was_rejected = was_rejected;
    connection.ring.clear();
    if (interface_.policy().without_connection(was_rejected) == Unconnected::silence) return;
    connection.timer =
        interface_.loop().after(after_refusal, lifetime_.guard([this, local_id = at->first] { send_again(local_id); }));
}

bool Connections::on_dreq(const Packet& packet, View<CmDreq> dreq) {
    if (!dreq) return false;
    const auto found = answered_by(dreq[CmDreq::remote_comm_id], dreq[CmDreq::local_comm_id]);
    if (found == all_.end()) return false;
    const auto& policy = interface_.policy();
    auto& connection = found->second;
    if (policy.confirms_end(connection.is_requester))
        send(packet.lrh[Lrh::slid], cm_attribute::drep,
             Bytes<CmDrep>{}
                 .set(CmDrep::local_comm_id, found->first)
                 .set(CmDrep::remote_comm_id, dreq[CmDreq::local_comm_id]));
    if (policy.forgets_ended(connection.is_requester))
        drop(found);
    else
        connection.is_over = true;
    return true;
}

}  // namespace ipoib::stack

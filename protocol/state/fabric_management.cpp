// SPDX-License-Identifier: GPL-2.0-or-later
// What subnet management tells of ports, and communication management of connections. IBTA Vol 1, 14.2 and 12.6.
#include "protocol/state/port_rate.hpp"
#include "protocol/state/subnet.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/smp.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

constexpr std::uint16_t invalid_service_id = 8;

std::uint64_t connection_key(std::uint16_t requester, std::uint32_t id) { return std::uint64_t{requester} << 32 | id; }

constexpr std::size_t most_p_keys = 1024;

/// A directed route as one number; 0 for an SMP that has none.
std::uint64_t route_of(Octets smp) {
    const auto view = View<DirectedSmp>::at(smp);
    if (!view || view[DirectedSmp::mgmt_class] != MgmtClass::subn_directed_route ||
        view[DirectedSmp::dr_slid] != DirectedSmp::permissive_lid || view[DirectedSmp::hop_count] == 0)
        return 0;
    std::uint64_t route = 0xcbf29ce484222325u;
    const auto hops = std::min<std::size_t>(view[DirectedSmp::hop_count], DirectedSmp::max_hops);
    for (std::size_t i = 1; i <= hops; ++i)
        route = (route ^ smp[DirectedSmp::initial_path.at.bit / 8 + i]) * 0x100000001b3u;
    return route | 1;
}

}  // namespace

void Subnet::take_smp(const Packet& packet) {
    const auto mgmt_class = packet.mad[Mad::mgmt_class];
    if (mgmt_class != MgmtClass::subn_lid_routed && mgmt_class != MgmtClass::subn_directed_route) return;
    const auto smp = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    const auto info = packet.get<PortInfo>();
    if (!info) {
        take_p_keys(packet, smp);
        return;
    }
    const auto method = packet.mad[Mad::method];
    const auto lid = info[PortInfo::lid];
    if (lid == 0 || lid >= 0xc000) return;
    const auto index = ports_.of(lid);
    if (method == Method::set) {
        if (index != none && info[PortInfo::client_reregister]) registered_anew(index);
        return;
    }
    if (method != Method::get_resp || (packet.mad[Mad::status] & 0x7fff) != 0) return;
    if (info[PortInfo::gid_prefix] != 0) prefix_is_told_ = true;
    learn_prefix(info[PortInfo::gid_prefix]);
    if (index == none) return;
    // At a LID of several GIDs it is not known whose port was asked.
    if (!ports_.is_shared(lid)) {
        lapses(index);
        has_prefix(ports_[index], info[PortInfo::gid_prefix]);
    }
    const auto route = route_of(smp);
    if (route != 0 && (port_by_route_.find(route) != none || take_from(room_->routes)))
        port_by_route_.set(route, index);
    auto& port = ports_[index];
    if (const auto capacity = route == 0 ? none : capacity_by_route_.find(route); capacity != none)
        port.partition_cap = static_cast<std::uint16_t>(capacity);
    if (!port.told_lmc) port.told_lmc = known_.now;
    if (port.lmc != info[PortInfo::lmc] && port.told_lmc.order != known_.now.order) port.lmc_changed = known_.now;
    port.lmc = info[PortInfo::lmc];
    const auto state = info[PortInfo::port_state];
    if (state != PortState::active && state != PortState::no_change) {
        requester_at(lid).down = known_.now;
        ceases_to_route(index);
        // Its host may have begun anew, and have given the numbers to others.
        doubt_queue_pairs(index);
    }
    if (state != PortState::active) return;
    port.told_mtu = known_.now;
    port.mtu = info[PortInfo::neighbor_mtu];
    const auto rate = rate_of(info);
    port.rate = rate.code;
    port.has_unknown_rate = rate.is_unknown;
}

void Subnet::has_prefix(Port& port, std::uint64_t prefix) {
    if (port.told_prefix != 0 && port.told_prefix != prefix && port.told_prefix != default_prefix) {
        port.former_prefix = port.told_prefix;
        port.prefix_changed = known_.now;
    }
    if (port.former_prefix == prefix) port.former_prefix = 0;
    port.told_prefix = prefix;
}

/// Whose answer an SMP is: by its LID, or by the way that it went.
PortIndex Subnet::port_of_smp(const Packet& packet, Octets smp) const {
    if (packet.mad[Mad::mgmt_class] == MgmtClass::subn_lid_routed) return sender_;
    return port_by_route_.find(route_of(smp));
}

/// A table has a block for every 32 P_Keys that the port can hold, and they come in any order. A later answer may be of
/// an earlier time: so what was in it once is kept as having been there.
void Subnet::take_p_keys(const Packet& packet, Octets smp) {
    const auto attribute = packet.mad[Mad::attribute_id];
    const bool is_table = attribute == smp_attribute::p_key_table, is_node = attribute == smp_attribute::node_info;
    if ((!is_table && !is_node) || packet.mad[Mad::method] != Method::get_resp ||
        (packet.mad[Mad::status] & 0x7fff) != 0 || smp.size() < mad_size)
        return;
    constexpr std::size_t data = DirectedSmp::data.at.bit / 8, block_size = 32;
    const auto capacity = is_node ? View<NodeInfo>::at(smp.subspan(data))[NodeInfo::partition_cap] : std::uint16_t{0};
    // An SM asks for a node before it asks for the port.
    if (const auto route = route_of(smp); is_node && route != 0)
        if (capacity_by_route_.find(route) != none || take_from(room_->routes)) capacity_by_route_.set(route, capacity);
    const auto index = port_of_smp(packet, smp);
    if (index == none) return;
    auto& port = ports_[index];
    if (is_node) {
        port.partition_cap = capacity;
    } else {
        // The upper half of the modifier is a switch's port, the lower one the block.
        const auto block = packet.mad[Mad::attribute_modifier];
        known_.managed = &port;
        port.told_p_keys = known_.now;
        if (block < 32) port.p_key_blocks |= std::uint32_t{1} << block;
        for (auto& one : port.p_keys)
            if (one.block == (block & 0xff)) one.is_in = false;
        for (std::size_t i = 0; i < block_size; ++i) {
            const auto p_key = static_cast<std::uint16_t>(read_bits(smp.data() + data + 2 * i, {0}, 16) & 0x7fff);
            if (p_key == 0) continue;
            const TableKey here{.p_key = p_key, .block = static_cast<std::uint8_t>(block & 0xff)};
            const auto at = std::lower_bound(port.p_keys.begin(), port.p_keys.end(), here);
            if (at != port.p_keys.end() && *at == here) {
                *at = here;
            } else if (port.p_keys.size() < most_p_keys && take_from(room_->p_keys)) {
                port.p_keys.insert(at, here);
            } else {
                port.lacks_p_keys = true;
                ++doubts_.not_kept;
            }
        }
    }
    const auto blocks = (port.partition_cap + block_size - 1) / block_size;
    port.knows_p_keys =
        !port.lacks_p_keys && blocks != 0 && blocks < 32 && port.p_key_blocks == (std::uint32_t{1} << blocks) - 1;
}

/// A queue pair belongs to the connection that named it last; to none, once it has ended or another program uses the
/// number at the same port.
void Subnet::connects(QpAddress end, const Gid& gid, std::uint32_t connection) {
    const auto index = connection == none ? connected_.find(key(end)) : connected_.find_or_add(key(end));
    if (index == none) return;
    auto& found = connected_[index];
    const bool is_other = !found.gid.is_zero() && !gid.is_zero() && local_form(found.gid) != local_form(gid);
    if (connection == none && is_other) return;
    found = {.connection = connection, .gid = gid};
}
const Connection* Subnet::connection_to(QpAddress end) const {
    const auto* found = connected_.get(connected_.find(key(end)));
    return found ? connections_.get(found->connection) : nullptr;
}
Connection* Subnet::connection_of(std::uint16_t requester, std::uint32_t id, std::uint16_t responder) {
    const auto index = connections_.find(connection_key(requester, id));
    return index != none && connections_[index].responder_lid == responder ? &connections_[index] : nullptr;
}

void Subnet::end(Connection& connection) {
    connection.ended = known_.now;
    connects({connection.requester_lid, connection.requester_rc}, {}, none);
    if (connection.responder_rc != 0) connects({connection.responder_lid, connection.responder_rc}, {}, none);
}

void Subnet::requested(const Packet& packet) {
    const auto req = packet.get<CmReq>();
    const auto slid = packet.lrh[Lrh::slid];
    const QpAddress end{slid, req[CmReq::local_qpn]};
    const auto gid = req[CmReq::primary_local_gid];
    if (!asks_for_ipoib(req)) return connects(end, gid, none);
    const auto index = connections_.find_or_add(connection_key(slid, req[CmReq::local_comm_id]));
    if (index == none) return;
    auto& connection = connections_[index];
    const auto data = ipoib_private_data(req);
    connection = {.requester_lid = slid,
                  .responder_lid = packet.lrh[Lrh::dlid],
                  .requester_id = req[CmReq::local_comm_id],
                  .requester_qpn = data ? data[CmPrivateData::ud_qpn] : 0,
                  .requester_rc = end.qpn,
                  .service_id = req[CmReq::service_id],
                  .responder_gid = req[CmReq::primary_remote_gid],
                  .requester_mtu = data ? data[CmPrivateData::receive_mtu] : 0,
                  .p_key = req[CmReq::p_key],
                  .requested = known_.now};
    known_.connection = &connection;
    known_.owner = queue_pair({slid, connection.requester_qpn});
    known_.destination =
        queue_pair({connection.responder_lid, static_cast<std::uint32_t>(connection.service_id & 0xffffff)});
    if (known_.destination && known_.destination->given_back_by != none) {
        known_.neighbour = &neighbours_[known_.destination->given_back_by];
        known_.informed = informed(known_.destination->given_back_by, {slid, connection.requester_qpn});
    }
    // Who asks for connections takes them, if at another Service-ID.
    if (known_.owner) queue_pairs_[queue_pairs_.find(key({slid, connection.requester_qpn}))].denies_flags = false;
    connects(end, gid, index);
}

/// RFC 4755, 3: only connections that were asked for at the Service-ID of an interface are IPoIB's, and only until they
/// end.
void Subnet::take_cm(const Packet& packet) {
    if (!packet.lrh) return;
    const auto slid = packet.lrh[Lrh::slid], dlid = packet.lrh[Lrh::dlid];
    if (packet.get<CmReq>()) {
        requested(packet);
    } else if (const auto rep = packet.get<CmRep>()) {
        const QpAddress end{slid, rep[CmRep::local_qpn]};
        auto* connection = connection_of(dlid, rep[CmRep::remote_comm_id], slid);
        if (!connection) return connects(end, packet.grh ? packet.grh[Grh::sgid] : Gid{}, none);
        connects(end, connection->responder_gid, connections_.find(connection_key(dlid, connection->requester_id)));
        const auto data = ipoib_private_data(rep);
        connection->responder_qpn = data ? data[CmPrivateData::ud_qpn] : 0;
        connection->responder_mtu = data ? data[CmPrivateData::receive_mtu] : 0;
        connection->responder_rc = end.qpn;
        connection->replied = known_.now;
        known_.connection = connection;
        known_.crossing = crossing(*connection);
        known_.owner = owner_of(*connection);
        if (known_.owner) queue_pairs_[queue_pairs_.find(key({slid, known_.owner->qpn}))].denies_flags = false;
    } else if (const auto rej = packet.get<CmRej>()) {
        if (auto* connection = connection_of(dlid, rej[CmRej::remote_comm_id], slid)) {
            connection->rejected = known_.now;
            known_.connection = connection;
            known_.owner = owner_of(*connection);
            rejected(*connection, rej[CmRej::reason]);
            end(*connection);
        } else if (auto* own = connection_of(slid, rej[CmRej::local_comm_id], dlid)) {
            // The requester does not take what was replied.
            own->rejected = known_.now;
            known_.connection = own;
            known_.owner = queue_pair({slid, own->requester_qpn});
            end(*own);
        }
    } else if (const auto dreq = packet.get<CmDreq>()) {
        auto* connection = connection_of(dlid, dreq[CmDreq::remote_comm_id], slid);
        if (!connection) connection = connection_of(slid, dreq[CmDreq::local_comm_id], dlid);
        if (connection) end(*connection);
    }
}

/// The REQ between the same interfaces that the other side has sent, no answer to which had come when this one was
/// asked for. RFC 4755, 3.3.
const Connection* Subnet::crossing(const Connection& answered) const {
    constexpr std::int64_t patience = 1'000'000'000;  // ns; later it may have been given up
    constexpr std::uint64_t qpn = 0xffffff;
    const auto& all = connections_.all();
    const auto found = std::ranges::find_if(all, [&](const Connection& one) {
        return one.requester_lid == answered.responder_lid && one.responder_lid == answered.requester_lid &&
               one.requester_qpn == (answered.service_id & qpn) && (one.service_id & qpn) == answered.requester_qpn &&
               (!one.replied || one.replied.order > answered.requested.order) && !one.rejected && !one.ended &&
               elapsed(one.requested.time, known_.now.time) < patience;
    });
    return found == all.end() ? nullptr : &*found;
}

/// The interface that the connection was asked of, by RFC 4755, 3.5, or as Linux writes the Service-ID; null where it
/// was never seen.
const QueuePair* Subnet::owner_of(const Connection& connection) const {
    const auto qpn = static_cast<std::uint32_t>(connection.service_id & 0xffffff);
    return queue_pair({connection.responder_lid, qpn});
}

/// Nobody listens at the Service-ID of an interface that takes no connections; nor at a stale one, at that of an
/// interface that has gone, or at one that is not of RFC 4755.
void Subnet::rejected(const Connection& connection, std::uint16_t reason) {
    constexpr std::uint64_t ietf = std::uint64_t{IpoibServiceId::ietf} << 56, qpn = 0xffffff;
    if (reason != invalid_service_id || (connection.service_id & ~qpn) != ietf) return;
    const auto index =
        queue_pairs_.find(key({connection.responder_lid, static_cast<std::uint32_t>(connection.service_id & qpn)}));
    if (index == none || !queue_pairs_[index].is_announced) return;
    auto& owner = queue_pairs_[index];
    owner.denies_flags = owner.denies_flags || owner.flags_since;
    owner.flags_since = false;
}

}  // namespace ipoib::state

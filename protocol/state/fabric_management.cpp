// SPDX-License-Identifier: GPL-2.0-or-later
// What subnet management tells of ports, and communication management of connections. IBTA Vol 1, 14.2 and 12.6.
#include "protocol/state/rates.hpp"
#include "protocol/state/subnet.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/smp.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

constexpr std::uint16_t invalid_service_id = 8;

std::uint64_t connection_key(std::uint16_t requester, std::uint32_t id) { return std::uint64_t{requester} << 32 | id; }

constexpr std::size_t most_routes = 65536;

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

/// RFC 4755, 3.5, or as Linux writes it.
bool is_ipoib_service(View<CmReq> req) {
    const auto id = ipoib_service_id(req);
    return id && (id[IpoibServiceId::prefix] == IpoibServiceId::ietf || id[IpoibServiceId::prefix] == 0x10) &&
           id[IpoibServiceId::type] == 0 && id[IpoibServiceId::reserved] == 0;
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
    if (const auto prefix = info[PortInfo::gid_prefix]; prefix != 0 && !prefix_is_known_) {
        prefix_ = prefix;
        prefix_is_known_ = true;
    }
    if (index == none) return;
    const auto route = route_of(smp);
    if (route != 0 && (port_by_route_.size() < most_routes || port_by_route_.contains(route)))
        port_by_route_[route] = index;
    auto& port = ports_[index];
    port.lmc = info[PortInfo::lmc];
    if (info[PortInfo::port_state] != PortState::active) return;
    port.mtu = info[PortInfo::neighbor_mtu];
    port.rate = link_rate(info[PortInfo::link_width_active], info[PortInfo::link_speed_active],
                          info[PortInfo::link_speed_ext_active]);
}

/// One block is what nearly all adapters have in use; a port with more is not judged by it.
void Subnet::take_p_keys(const Packet& packet, Octets smp) {
    const auto method = packet.mad[Mad::method];
    if (packet.mad[Mad::attribute_id] != smp_attribute::p_key_table || method != Method::get_resp ||
        (packet.mad[Mad::status] & 0x7fff) != 0 || smp.size() < mad_size)
        return;
    auto index = none;
    if (packet.mad[Mad::mgmt_class] == MgmtClass::subn_lid_routed) {
        index = sender_;
    } else if (const auto found = port_by_route_.find(route_of(smp)); found != port_by_route_.end()) {
        index = found->second;
    }
    if (index == none) return;
    auto& port = ports_[index];
    // The upper half of the modifier is a switch's port, the lower one the block.
    port.knows_p_keys = packet.mad[Mad::attribute_modifier] == 0;
    constexpr std::size_t data = DirectedSmp::data.at.bit / 8;
    for (std::size_t i = 0; i < port.p_keys.size() && port.knows_p_keys; ++i)
        port.p_keys[i] = static_cast<std::uint16_t>(read_bits(smp.data() + data + 2 * i, {0}, 16));
}

void Subnet::take_cm(const Packet& packet) {
    if (!packet.lrh) return;
    const auto slid = packet.lrh[Lrh::slid], dlid = packet.lrh[Lrh::dlid];
    if (const auto req = packet.get<CmReq>()) {
        if (!is_ipoib_service(req)) return;
        const auto index = connections_.find_or_add(connection_key(slid, req[CmReq::local_comm_id]));
        if (index == none) return;
        auto& connection = connections_[index];
        const auto data = ipoib_private_data(req);
        connection = {.requester_lid = slid,
                      .responder_lid = dlid,
                      .requester_id = req[CmReq::local_comm_id],
                      .requester_qpn = data ? data[CmPrivateData::ud_qpn] : 0,
                      .service_id = req[CmReq::service_id],
                      .requested = known_.now};
        known_.connection = &connection;
        return;
    }
    const auto answer_to = [&](std::uint32_t id) {
        const auto index = connections_.find(connection_key(dlid, id));
        return index != none && connections_[index].responder_lid == slid ? &connections_[index] : nullptr;
    };
    if (const auto rep = packet.get<CmRep>()) {
        if (auto* connection = answer_to(rep[CmRep::remote_comm_id])) {
            const auto data = ipoib_private_data(rep);
            connection->responder_qpn = data ? data[CmPrivateData::ud_qpn] : 0;
            connection->replied = known_.now;
            if (sender_ != none) ports_[sender_].rejects_connections = false;
            known_.connection = connection;
        }
    } else if (const auto rej = packet.get<CmRej>()) {
        if (auto* connection = answer_to(rej[CmRej::remote_comm_id])) {
            connection->rejected = known_.now;
            known_.connection = connection;
            if (rej[CmRej::reason] == invalid_service_id && sender_ != none) ports_[sender_].rejects_connections = true;
        }
    }
}

}  // namespace ipoib::state

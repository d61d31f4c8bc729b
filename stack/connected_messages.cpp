// SPDX-License-Identifier: GPL-2.0-or-later
// What connected mode says to the communication manager of a peer. RFC 4755, 3.2, 3.5 and 6; IBTA Vol 1, 12.6.
#include "stack/connected.hpp"
#include "stack/interface.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

namespace {

constexpr std::uint8_t about_four_seconds = 20, most_retries = 7;
constexpr std::uint32_t management_q_key = 0x80010000, gsi = 1;
constexpr std::uint8_t cm_class_version = 2;

template <class Message>
void begin_private_data(Bytes<Message>& message, const Bytes<CmPrivateData>& data) {
    auto octets = message[Message::private_data];
    std::copy(data.octets.begin(), data.octets.end(), octets.begin());
    message.set(Message::private_data, octets);
}

}  // namespace

Bytes<CmPrivateData> Connections::private_data() const {
    const auto& policy = interface_.policy();
    return Bytes<CmPrivateData>{}
        .set(CmPrivateData::reserved, policy.private_reserved)
        .set(CmPrivateData::ud_qpn, policy.private_qpn(interface_.ud_qpn()))
        .set(CmPrivateData::receive_mtu, policy.receive_mtu(interface_.mtu()));
}

template <class Message>
void Connections::send(std::uint16_t lid, std::uint16_t attribute_id, const Bytes<Message>& message) {
    const auto& port = interface_.port();
    build::PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::dlid, lid).set(Lrh::slid, port.lid).set(Lrh::sl, interface_.link().sl));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::ud_send_only)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, interface_.link().p_key)
                   .set(Bth::dest_qp, gsi));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, management_q_key).set(Deth::src_qp, gsi));
    packet.add(Bytes<Mad>{}
                   .set(Mad::base_version, 1)
                   .set(Mad::mgmt_class, MgmtClass::communication)
                   .set(Mad::class_version, cm_class_version)
                   .set(Mad::method, Method::send)
                   .set(Mad::transaction_id, interface_.next_communication_id())
                   .set(Mad::attribute_id, attribute_id));
    interface_.transmit_mad(packet.add(message));
}

template void Connections::send(std::uint16_t, std::uint16_t, const Bytes<CmDreq>&);
template void Connections::send(std::uint16_t, std::uint16_t, const Bytes<CmDrep>&);

void Connections::send_req(std::uint32_t local_id, const Connection& connection) {
    const auto& policy = interface_.policy();
    const auto& port = interface_.port();
    const auto& link = interface_.link();
    Bytes<CmReq> req;
    req.set(CmReq::local_comm_id, local_id)
        .set(CmReq::service_id, policy.service_id(connection.peer[LinkAddress::qpn]))
        .set(CmReq::local_ca_guid, port.gid.interface_id())
        .set(CmReq::local_qpn, policy.connection_qpn(connection.queue_pair->qpn, interface_.ud_qpn()))
        .set(CmReq::remote_cm_response_timeout, about_four_seconds)
        .set(CmReq::local_cm_response_timeout, about_four_seconds)
        .set(CmReq::retry_count, most_retries)
        .set(CmReq::rnr_retry_count, most_retries)
        .set(CmReq::max_cm_retries, most_retries)
        .set(CmReq::p_key, link.p_key)
        .set(CmReq::path_mtu, link.mtu)
        .set(CmReq::primary_local_lid, port.lid)
        .set(CmReq::primary_remote_lid, connection.lid)
        .set(CmReq::primary_local_gid, port.gid)
        .set(CmReq::primary_remote_gid, connection.peer[LinkAddress::gid])
        .set(CmReq::primary_sl, link.sl)
        .set(CmReq::primary_rate, link.rate)
        .set(CmReq::primary_subnet_local, true)
        .set(CmReq::primary_ack_timeout, about_four_seconds);
    begin_private_data(req, private_data());
    send(connection.lid, cm_attribute::req, req);
}

void Connections::send_rep(std::uint32_t local_id, const Connection& connection) {
    const auto qpn = interface_.policy().connection_qpn(connection.queue_pair->qpn, interface_.ud_qpn());
    Bytes<CmRep> rep;
    rep.set(CmRep::local_comm_id, local_id)
        .set(CmRep::remote_comm_id, connection.remote_id)
        .set(CmRep::local_qpn, qpn)
        .set(CmRep::rnr_retry_count, most_retries)
        .set(CmRep::local_ca_guid, interface_.port().gid.interface_id());
    begin_private_data(rep, private_data());
    send(connection.lid, cm_attribute::rep, rep);
}

void Connections::send_rtu(std::uint32_t local_id, const Connection& connection) {
    Bytes<CmRtu> rtu;
    rtu.set(CmRtu::local_comm_id, local_id).set(CmRtu::remote_comm_id, connection.remote_id);
    begin_private_data(rtu, private_data());
    send(connection.lid, cm_attribute::rtu, rtu);
}

/// RFC 4755, 3.2: every REJ names the UD queue pair of its sender.
void Connections::send_rej(std::uint32_t remote_id, std::uint16_t lid, std::uint16_t reason) {
    constexpr std::uint8_t of_the_req = 0;
    Bytes<CmRej> rej;
    rej.set(CmRej::remote_comm_id, remote_id).set(CmRej::message, of_the_req).set(CmRej::reason, reason);
    if (interface_.policy().rej_has_qpn) begin_private_data(rej, private_data());
    send(lid, cm_attribute::rej, rej);
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Connections of IPoIB.
#include "protocol/build/connection.hpp"

#include "protocol/build/management.hpp"

#include <algorithm>

namespace ipoib::build {
using namespace wire;

namespace {

/// Timeouts as 4.096 us * 2^20, which is about four seconds.
constexpr std::uint8_t about_four_seconds = 20, most_retries = 7;

/// A message with the private data of RFC 4755, 6.
template <class Message>
PacketBuilder communication(const Node& from, const Node& to, const Link& link, std::uint16_t attribute,
                            std::uint64_t transaction, Bytes<Message> message) {
    constexpr std::uint32_t largest_ip_packet_of_linux = 65524;
    Bytes<CmPrivateData> data;
    data.set(CmPrivateData::ud_qpn, from.qpn).set(CmPrivateData::receive_mtu, largest_ip_packet_of_linux);
    std::copy(data.octets.begin(), data.octets.end(),
              message.octets.begin() + static_cast<std::ptrdiff_t>(Message::private_data.at.bit / 8));
    auto packet = mad(from, to, MgmtClass::communication, Method::send, attribute, transaction);
    return packet.choose(Bth::p_key, link.p_key).add(message);
}

template <class Header>
Bytes<Header> copy_of(View<Header> header) {
    Bytes<Header> copy;
    std::copy_n(header.data(), Header::size, copy.octets.begin());
    return copy;
}

ConnectionEnd usual_end(const Node& node, std::uint32_t id) {
    constexpr std::uint32_t apart_from_ud = 0x1000;
    return {.id = id, .qpn = node.qpn + apart_from_ud};
}

}  // namespace

PacketBuilder connection_request(const Node& from, const Node& to, const Link& link, const ConnectionEnd& own) {
    return communication(from, to, link, cm_attribute::req, own.id,
                         Bytes<CmReq>{}
                             .set(CmReq::local_comm_id, own.id)
                             .set(CmReq::service_id, std::uint64_t{IpoibServiceId::ietf} << 56 | to.qpn)
                             .set(CmReq::local_ca_guid, from.gid.interface_id())
                             .set(CmReq::local_qpn, own.qpn)
                             .set(CmReq::starting_psn, own.psn)
                             .set(CmReq::remote_cm_response_timeout, about_four_seconds)
                             .set(CmReq::local_cm_response_timeout, about_four_seconds)
                             .set(CmReq::retry_count, most_retries)
                             .set(CmReq::rnr_retry_count, most_retries)
                             .set(CmReq::max_cm_retries, most_retries)
                             .set(CmReq::p_key, link.p_key)
                             .set(CmReq::path_mtu, link.mtu)
                             .set(CmReq::primary_local_lid, from.lid)
                             .set(CmReq::primary_remote_lid, to.lid)
                             .set(CmReq::primary_local_gid, from.gid)
                             .set(CmReq::primary_remote_gid, to.gid)
                             .set(CmReq::primary_sl, link.sl)
                             .set(CmReq::primary_subnet_local, true)
                             .set(CmReq::primary_ack_timeout, about_four_seconds));
}

PacketBuilder connection_reply(const Node& from, const Node& to, const Link& link, const ConnectionEnd& own,
                               std::uint32_t remote_id) {
    return communication(from, to, link, cm_attribute::rep, remote_id,
                         Bytes<CmRep>{}
                             .set(CmRep::local_comm_id, own.id)
                             .set(CmRep::remote_comm_id, remote_id)
                             .set(CmRep::local_qpn, own.qpn)
                             .set(CmRep::starting_psn, own.psn)
                             .set(CmRep::rnr_retry_count, most_retries)
                             .set(CmRep::local_ca_guid, from.gid.interface_id()));
}

PacketBuilder connection_rejection(const Node& from, const Node& to, const Link& link, std::uint32_t remote_id,
                                   std::uint16_t reason) {
    return communication(from, to, link, cm_attribute::rej, remote_id,
                         Bytes<CmRej>{}.set(CmRej::remote_comm_id, remote_id).set(CmRej::reason, reason));
}

PacketBuilder connection_ready(const Node& from, const Node& to, const Link& link, const ConnectionEnd& own,
                               const ConnectionEnd& remote) {
    return communication(from, to, link, cm_attribute::rtu, own.id,
                         Bytes<CmRtu>{}.set(CmRtu::local_comm_id, own.id).set(CmRtu::remote_comm_id, remote.id));
}

PacketBuilder disconnection_request(const Node& from, const Node& to, const Link& link, const ConnectionEnd& own,
                                    const ConnectionEnd& remote) {
    return communication(from, to, link, cm_attribute::dreq, own.id,
                         Bytes<CmDreq>{}
                             .set(CmDreq::local_comm_id, own.id)
                             .set(CmDreq::remote_comm_id, remote.id)
                             .set(CmDreq::remote_qpn, remote.qpn));
}

PacketBuilder disconnection_reply(const Node& from, const Node& to, const Link& link, const ConnectionEnd& own,
                                  const ConnectionEnd& remote) {
    return communication(from, to, link, cm_attribute::drep, remote.id,
                         Bytes<CmDrep>{}.set(CmDrep::local_comm_id, own.id).set(CmDrep::remote_comm_id, remote.id));
}

PacketBuilder connection_request(const Node& from, const Node& to, std::uint32_t id) {
    return connection_request(from, to, {}, usual_end(from, id));
}

PacketBuilder connection_reply(const Node& from, const Node& to, std::uint32_t id) {
    return connection_reply(from, to, {}, usual_end(from, id + 1), id);
}

PacketBuilder connection_rejection(const Node& from, const Node& to, std::uint32_t id, std::uint16_t reason) {
    return connection_rejection(from, to, {}, id, reason);
}

PacketBuilder connection_ready(const Node& from, const Node& to, std::uint32_t local_id, std::uint32_t remote_id) {
    return connection_ready(from, to, {}, {.id = local_id}, {.id = remote_id});
}

PacketBuilder over_connection(PacketBuilder datagram, std::uint32_t dest_qp, std::uint32_t psn) {
    constexpr std::uint32_t psn_mask = 0xffffff;
    datagram.remove<Deth>()
        .choose(Bth::opcode, Opcode::rc_send_only)
        .choose(Bth::dest_qp, dest_qp)
        .choose(Bth::ack, true)
        .choose(Bth::psn, psn & psn_mask);
    return datagram;
}

std::vector<PacketBuilder> message_over_connection(PacketBuilder datagram, std::uint32_t dest_qp, std::uint32_t psn,
                                                   std::size_t path_mtu) {
    constexpr std::uint32_t psn_mask = 0xffffff;
    const auto whole = over_connection(std::move(datagram), dest_qp, psn).build();
    const auto lrh = View<Lrh>::at(whole);
    const auto head = Lrh::size + (lrh[Lrh::lnh] == Lnh::global ? Grh::size : 0);
    const auto bth = View<Bth>::at(Octets{whole}.subspan(head));
    const auto begin = head + Bth::size, end = whole.size() - bth[Bth::pad] - icrc_size - vcrc_size;
    const auto payload = Octets{whole}.subspan(begin, end - begin);
    std::vector<PacketBuilder> packets;
    for (std::size_t at = 0; at == 0 || at < payload.size(); at += path_mtu) {
        const bool is_first = at == 0, is_last = at + path_mtu >= payload.size();
        PacketBuilder packet;
        packet.add(copy_of(lrh));
        if (head > Lrh::size) packet.add(copy_of(View<Grh>::at(Octets{whole}.subspan(Lrh::size))));
        packet.add(copy_of(bth));
        packet
            .choose(Bth::opcode, is_first ? (is_last ? Opcode::rc_send_only : Opcode::rc_send_first)
                                          : (is_last ? Opcode::rc_send_last : Opcode::rc_send_middle))
            .choose(Bth::ack, is_last)
            .choose(Bth::psn, psn++ & psn_mask)
            .add(payload.subspan(at, std::min(path_mtu, payload.size() - at)));
        packets.push_back(std::move(packet));
    }
    return packets;
}

PacketBuilder acknowledgement(View<Lrh> lrh, View<Bth> bth, std::uint32_t dest_qp, const Acknowledgement& what) {
    PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::sl, lrh[Lrh::sl]).set(Lrh::dlid, lrh[Lrh::slid]).set(Lrh::slid, lrh[Lrh::dlid]));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::rc_acknowledge)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, bth[Bth::p_key])
                   .set(Bth::dest_qp, dest_qp)
                   .set(Bth::psn, what.psn));
    return packet.add(Bytes<Aeth>{}.set(Aeth::syndrome, what.syndrome).set(Aeth::msn, what.messages));
}

}  // namespace ipoib::build

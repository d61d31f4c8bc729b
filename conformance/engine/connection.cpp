// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's side of connections. RFC 4755; IBTA Vol 1, 12.
#include "conformance/engine/connection.hpp"

#include "protocol/build/management.hpp"

namespace ipoib::conformance {
using namespace wire;
using build::PacketBuilder;

namespace {

/// Communication IDs and queue pairs of the tester, apart from those that stacks count up from small numbers.
constexpr std::uint32_t first_id = 0x49500000, first_qpn = 0x800000, first_psn = 0x00fff0;
constexpr std::uint32_t id_of(std::uint16_t nonce) noexcept { return first_id | nonce; }
constexpr std::uint32_t qpn_of(std::uint16_t nonce) noexcept { return first_qpn | nonce; }

/// Timeouts as 4.096 us * 2^20, which is about four seconds.
constexpr std::uint8_t about_four_seconds = 20, most_retries = 7;

PacketBuilder in_partition(PacketBuilder packet, const Situation& s) { return packet.set(Bth::p_key, s.link.p_key); }

template <class Message>
bool answers(const Packet& p, std::uint32_t id) {
    const auto message = p.get<Message>();
    return message && message[Message::remote_comm_id] == id;
}

Message over_rc(const Message& message, std::uint32_t qpn, std::uint32_t psn) {
    return message.edited(" over the connection", [qpn, psn](PacketBuilder& packet) {
        packet.remove<Deth>()
            .set(Bth::opcode, Opcode::rc_send_only)
            .set(Bth::dest_qp, qpn)
            .set(Bth::ack, true)
            .set(Bth::psn, psn & 0xffffff);
    });
}

}  // namespace

Message cm_req(std::uint8_t reserved) {
    auto what = std::string("REQ");
    if (reserved != 0) what += " with Reserved " + hex(reserved, 2) + " in its private data";
    return {what, [reserved](const Situation& s) {
                const auto data =
                    Bytes<CmPrivateData>{}
                        .set(CmPrivateData::reserved, reserved)
                        .set(CmPrivateData::ud_qpn, s.tester.qpn)
                        .set(CmPrivateData::receive_mtu, static_cast<std::uint32_t>(s.ip_mtu() + Encap::size));
                OctetArray<92> private_data{};
                std::copy(data.octets.begin(), data.octets.end(), private_data.begin());
                return in_partition(build::connection_request(s.tester, s.dut, id_of(s.nonce)), s)
                    .set(CmReq::service_id, std::uint64_t{s.service_prefix} << 56 | s.dut.qpn)
                    .set(CmReq::local_ca_guid, s.tester.gid.interface_id())
                    .set(CmReq::local_qpn, qpn_of(s.nonce))
                    .set(CmReq::starting_psn, first_psn)
                    .set(CmReq::remote_cm_response_timeout, about_four_seconds)
                    .set(CmReq::local_cm_response_timeout, about_four_seconds)
                    .set(CmReq::retry_count, most_retries)
                    .set(CmReq::rnr_retry_count, most_retries)
                    .set(CmReq::max_cm_retries, most_retries)
                    .set(CmReq::p_key, s.link.p_key)
                    .set(CmReq::path_mtu, s.link.mtu)
                    .set(CmReq::primary_sl, s.link.sl)
                    .set(CmReq::primary_subnet_local, true)
                    .set(CmReq::primary_ack_timeout, about_four_seconds)
                    .set(CmReq::private_data, private_data);
            }};
}

Message cm_rep(const Bytes<CmReq>& req) {
    return {"REP", [id = req[CmReq::local_comm_id]](const Situation& s) {
                return in_partition(build::connection_reply(s.tester, s.dut, id), s)
                    .set(CmRep::local_comm_id, id_of(s.nonce))
                    .set(CmRep::local_ca_guid, s.tester.gid.interface_id())
                    .set(CmRep::local_qpn, qpn_of(s.nonce))
                    .set(CmRep::starting_psn, first_psn)
                    .set(CmRep::rnr_retry_count, most_retries);
            }};
}

Message cm_rej(const Bytes<CmReq>& req) {
    constexpr std::uint16_t consumer_reject = 28;
    return {"REJ", [id = req[CmReq::local_comm_id]](const Situation& s) {
                return in_partition(build::connection_rejection(s.tester, s.dut, id, consumer_reject), s);
            }};
}

Message cm_rtu(const Bytes<CmRep>& rep) {
    return {"RTU", [rep](const Situation& s) {
                return in_partition(
                    build::connection_ready(s.tester, s.dut, rep[CmRep::remote_comm_id], rep[CmRep::local_comm_id]), s);
            }};
}

Message cm_dreq(const Bytes<CmRep>& rep) {
    return {"DREQ", [rep](const Situation& s) {
                return in_partition(build::disconnection_request(s.tester, s.dut, rep[CmRep::remote_comm_id],
                                                                 rep[CmRep::local_comm_id]),
                                    s)
                    .set(CmDreq::remote_qpn, rep[CmRep::local_qpn]);
            }};
}

Message over_connection(const Message& message, const Bytes<CmRep>& accepted, std::uint32_t number) {
    return over_rc(message, accepted[CmRep::local_qpn], accepted[CmRep::starting_psn] + number);
}

Message over_connection(const Message& message, const Bytes<CmReq>& requested, std::uint32_t number) {
    return over_rc(message, requested[CmReq::local_qpn], requested[CmReq::starting_psn] + number);
}

Expectation over_ud(const Expectation& message) {
    return message.where(
        Bth::opcode,
        [](Opcode opcode, const Situation&) {
            constexpr unsigned unreliable_datagram = 3;
            return static_cast<unsigned>(opcode) >> 5 == unreliable_datagram;
        },
        "of UD");
}

Expectation req_of_dut() {
    return {"REQ to the tester",
            [](const Packet& p, const Situation& s) { return p.get<CmReq>() && p.lrh[Lrh::dlid] == s.tester.lid; },
            SeenBy::anyone};
}

Expectation answer_to_req() {
    return {"REP or REJ to it",
            [](const Packet& p, const Situation& s) {
                return answers<CmRep>(p, id_of(s.nonce)) || answers<CmRej>(p, id_of(s.nonce));
            },
            SeenBy::anyone};
}

Expectation rep_of_dut() {
    return {"REP to it", [](const Packet& p, const Situation& s) { return answers<CmRep>(p, id_of(s.nonce)); },
            SeenBy::anyone};
}

Expectation rej_of_dut() {
    return {"REJ to it", [](const Packet& p, const Situation& s) { return answers<CmRej>(p, id_of(s.nonce)); },
            SeenBy::anyone};
}

Expectation rtu_of_dut() {
    return {"RTU to it", [](const Packet& p, const Situation& s) { return answers<CmRtu>(p, id_of(s.nonce)); },
            SeenBy::anyone};
}

Expectation dreq_of_dut(const Bytes<CmRep>& rep) {
    return {"DREQ for the connection",
            [id = rep[CmRep::remote_comm_id]](const Packet& p, const Situation&) { return answers<CmDreq>(p, id); },
            SeenBy::anyone};
}

Expectation drep_of_dut(const Bytes<CmRep>& rep) {
    return {"DREP to it",
            [id = rep[CmRep::remote_comm_id]](const Packet& p, const Situation&) { return answers<CmDrep>(p, id); },
            SeenBy::anyone};
}

const std::uint8_t* private_data_at(const Packet& packet) noexcept {
    if (const auto req = packet.get<CmReq>()) return private_data(req).data();
    if (const auto rep = packet.get<CmRep>()) return private_data(rep).data();
    if (const auto rtu = packet.get<CmRtu>()) return private_data(rtu).data();
    if (const auto rej = packet.get<CmRej>()) return private_data(rej).data();
    return nullptr;
}

}  // namespace ipoib::conformance

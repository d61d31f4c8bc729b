// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's side of connections. RFC 4755; IBTA Vol 1, 12.
#include "conformance/bench/connection.hpp"

#include "protocol/build/connection.hpp"

namespace ipoib::conformance {
using namespace wire;
using build::PacketBuilder;

namespace {

/// The tester's end of the connection that the nonce stands for: communication ID and queue pair are apart from those
/// that stacks count up from small numbers.
build::ConnectionEnd own_end(const Situation& s) noexcept {
    constexpr std::uint32_t first_id = 0x49500000, first_qpn = 0x800000, first_psn = 0x00fff0;
    return {.id = first_id | s.nonce, .qpn = first_qpn | s.nonce, .psn = first_psn};
}

/// Both ends, by the REP of the DUT.
struct Ends {
    explicit Ends(const Bytes<CmRep>& rep)
        : own{.id = rep[CmRep::remote_comm_id]},
          remote{.id = rep[CmRep::local_comm_id], .qpn = rep[CmRep::local_qpn]} {}
    build::ConnectionEnd own, remote;
};

template <class Message>
bool answers(const Packet& p, std::uint32_t id) {
    const auto message = p.get<Message>();
    return message && message[Message::remote_comm_id] == id;
}

Message sent_over_rc(const Message& message, std::uint32_t qpn, std::uint32_t psn) {
    return message.edited(" over the connection", [qpn, psn](PacketBuilder& packet) {
        packet = build::over_connection(std::move(packet), qpn, psn);
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
                return build::connection_request(s.tester, s.dut, s.link, own_end(s))
                    .set(CmReq::service_id, std::uint64_t{s.service_prefix} << 56 | s.dut.qpn)
                    .set(CmReq::private_data, private_data);
            }};
}

Message cm_rep(const Bytes<CmReq>& req, std::uint32_t receive_mtu) {
    auto what = std::string("REP");
    if (receive_mtu != 0) what += " with Receive MTU " + std::to_string(receive_mtu);
    return {what, [id = req[CmReq::local_comm_id], receive_mtu](const Situation& s) {
                auto packet = build::connection_reply(s.tester, s.dut, s.link, own_end(s), id);
                if (receive_mtu == 0) return packet;
                const auto data = Bytes<CmPrivateData>{}
                                      .set(CmPrivateData::ud_qpn, s.tester.qpn)
                                      .set(CmPrivateData::receive_mtu, receive_mtu);
                OctetArray<196> private_data{};
                std::copy(data.octets.begin(), data.octets.end(), private_data.begin());
                return packet.set(CmRep::private_data, private_data);
            }};
}

Message cm_rej(const Bytes<CmReq>& req) {
    constexpr std::uint16_t consumer_reject = 28;
    return {"REJ", [id = req[CmReq::local_comm_id]](const Situation& s) {
                return build::connection_rejection(s.tester, s.dut, s.link, id, consumer_reject);
            }};
}

Message cm_rtu(const Bytes<CmRep>& rep) {
    return {"RTU", [ends = Ends{rep}](const Situation& s) {
                return build::connection_ready(s.tester, s.dut, s.link, ends.own, ends.remote);
            }};
}

Message cm_dreq(const Bytes<CmRep>& rep) {
    return {"DREQ", [ends = Ends{rep}](const Situation& s) {
                return build::disconnection_request(s.tester, s.dut, s.link, ends.own, ends.remote);
            }};
}

Message cm_dreq(const Bytes<CmReq>& req, std::uint16_t nonce_of_rep) {
    const build::ConnectionEnd remote{.id = req[CmReq::local_comm_id], .qpn = req[CmReq::local_qpn]};
    return {"DREQ", [remote, nonce_of_rep](const Situation& s) {
                auto then = s;
                then.nonce = nonce_of_rep;
                return build::disconnection_request(s.tester, s.dut, s.link, own_end(then), remote);
            }};
}

Message over_connection(const Message& message, const Bytes<CmRep>& accepted, std::uint32_t number) {
    return sent_over_rc(message, accepted[CmRep::local_qpn], accepted[CmRep::starting_psn] + number);
}

Message over_connection(const Message& message, const Bytes<CmReq>& requested, std::uint32_t number) {
    return sent_over_rc(message, requested[CmReq::local_qpn], requested[CmReq::starting_psn] + number);
}

Expectation over_ud(const Expectation& message) {
    return message.where(
        Bth::opcode,
        [](Opcode opcode, const Situation&) { return service_of(opcode) == TransportService::unreliable_datagram; },
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
                return answers<CmRep>(p, own_end(s).id) || answers<CmRej>(p, own_end(s).id);
            },
            SeenBy::anyone};
}

Expectation rep_of_dut() {
    return {"REP to it", [](const Packet& p, const Situation& s) { return answers<CmRep>(p, own_end(s).id); },
            SeenBy::anyone};
}

Expectation rej_of_dut() {
    return {"REJ to it", [](const Packet& p, const Situation& s) { return answers<CmRej>(p, own_end(s).id); },
            SeenBy::anyone};
}

Expectation rtu_of_dut() {
    return {"RTU to it", [](const Packet& p, const Situation& s) { return answers<CmRtu>(p, own_end(s).id); },
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

Expectation drep_of_dut(std::uint16_t nonce_of_rep) {
    return {"DREP to it",
            [nonce_of_rep](const Packet& p, const Situation& s) {
                auto then = s;
                then.nonce = nonce_of_rep;
                return answers<CmDrep>(p, own_end(then).id);
            },
            SeenBy::anyone};
}

Expectation over_rc(const Expectation& message) {
    return message
        .such_that("over a connection",
                   [](const Packet& p, const Situation& s) {
                       return p.bth && service_of(p.bth[Bth::opcode]) == TransportService::reliable_connection &&
                              p.lrh[Lrh::dlid] == s.tester.lid;
                   })
        .sent_anywhere();
}

Expectation first_fragment() {
    return {"first fragment",
            [](const Packet& p, const Situation& s) {
                if (!p.is_fragment || !p.lrh || p.lrh[Lrh::dlid] != s.tester.lid) return false;
                if (s.is_ipv6()) return p.ipv6 && p.ipv6[Ipv6::destination] == s.tester.ipv6;
                return p.ipv4 && p.ipv4[Ipv4::destination] == s.tester.ipv4 && p.ipv4[Ipv4::fragment_offset] == 0;
            },
            SeenBy::anyone};
}

Expectation end_of_message() {
    return {"last packet of a message",
            [](const Packet& p, const Situation& s) {
                return p.bth && p.bth[Bth::opcode] == Opcode::rc_send_last && p.lrh[Lrh::dlid] == s.tester.lid;
            },
            SeenBy::anyone};
}

Expectation message_longer_than(std::size_t octets) {
    return {"message of more than " + std::to_string(octets) + " octets over a connection",
            [octets](const Packet& p, const Situation& s) {
                return p.has(Part::connected) && p.lrh && p.lrh[Lrh::dlid] == s.tester.lid &&
                       p.ip_length() + Encap::size > octets;
            },
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

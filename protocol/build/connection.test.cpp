// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of communication management, and packets over connections.
#include "protocol/build/connection.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

namespace {

const Node a = samples::host(1), b = samples::host(2);
const Link controlled = samples::controlled();
constexpr ConnectionEnd of_a{.id = 0x11, .qpn = 0x1041, .psn = 0x111}, of_b{.id = 0x22, .qpn = 0x1042, .psn = 0x222};

/// A packet taken apart, with the octets that it points into.
struct Decoded {
    explicit Decoded(const PacketBuilder& builder) : octets(builder.build()) { decode(octets, packet); }
    std::vector<std::uint8_t> octets;
    Packet packet;
};

}  // namespace

TEST_CASE("CM: a REQ asks at the Service-ID of the peer's UD QPN, and names its sender's") {
    const Decoded message{connection_request(a, b, controlled, of_a)};
    const auto req = message.packet.get<CmReq>();
    REQUIRE(req);
    CHECK(message.packet.bth[Bth::p_key] == controlled.p_key);
    CHECK(req[CmReq::service_id] == (std::uint64_t{1} << 56 | b.qpn));
    CHECK(req[CmReq::local_comm_id] == of_a.id);
    CHECK(req[CmReq::local_qpn] == of_a.qpn);
    CHECK(req[CmReq::starting_psn] == of_a.psn);
    CHECK(req[CmReq::p_key] == controlled.p_key);
    CHECK(req[CmReq::primary_sl] == controlled.sl);
    CHECK(req[CmReq::primary_remote_gid] == b.gid);
    const auto data = ipoib_private_data(req);
    CHECK(data[CmPrivateData::reserved] == 0);
    CHECK(data[CmPrivateData::ud_qpn] == a.qpn);
    CHECK(data[CmPrivateData::receive_mtu] == 65524);
}

TEST_CASE("CM: what follows a REQ names both ends") {
    const Decoded reply{connection_reply(b, a, controlled, of_b, of_a.id)};
    const auto rep = reply.packet.get<CmRep>();
    REQUIRE(rep);
    CHECK(rep[CmRep::local_comm_id] == of_b.id);
    CHECK(rep[CmRep::remote_comm_id] == of_a.id);
    CHECK(rep[CmRep::local_qpn] == of_b.qpn);
    CHECK(rep[CmRep::starting_psn] == of_b.psn);
    CHECK(ipoib_private_data(rep)[CmPrivateData::ud_qpn] == b.qpn);

    const Decoded rejection{connection_rejection(b, a, controlled, of_a.id, 28)};
    const auto rej = rejection.packet.get<CmRej>();
    REQUIRE(rej);
    CHECK(rej[CmRej::reason] == 28);
    CHECK(ipoib_private_data(rej)[CmPrivateData::ud_qpn] == b.qpn);

    const Decoded ready{connection_ready(a, b, controlled, of_a, of_b)};
    REQUIRE(ready.packet.get<CmRtu>());
    CHECK(ready.packet.get<CmRtu>()[CmRtu::remote_comm_id] == of_b.id);

    const Decoded wish{disconnection_request(a, b, controlled, of_a, of_b)},
        consent{disconnection_reply(b, a, controlled, of_b, of_a)};
    REQUIRE(wish.packet.get<CmDreq>());
    CHECK(wish.packet.get<CmDreq>()[CmDreq::remote_qpn] == of_b.qpn);
    REQUIRE(consent.packet.get<CmDrep>());
    CHECK(consent.packet.get<CmDrep>()[CmDrep::remote_comm_id] == of_a.id);
}

TEST_CASE("Over a connection: a datagram of IPoIB as a message of one packet, acknowledged by its PSN") {
    const Decoded message{over_connection(echo_request(a, b, controlled, 1), of_b.qpn, 0x1000222)};
    const auto& packet = message.packet;
    CHECK(packet.has(Part::connected));
    CHECK_FALSE(packet.deth);
    CHECK(packet.bth[Bth::opcode] == Opcode::rc_send_only);
    CHECK(packet.bth[Bth::dest_qp] == of_b.qpn);
    CHECK(packet.bth[Bth::psn] == 0x222);
    CHECK(packet.bth[Bth::ack]);
    CHECK(packet.ipv4[Ipv4::destination] == b.ipv4);

    const Decoded answer{acknowledgement(packet.lrh, packet.bth, of_a.qpn, {.psn = 0x222, .messages = 1})};
    const auto& ack = answer.packet;
    REQUIRE(ack.aeth);
    CHECK(ack.bth[Bth::opcode] == Opcode::rc_acknowledge);
    CHECK(ack.bth[Bth::p_key] == controlled.p_key);
    CHECK(ack.bth[Bth::dest_qp] == of_a.qpn);
    CHECK(ack.lrh[Lrh::slid] == b.lid);
    CHECK(ack.lrh[Lrh::dlid] == a.lid);
    CHECK(ack.lrh[Lrh::sl] == controlled.sl);
    CHECK(ack.bth[Bth::psn] == 0x222);
    CHECK(ack.aeth[Aeth::syndrome] == acknowledged);
    CHECK(ack.aeth[Aeth::msn] == 1);
}

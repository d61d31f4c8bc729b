// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a reliable connection.
#include "fabric/node/test_member.hpp"
#include "protocol/build/connection.hpp"

using namespace ipoib;
using namespace ipoib::fabric;
using namespace ipoib::fabric::testing;

namespace {

constexpr std::uint32_t last_psn = 0xffffff, far_qpn = 0x51;

/// A port with a connection to the peer, which begins with the last PSN there is.
struct Connected : Node {
    Connected() {
        bring_up();
        queue_pair = hca.create(0, 0xffff, [this](const Datagram&) { ++taken; });
        queue_pair->connection = {.lid = peer().lid, .qpn = far_qpn, .expected_psn = last_psn};
    }
    [[nodiscard]] build::PacketBuilder message(std::uint32_t psn, std::size_t size = 56) const {
        const auto datagram = build::echo_request(peer(), address(queue_pair->qpn), {}, 1, size);
        return build::over_connection(datagram, queue_pair->qpn, psn);
    }
    /// Whether it was taken; the answer, if any, is kept in `answer`.
    bool takes(const build::PacketBuilder& packet) {
        const auto before = taken;
        cable.sent.clear();
        hca.receive(without_crcs(packet));
        answer = {};
        REQUIRE(cable.sent.size() <= 1);
        if (!cable.sent.empty()) decode(cable.sent[0].octets(), answer);
        return taken == before + 1;
    }
    /// AETH.Syndrome of the answer; 0 for none.
    [[nodiscard]] unsigned syndrome() const { return answer.aeth ? answer.aeth[Aeth::syndrome] : 0u; }

    QueuePair* queue_pair = nullptr;
    unsigned taken = 0;
    Packet answer;
};

}  // namespace

TEST_CASE("Connection: messages in sequence are taken and acknowledged, over the end of the PSNs") {
    Connected node;
    CHECK(node.takes(node.message(last_psn)));
    REQUIRE(node.syndrome() == 0x1f);
    CHECK(node.answer.bth[Bth::opcode] == Opcode::rc_acknowledge);
    CHECK(node.answer.bth[Bth::dest_qp] == far_qpn);
    CHECK(node.answer.bth[Bth::psn] == last_psn);
    CHECK(node.answer.lrh[Lrh::dlid] == peer().lid);
    CHECK(node.answer.aeth[Aeth::msn] == 1);
    CHECK(node.takes(node.message(0)));
    CHECK(node.answer.aeth[Aeth::msn] == 2);
}

TEST_CASE("Connection: a repeated message is acknowledged only, a missing one is asked for") {
    Connected node;
    REQUIRE(node.takes(node.message(last_psn)));
    CHECK_FALSE(node.takes(node.message(last_psn)));
    CHECK(node.syndrome() == 0x1f);
    CHECK(node.answer.aeth[Aeth::msn] == 1);
    CHECK_FALSE(node.takes(node.message(1)));
    CHECK(node.syndrome() == 0x60);
    CHECK(node.answer.bth[Bth::psn] == 0);
    CHECK(node.takes(node.message(0)));
}

TEST_CASE("Connection: what is of another port, partition, operation or size is dropped") {
    Connected node;
    const auto drops = [&](const build::PacketBuilder& packet) { return !node.takes(packet) && node.syndrome() == 0; };
    CHECK(drops(node.message(last_psn).set(Lrh::slid, 8)));
    CHECK(drops(node.message(last_psn).set(Lrh::dlid, 8)));
    CHECK(drops(node.message(last_psn).set(Lrh::dlid, 0xc001)));
    CHECK(drops(node.message(last_psn).set(Bth::dest_qp, node.queue_pair->qpn + 1)));
    CHECK(drops(node.message(last_psn).set(Bth::opcode, Opcode::rc_send_first)));
    CHECK(drops(node.message(last_psn).set(Bth::opcode, Opcode::uc_send_only)));
    CHECK(drops(node.message(last_psn).set(Bth::p_key, 0x8001)));
    CHECK(node.hca.drops().p_key == 1);
    CHECK(drops(node.message(last_psn, 2048)));
    CHECK(node.hca.drops().too_long == 1);
    node.queue_pair->connection.reset();
    CHECK(drops(node.message(last_psn)));
    CHECK(node.taken == 0);
}

TEST_CASE("Connection: a message of several packets is handed over whole, and acknowledged to its end") {
    Connected node;
    constexpr std::size_t path_mtu = 2048, size = 5000;
    std::size_t octets = 0;
    node.queue_pair->receive = [&](const Datagram& datagram) {
        ++node.taken;
        octets = datagram.packet->payload.size();
        CHECK(datagram.packet->ipv4);
        CHECK(datagram.packet->has(wire::Part::connected));
    };
    const auto datagram = build::echo_request(peer(), node.address(node.queue_pair->qpn), {}, 1, size);
    const auto packets = build::message_over_connection(datagram, node.queue_pair->qpn, last_psn, path_mtu);
    REQUIRE(packets.size() == 3);
    CHECK_FALSE(node.takes(packets[0]));
    CHECK(node.syndrome() == 0x1f);
    CHECK_FALSE(node.takes(packets[1]));
    CHECK(node.takes(packets[2]));
    CHECK(octets == Encap::size + Ipv4::size + Icmp::size + size);
    CHECK(node.answer.bth[Bth::psn] == 1);
    CHECK(node.answer.aeth[Aeth::msn] == 1);
}

TEST_CASE("Connection: a message that ends before it began, or begins twice, is refused") {
    Connected node;
    constexpr std::size_t path_mtu = 2048, size = 5000;
    const auto datagram = build::echo_request(peer(), node.address(node.queue_pair->qpn), {}, 1, size);
    auto packets = build::message_over_connection(datagram, node.queue_pair->qpn, last_psn, path_mtu);
    CHECK_FALSE(node.takes(packets[2].set(Bth::psn, last_psn)));
    CHECK(node.syndrome() == 0x61);
    CHECK_FALSE(node.takes(packets[0]));
    CHECK(node.syndrome() == 0x1f);
    CHECK_FALSE(node.takes(packets[0].set(Bth::psn, 0)));
    CHECK(node.syndrome() == 0x61);
}

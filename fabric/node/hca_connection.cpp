// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a reliable connection, as far as messages of one packet go. IBTA Vol 1, 9.7.
#include "fabric/node/hca_state.hpp"
#include "protocol/build/packet_builder.hpp"

namespace ipoib::fabric {
using namespace wire;

namespace {

/// AETH.Syndrome: an ACK that says nothing of credits, and a NAK. IBTA Vol 1, 9.7.5.
constexpr std::uint8_t acknowledged = 0x1f, sequence_error = 0x60;
constexpr std::uint32_t psn_mask = 0xffffff, half_of_psns = 0x800000;

}  // namespace

/// What comes in sequence is taken and acknowledged, what came before is acknowledged again, and what is missing is
/// asked for.
void Hca::State::connected(Arrival& arrival) {
    const bool is_here = !is_multicast_lid(arrival.dlid) && agent.is_own_lid(arrival.dlid) && agent.is_active();
    auto* queue_pair = is_here ? queue_pairs.find(arrival.dest_qp) : nullptr;
    const auto& packet = arrival.packet();
    const bool is_message = packet.bth[Bth::opcode] == Opcode::rc_send_only;
    if (!queue_pair || !queue_pair->connection || !is_message || packet.lrh[Lrh::slid] != queue_pair->connection->lid) {
        ++drops.no_queue_pair;
        return;
    }
    if (behaviour.discards_wrong_p_key && !is_p_key_right(*queue_pair, arrival.p_key)) {
        ++drops.p_key;
        return agent.count_bad_p_key();
    }
    constexpr std::size_t code_zero = 128;  // octets of MTU code n: 128 * 2^n
    if (packet.payload_length > code_zero << agent.active_mtu()) {
        ++drops.too_long;
        return;
    }
    auto& connection = *queue_pair->connection;
    const auto psn = packet.bth[Bth::psn];
    const auto ahead = (psn - connection.expected_psn) & psn_mask;
    if (ahead != 0) {
        const bool is_repeated = ahead >= half_of_psns;
        return acknowledge(connection, packet, is_repeated ? psn : connection.expected_psn,
                           is_repeated ? acknowledged : sequence_error);
    }
    connection.expected_psn = (psn + 1) & psn_mask;
    connection.messages = (connection.messages + 1) & psn_mask;
    acknowledge(connection, packet, psn, acknowledged);
    if (!queue_pair->receive) return;
    ++deliveries;
    queue_pair->receive({loop.now(), &packet});
    if (--deliveries == 0) queue_pairs.bury();
}

void Hca::State::acknowledge(const FarEnd& connection, const Packet& of, std::uint32_t psn, std::uint8_t syndrome) {
    build::PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::dlid, connection.lid).set(Lrh::slid, agent.lid()).set(Lrh::sl, of.lrh[Lrh::sl]));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::rc_acknowledge)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, of.bth[Bth::p_key])
                   .set(Bth::dest_qp, connection.qpn)
                   .set(Bth::psn, psn));
    packet.add(Bytes<Aeth>{}.set(Aeth::syndrome, syndrome).set(Aeth::msn, connection.messages));
    hca->send(packet.build());
}

}  // namespace ipoib::fabric

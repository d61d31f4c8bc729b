// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a reliable connection. IBTA Vol 1, 9.7.
#include "fabric/node/hca_state.hpp"
#include "protocol/build/connection.hpp"

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::uint32_t psn_mask = 0xffffff, half_of_psns = 0x800000;

constexpr bool begins_message(Opcode opcode) noexcept {
    return opcode == Opcode::rc_send_only || opcode == Opcode::rc_send_first;
}
constexpr bool ends_message(Opcode opcode) noexcept {
    return opcode == Opcode::rc_send_only || opcode == Opcode::rc_send_last;
}
constexpr bool is_of_message(Opcode opcode) noexcept {
    return begins_message(opcode) || ends_message(opcode) || opcode == Opcode::rc_send_middle;
}

}  // namespace

/// What comes in sequence is taken and acknowledged, what came before is acknowledged again, and what is missing is
/// asked for.
void Hca::State::connected(Arrival& arrival) {
    const bool is_here = !is_multicast_lid(arrival.dlid) && agent.is_own_lid(arrival.dlid) && agent.is_active();
    auto* queue_pair = is_here ? queue_pairs.find(arrival.dest_qp) : nullptr;
    const auto& packet = arrival.packet();
    const auto opcode = packet.bth[Bth::opcode];
    const bool is_answer = opcode == Opcode::rc_acknowledge && packet.aeth;
    if (!queue_pair || !queue_pair->connection || (!is_of_message(opcode) && !is_answer) ||
        packet.lrh[Lrh::slid] != queue_pair->connection->lid) {
        ++drops.no_queue_pair;
        return;
    }
    if (behaviour.discards_wrong_p_key && !is_p_key_right(*queue_pair, arrival.p_key)) {
        ++drops.p_key;
        return agent.count_bad_p_key();
    }
    const auto psn = packet.bth[Bth::psn];
    if (is_answer) {
        // Its owner may destroy the queue pair meanwhile.
        const auto answered = queue_pair->answered;
        ++deliveries;
        if (answered) answered(psn, packet.aeth[Aeth::syndrome]);
        if (--deliveries == 0) queue_pairs.bury();
        return;
    }
    auto& connection = *queue_pair->connection;
    constexpr std::size_t code_zero = 128;  // octets of MTU code n: 128 * 2^n
    const auto most = code_zero << (connection.mtu ? connection.mtu : agent.active_mtu());
    // All but the last packet of a message are full. IBTA Vol 1, 9.7.4.1.
    if (packet.payload_length > most) {
        ++drops.too_long;
        return;
    }
    if (!ends_message(opcode) && packet.payload_length != most) {
        ++drops.malformed;
        return;
    }
    const auto ahead = (psn - connection.expected_psn) & psn_mask;
    if (ahead != 0) {
        const bool is_repeated = ahead >= half_of_psns;
        return acknowledge(connection, packet, is_repeated ? psn : connection.expected_psn,
                           is_repeated ? build::acknowledged : build::sequence_error);
    }
    auto& begun = connection.begun;
    if (begins_message(opcode) != begun.empty() || begun.size() + packet.payload.size() > connection.longest) {
        ++drops.too_long;
        begun.clear();
        return acknowledge(connection, packet, psn, build::invalid_request);
    }
    connection.expected_psn = (psn + 1) & psn_mask;
    if (ends_message(opcode)) connection.messages = (connection.messages + 1) & psn_mask;
    acknowledge(connection, packet, psn, build::acknowledged);
    if (opcode == Opcode::rc_send_only) return hand_over(*queue_pair, packet);
    begun.insert(begun.end(), packet.payload.begin(), packet.payload.end());
    if (!ends_message(opcode)) return;
    const auto message = std::exchange(begun, {});
    Packet whole;
    decode_message(message, whole);
    // The headers of InfiniBand are those of the last packet.
    whole.lrh = packet.lrh;
    whole.bth = packet.bth;
    hand_over(*queue_pair, whole);
}

void Hca::State::hand_over(const QueuePair& queue_pair, const Packet& packet) {
    if (!queue_pair.receive) return;
    ++deliveries;
    queue_pair.receive({loop.now(), &packet});
    if (--deliveries == 0) queue_pairs.bury();
}

void Hca::State::acknowledge(const FarEnd& connection, const Packet& of, std::uint32_t psn, std::uint8_t syndrome) {
    hca->send(build::acknowledgement(of.lrh, of.bth, connection.qpn,
                                     {.psn = psn, .syndrome = syndrome, .messages = connection.messages})
                  .build());
}

}  // namespace ipoib::fabric

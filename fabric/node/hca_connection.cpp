// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a reliable connection, as far as messages of one packet go. IBTA Vol 1, 9.7.
#include "fabric/node/hca_state.hpp"
#include "protocol/build/connection.hpp"

namespace ipoib::fabric {
using namespace wire;

namespace {

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
                           is_repeated ? build::acknowledged : build::sequence_error);
    }
    connection.expected_psn = (psn + 1) & psn_mask;
    connection.messages = (connection.messages + 1) & psn_mask;
    acknowledge(connection, packet, psn, build::acknowledged);
    if (!queue_pair->receive) return;
    ++deliveries;
    queue_pair->receive({loop.now(), &packet});
    if (--deliveries == 0) queue_pairs.bury();
}

void Hca::State::acknowledge(const FarEnd& connection, const Packet& of, std::uint32_t psn, std::uint8_t syndrome) {
    hca->send(build::acknowledgement(of.lrh, of.bth, connection.qpn,
                                     {.psn = psn, .syndrome = syndrome, .messages = connection.messages})
                  .build());
}

}  // namespace ipoib::fabric

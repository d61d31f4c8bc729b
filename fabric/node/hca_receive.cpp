// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames reach which queue pair, and which are dropped and why. IBTA Vol 1, 9.6 and 10.
#include "fabric/node/hca_state.hpp"
#include "protocol/wire/smp.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

/// IBTA Vol 1, 10.9.1.2: equal but for the membership bit, not both limited members, and none without a base.
constexpr bool do_match(std::uint16_t a, std::uint16_t b) noexcept {
    constexpr std::uint16_t no_base = 0;
    return is_same_partition(a, b) && !is_same_partition(a, no_base) && (is_full_member(a) || is_full_member(b));
}

}  // namespace

void Hca::State::Loopback::receive(const Frame& frame) {
    const auto from = senders.front();
    senders.pop_front();
    Look look{frame};
    state.accept(*look, from);
}

void Hca::State::accept(Arrival& arrival, std::uint32_t sender) {
    if (behaviour.survives && arrival.vl != management_vl) {
        has_died = has_died || !behaviour.survives(arrival.packet());
        if (has_died) return;
    }
    switch (arrival.fault) {
        case Arrival::Fault::none:
            break;
        case Arrival::Fault::malformed:
            ++drops.malformed;
            return;
        case Arrival::Fault::bad_crc:
            ++drops.bad_crc;
            return;
        case Arrival::Fault::not_datagram:
            return connected(arrival);
    }
    if (arrival.vl == management_vl) {
        management(arrival);
    } else if (agent.state() != PortState::active && agent.state() != PortState::armed) {
        ++drops.not_active;
    } else if (is_multicast_lid(arrival.dlid)) {
        multicast(arrival, sender);
    } else if (agent.is_own_lid(arrival.dlid)) {
        unicast(arrival);
    } else {
        ++drops.other_lid;
    }
}

/// QP0. IBTA Vol 1, 14.2.2 for the hop pointer of an end node.
void Hca::State::management(Arrival& arrival) {
    if (arrival.dlid != permissive_lid && !agent.is_own_lid(arrival.dlid)) {
        ++drops.other_lid;
        return;
    }
    const auto& packet = arrival.packet();
    const auto smp = View<LidSmp>::at(packet.payload);
    if (arrival.dest_qp != 0 || !packet.mad || !smp || packet.payload.size() != mad_size || !is_at_its_end(packet)) {
        ++drops.malformed;
        return;
    }
    const auto method = smp[LidSmp::method];
    const bool is_for_manager =
        is_response(method) || method == Method::trap || smp[LidSmp::attribute_id] == smp_attribute::sm_info;
    if (is_for_manager && smp_handler) {
        const auto handler = smp_handler;
        (*handler)({loop.now(), &packet});
    } else if (!is_response(method)) {
        smp_for_agent(packet);
    } else {
        ++drops.no_queue_pair;
    }
}

bool Hca::State::is_at_its_end(const Packet& packet) noexcept {
    const auto smp = View<DirectedSmp>::at(packet.payload);
    if (!smp) return false;
    if (smp[DirectedSmp::mgmt_class] == MgmtClass::subn_lid_routed) return true;
    if (smp[DirectedSmp::mgmt_class] != MgmtClass::subn_directed_route) return false;
    const auto pointer = smp[DirectedSmp::hop_pointer], count = smp[DirectedSmp::hop_count];
    if (count > DirectedSmp::max_hops) return false;
    if (!smp[DirectedSmp::is_returning])
        return pointer == count && smp[DirectedSmp::dr_dlid] == DirectedSmp::permissive_lid;
    return pointer <= 1 && smp[DirectedSmp::dr_slid] == DirectedSmp::permissive_lid;
}

void Hca::State::smp_for_agent(const Packet& packet) {
    auto outcome = agent.handle(packet.payload);
    if (outcome.is_answered) {
        auto path = MadPath::back(packet, agent.lid());
        path.src_qp = path.dest_qp = 0;
        if (packet.mad[Mad::mgmt_class] == MgmtClass::subn_directed_route) {
            const MutableOctets answer{outcome.answer};
            const auto count = View<DirectedSmp>::at(answer)[DirectedSmp::hop_count];
            // The pointer went one further on arrival and comes back on departure.
            constexpr std::uint8_t this_port = 1;
            if (count != 0) answer[DirectedSmp::return_path.at.bit / 8 + count] = this_port;
            path.slid = path.dlid = permissive_lid;
        }
        hca->send(mad_frame(path, outcome.answer));
    }
    emit(outcome.events);
}

void Hca::State::unicast(Arrival& arrival) {
    if (arrival.has_grh && !agent.is_own_gid(arrival.dgid)) {
        ++drops.other_gid;
        return;
    }
    if (arrival.dest_qp == 1) return general_services(arrival);
    if (auto* queue_pair = queue_pairs.find(arrival.dest_qp))
        hand_to(*queue_pair, arrival);
    else
        ++drops.no_queue_pair;
}

/// QP1: any P_Key of the table, one Q_Key.
void Hca::State::general_services(Arrival& arrival) {
    if (!is_member(arrival.p_key)) {
        ++drops.p_key;
        return agent.count_bad_p_key();
    }
    if (arrival.q_key != gsi_q_key) {
        ++drops.q_key;
        return agent.count_bad_q_key();
    }
    const auto& packet = arrival.packet();
    if (!packet.mad || packet.payload.size() != mad_size) {
        ++drops.malformed;
        return;
    }
    const auto found = mad_handlers.find(packet.mad[Mad::mgmt_class]);
    if (found == mad_handlers.end() || !found->second) {
        ++drops.no_queue_pair;
        return;
    }
    const auto handler = found->second;
    (*handler)({loop.now(), &packet});
}

void Hca::State::multicast(Arrival& arrival, std::uint32_t sender) {
    if (behaviour.discards_wrong_dest_qp && arrival.dest_qp != Bth::multicast_qp) {
        ++drops.dest_qp;
        return;
    }
    if (!arrival.has_grh && behaviour.discards_multicast_without_grh) {
        ++drops.no_grh;
        return;
    }
    auto targets = std::exchange(scratch, {});
    targets.clear();
    collect(arrival, targets, sender);
    if (targets.empty()) ++drops.unattached;
    if (!behaviour.delivers_to_all_attached && targets.size() > 1) targets.resize(1);
    ++deliveries;
    for (auto* target : targets)
        if (!queue_pairs.is_destroyed(target)) hand_to(*target, arrival);
    if (--deliveries == 0) queue_pairs.bury();
    scratch = std::move(targets);
}

/// The queue pairs that are attached to the packet's group; an adapter that does not look takes all.
void Hca::State::collect(const Arrival& arrival, std::vector<QueuePair*>& targets, std::uint32_t sender) const {
    if (arrival.has_grh) {
        for (const auto& attachment : queue_pairs.attached(arrival.dgid))
            if (attachment.mlid == arrival.dlid && attachment.queue_pair->qpn != sender)
                targets.push_back(attachment.queue_pair);
        if (behaviour.takes_for && targets.empty())
            queue_pairs.for_each_attachment([&](const Gid& mgid, const auto& attachment) {
                if (attachment.mlid == arrival.dlid && attachment.queue_pair->qpn != sender &&
                    behaviour.takes_for(mgid, arrival.dgid))
                    targets.push_back(attachment.queue_pair);
            });
        if (!targets.empty() || behaviour.discards_unattached_mgid) return;
    }
    queue_pairs.for_each([&](QueuePair& queue_pair) {
        if (queue_pair.qpn != sender) targets.push_back(&queue_pair);
    });
}

void Hca::State::hand_to(QueuePair& queue_pair, Arrival& arrival) {
    const bool is_multicast = is_multicast_lid(arrival.dlid);
    const bool looks_at_p_key =
        behaviour.discards_wrong_p_key && (behaviour.discards_wrong_p_key_of_multicast || !is_multicast);
    if (looks_at_p_key && !is_p_key_right(queue_pair, arrival.p_key)) {
        ++drops.p_key;
        return agent.count_bad_p_key();
    }
    const bool looks_at_q_key =
        behaviour.discards_wrong_q_key && (behaviour.discards_wrong_q_key_of_multicast || !is_multicast);
    if (looks_at_q_key && ((arrival.q_key ^ queue_pair.q_key) & behaviour.q_key_bits) != 0) {
        ++drops.q_key;
        return agent.count_bad_q_key();
    }
    constexpr std::size_t code_zero = 128;  // octets of MTU code n: 128 * 2^n
    if (arrival.payload > code_zero << agent.active_mtu()) {
        ++drops.too_long;
        return;
    }
    if (!queue_pair.receive) return;
    ++deliveries;
    queue_pair.receive({loop.now(), &arrival.packet()});
    if (--deliveries == 0) queue_pairs.bury();
}

bool Hca::State::is_member(std::uint16_t p_key) const noexcept {
    const auto keys = agent.p_keys();
    return std::any_of(keys.begin(), keys.end(), [p_key](std::uint16_t own) { return do_match(own, p_key); });
}

bool Hca::State::is_p_key_right(const QueuePair& queue_pair, std::uint16_t p_key) const noexcept {
    if (queue_pair.takes_any_p_key) return is_member(p_key);
    if (!behaviour.takes_limited_members && !is_full_member(p_key)) return false;
    const auto keys = agent.p_keys();
    p_key = static_cast<std::uint16_t>((p_key & behaviour.p_key_bits) | (queue_pair.p_key & ~behaviour.p_key_bits));
    const bool is_right = behaviour.keeps_limited_members_apart ? do_match(queue_pair.p_key, p_key)
                                                                : is_same_partition(queue_pair.p_key, p_key);
    return is_right && std::find(keys.begin(), keys.end(), queue_pair.p_key) != keys.end();
}

}  // namespace ipoib::fabric

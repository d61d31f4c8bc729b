// SPDX-License-Identifier: GPL-2.0-or-later
// A tester's port made of an adapter: what the fabric's observer does not tell.
#include "fabric/node/node_port.hpp"

#include "fabric/node/mad_frame.hpp"
#include "protocol/wire/crc.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace ipoib::fabric {
using namespace wire;

struct NodePort::State {
    explicit State(Hca& h) : hca(h), client(h) {
        queue_pair = hca.create(usual_q_key, 0xffff, [this](const Datagram& datagram) {
            const auto told = listener;  // may be replaced while it runs
            if (told) (*told)(datagram.packet->octets);
        });
        client.tells_repeated_reports = false;
        follow_p_key();
        event_listener = hca.on_event([this](PortEvent event) {
            if (event == PortEvent::p_key_change) follow_p_key();
        });
    }
    ~State() {
        hca.remove_listener(event_listener);
        hca.destroy(queue_pair);
    }
    void follow_p_key() {
        const auto p_keys = hca.facts().p_keys;
        if (queue_pair && !p_keys.empty()) queue_pair->p_key = p_keys.front();
    }

    [[nodiscard]] Frame numbered(Octets frame);
    /// Null for QP0 and QP1, which the adapter numbers, and beyond the names that are kept.
    [[nodiscard]] std::uint32_t* next_psn(std::uint32_t qpn) {
        if (qpn == queue_pair->qpn) return &queue_pair->next_psn;
        constexpr std::size_t most_names = 256;
        if (qpn <= 1 || (borrowed.size() >= most_names && !borrowed.contains(qpn))) return nullptr;
        return &borrowed[qpn];
    }

    static constexpr std::uint32_t usual_q_key = 0x0b1b;
    Hca& hca;
    SaClient client;
    QueuePair* queue_pair = nullptr;
    /// By the number of a queue pair that is not its own: the next PSN.
    std::map<std::uint32_t, std::uint32_t> borrowed;
    std::uint32_t event_listener = 0;
    std::shared_ptr<const std::function<void(Octets)>> listener;
};

namespace {

/// CRCs that were right become "not computed"; those that were wrong stay as wrong as they were.
void follow(Octets before, MutableOctets changed) {
    constexpr std::size_t tail_size = icrc_size + vcrc_size;
    const auto crcs = check_crcs(before, detect_tail(before));
    if (crcs.icrc == Check::absent || before.size() < tail_size) return;
    const auto tail = changed.last(tail_size);
    if (crcs.icrc == Check::good && crcs.vcrc != Check::bad) {
        std::ranges::fill(tail, std::uint8_t{0});
        return;
    }
    std::array<std::uint8_t, longest_frame> right;
    const MutableOctets one{right.data(), before.size()};
    std::ranges::copy(before, one.begin());
    write_crcs(one);
    for (std::size_t i = 0; i < tail_size; ++i) tail[i] = static_cast<std::uint8_t>(tail[i] ^ one.last(tail_size)[i]);
    std::ranges::copy(changed, one.begin());
    write_crcs(one);
    for (std::size_t i = 0; i < tail_size; ++i) tail[i] = static_cast<std::uint8_t>(tail[i] ^ one.last(tail_size)[i]);
}

}  // namespace

/// A datagram without a PSN gets the next one of its queue pair, as a real adapter gives it; also one that is sent in
/// the name of another queue pair.
Frame NodePort::State::numbered(Octets frame) {
    const auto is_global = View<Lrh>::at(frame)[Lrh::lnh] == Lnh::global;
    const auto at_bth = Lrh::size + (is_global ? Grh::size : 0);
    if (!queue_pair || frame.size() < at_bth + Bth::size + Deth::size + icrc_size + vcrc_size) return Frame{frame};
    const auto bth = View<Bth>::at(frame.subspan(at_bth));
    const auto deth = View<Deth>::at(frame.subspan(at_bth + Bth::size));
    const auto opcode = bth[Bth::opcode];
    const bool is_datagram = opcode == Opcode::ud_send_only || opcode == Opcode::ud_send_only_immediate;
    if (!is_datagram || bth[Bth::psn] != 0) return Frame{frame};
    auto* psn = next_psn(deth[Deth::src_qp]);
    if (!psn) return Frame{frame};
    std::array<std::uint8_t, longest_frame> octets;
    const MutableOctets changed{octets.data(), frame.size()};
    std::ranges::copy(frame, changed.begin());
    set_field(changed.subspan(at_bth, Bth::size), Bth::psn, (*psn)++);
    follow(frame, changed);
    return Frame{changed};
}

NodePort::NodePort(Hca& hca) : state_(std::make_unique<State>(hca)) {}
NodePort::~NodePort() = default;

PortFacts NodePort::facts() const {
    auto facts = state_->hca.facts();
    if (state_->queue_pair) facts.qpn = state_->queue_pair->qpn;
    return facts;
}

std::string NodePort::send(Octets frame) {
    if (frame.size() < shortest_frame || frame.size() > longest_frame)
        return "a frame has " + std::to_string(shortest_frame) + " to " + std::to_string(longest_frame) +
               " octets, not " + std::to_string(frame.size());
    if (!state_->hca.is_connected()) return "the port has no link";
    const bool is_management = View<Lrh>::at(frame)[Lrh::vl] == management_vl;
    if (!is_management && !state_->hca.is_active()) return "the port is not active";
    state_->hca.send(state_->numbered(frame), state_->queue_pair);
    return {};
}

std::string NodePort::attach(const Gid& mgid, std::uint16_t mlid) {
    if (!state_->queue_pair) return "the adapter has no queue pair left";
    if (!state_->hca.attach(*state_->queue_pair, mgid, mlid)) return "the adapter's attach table is full";
    return {};
}
void NodePort::detach(const Gid& mgid, std::uint16_t mlid) {
    if (state_->queue_pair) state_->hca.detach(*state_->queue_pair, mgid, mlid);
}
void NodePort::set_q_key(std::uint32_t q_key) {
    if (state_->queue_pair) state_->queue_pair->q_key = q_key;
}

void NodePort::on_datagram(std::function<void(Octets frame)> listener) {
    using Listener = std::function<void(Octets)>;
    state_->listener = listener ? std::make_shared<const Listener>(std::move(listener)) : nullptr;
}

SaAnswer NodePort::ask_sa(const SaRequest& request, Duration patience) {
    return state_->client.answer_to(request, patience);
}
void NodePort::set_sm_key(std::uint64_t sm_key) { state_->client.sm_key = sm_key; }
void NodePort::on_report(std::function<void(View<Notice>)> listener) { state_->client.on_report(std::move(listener)); }

}  // namespace ipoib::fabric

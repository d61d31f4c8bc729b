// SPDX-License-Identifier: GPL-2.0-or-later
// A tester's port made of an adapter: what the fabric's observer does not tell.
#include "fabric/node/node_port.hpp"

#include "fabric/node/mad_frame.hpp"

namespace ipoib::fabric {
using namespace wire;

struct NodePort::State {
    explicit State(Hca& h) : hca(h), client(h) {
        queue_pair = hca.create(usual_q_key, 0xffff, [this](const Datagram& datagram) {
            const auto told = listener;  // may be replaced while it runs
            if (told) (*told)(datagram.packet->octets);
        });
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

    static constexpr std::uint32_t usual_q_key = 0x0b1b;
    Hca& hca;
    SaClient client;
    QueuePair* queue_pair = nullptr;
    std::uint32_t event_listener = 0;
    std::shared_ptr<const std::function<void(Octets)>> listener;
};

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
    state_->hca.send(frame, state_->queue_pair);
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

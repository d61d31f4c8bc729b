// SPDX-License-Identifier: GPL-2.0-or-later
// The adapter as its owner sees it: cable, queue pairs, handlers, sending. IBTA Vol 1, 10 and 11.
#include "fabric/node/hca_state.hpp"
#include "protocol/wire/smp.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

std::shared_ptr<const std::function<void(const Datagram&)>> handler_of(
    std::function<void(const Datagram&)>&& function) {
    return function ? std::make_shared<const std::function<void(const Datagram&)>>(std::move(function)) : nullptr;
}

}  // namespace

Hca::Hca(Loop& loop, HcaConfig config, HcaBehaviour behaviour)
    : state_(std::make_unique<State>(loop, std::move(config), behaviour)) {
    state_->hca = this;
}

Hca::~Hca() {
    state_->loop.forget(*this);
    state_->loop.forget(state_->loopback);
}

void Hca::connect(FrameSink* wire) {
    state_->cable = wire;
    if (state_->agent.set_link(false)) state_->emit({PortEvent::down});
    // A listener may have plugged it elsewhere.
    if (wire && state_->cable == wire) state_->agent.set_link(true);
}
bool Hca::is_connected() const noexcept { return state_->cable != nullptr; }
bool Hca::is_active() const noexcept { return state_->agent.is_active(); }
std::uint16_t Hca::lid() const noexcept { return state_->agent.lid(); }
std::uint16_t Hca::sm_lid() const noexcept { return state_->agent.port_info()[PortInfo::master_sm_lid]; }

PortFacts Hca::facts() const {
    const auto& agent = state_->agent;
    const auto& info = agent.port_info();
    PortFacts facts;
    facts.is_active = agent.is_active();
    facts.lid = agent.lid();
    facts.sm_lid = sm_lid();
    facts.sm_sl = info[PortInfo::master_sm_sl];
    facts.mtu = agent.active_mtu();
    facts.rate = state_->config.rate;
    facts.gid = Gid::of(info[PortInfo::gid_prefix], state_->config.port_guid);
    facts.p_keys.assign(agent.p_keys().begin(), agent.p_keys().end());
    return facts;
}
const HcaConfig& Hca::config() const noexcept { return state_->config; }
Loop& Hca::loop() noexcept { return state_->loop; }
const HcaDrops& Hca::drops() const noexcept { return state_->drops; }

QueuePair* Hca::create(std::uint32_t q_key, std::uint16_t p_key, std::function<void(const Datagram&)> receive) {
    return state_->queue_pairs.create(q_key, p_key, std::move(receive));
}
void Hca::destroy(QueuePair* queue_pair) {
    state_->queue_pairs.destroy(queue_pair);
    if (state_->deliveries == 0) state_->queue_pairs.bury();
}
bool Hca::attach(QueuePair& queue_pair, const Gid& mgid, std::uint16_t mlid) {
    auto& queue_pairs = state_->queue_pairs;
    if (queue_pairs.is_attached(queue_pair, mgid, mlid)) return true;
    if (state_->behaviour.enforces_attach_limit && queue_pairs.attachments() >= state_->config.attach_limit)
        return false;
    queue_pairs.attach(queue_pair, mgid, mlid);
    return true;
}
void Hca::detach(QueuePair& queue_pair, const Gid& mgid, std::uint16_t mlid) {
    state_->queue_pairs.detach(queue_pair, mgid, mlid);
}

std::uint32_t Hca::next_gsi_psn() noexcept { return state_->gsi_psn++; }
std::uint32_t Hca::new_transaction() noexcept { return ++state_->last_transaction; }
void Hca::on_mad(MgmtClass mgmt_class, std::function<void(const Datagram&)> handler) {
    state_->mad_handlers[mgmt_class] = handler_of(std::move(handler));
}
void Hca::on_smp(std::function<void(const Datagram&)> handler) { state_->smp_handler = handler_of(std::move(handler)); }

std::uint32_t Hca::on_event(std::function<void(PortEvent)> listener) {
    auto& s = *state_;
    s.listeners.push_back(
        {++s.last_listener, std::make_shared<const std::function<void(PortEvent)>>(std::move(listener))});
    return s.last_listener;
}
void Hca::remove_listener(std::uint32_t listener) {
    std::erase_if(state_->listeners, [listener](const auto& l) { return l.number == listener; });
}

void Hca::send(const Frame& frame, const QueuePair* from) {
    auto& s = *state_;
    const auto lrh = View<Lrh>::at(frame.octets());
    if (!lrh) {
        ++s.drops.malformed;
        return;
    }
    const bool is_management = lrh[Lrh::vl] == management_vl;
    if (!s.cable || (!is_management && !s.agent.is_active())) {
        ++s.drops.not_active;
        return;
    }
    if (tap) tap(frame, true);
    const auto sender = from ? from->qpn : 0;
    const bool is_multicast = is_multicast_lid(lrh[Lrh::dlid]);
    if (s.comes_back(frame, sender)) {
        s.loopback.senders.push_back(sender);
        s.loop.deliver(s.loop.now(), s.loopback, frame);
        if (!is_multicast) return;
    }
    s.cable->receive(frame);
}

void Hca::receive(const Frame& frame) {
    if (tap) tap(frame, false);
    if (!state_->cable) {
        ++state_->drops.not_active;
        return;
    }
    Look look{frame};
    state_->accept(*look, 0);
}

/// Whether a frame that is sent reaches this adapter too.
bool Hca::State::comes_back(const Frame& frame, std::uint32_t sender) {
    const auto dlid = View<Lrh>::at(frame.octets())[Lrh::dlid];
    if (agent.is_own_lid(dlid)) return true;
    const bool is_multicast = is_multicast_lid(dlid);
    if (!is_multicast && dlid != permissive_lid) return false;
    if (is_multicast && (!behaviour.loops_back || queue_pairs.attachments() == 0)) return false;
    Look look{frame};
    if (!is_multicast) {
        const bool is_smp = look->fault == Arrival::Fault::none && look->vl == management_vl;
        const auto smp = is_smp ? View<DirectedSmp>::at(look->packet().payload) : View<DirectedSmp>{};
        return smp && smp[DirectedSmp::mgmt_class] == MgmtClass::subn_directed_route &&
               smp[DirectedSmp::hop_count] == 0;
    }
    // A frame that is wrong in itself is judged, and counted, where it arrives.
    if (look->fault != Arrival::Fault::none || !look->has_grh) return false;
    const auto attached = queue_pairs.attached(look->dgid);
    return std::any_of(attached.begin(), attached.end(),
                       [sender](const Attachment& a) { return a.queue_pair->qpn != sender; });
}

void Hca::State::emit(const std::vector<PortEvent>& events) {
    for (const auto event : events) {
        const auto all = listeners;  // may change while they are told
        for (const auto& listener : all) {
            const bool is_listening = std::any_of(listeners.begin(), listeners.end(),
                                                  [&](const Listener& l) { return l.number == listener.number; });
            if (is_listening) (*listener.function)(event);
        }
    }
}

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// Frames from a node: looked at, judged whole or not, handed to the switch. IBTA Vol 1, 7.7 for the lengths.
#include "fabric/simulated/edge_port.hpp"

namespace ipoib::fabric::simulated {
using namespace wire;

EdgePort::EdgePort(SubnetContext& context, Switch& at, std::uint8_t port, std::uint64_t number)
    : context_(context), switch_(at), port_(port), number_(number) {}

EdgePort::~EdgePort() { drop_cable(); }

void EdgePort::plug(FrameSink& node, NodeRole role, Hca* hca) {
    node_ = &node;
    hca_ = hca;
    role_ = role;
    set_link(true);
}

void EdgePort::set_link(bool is_up) {
    if (!node_ || is_up == is_up_) return;
    is_up_ = is_up;
    if (!is_up) {
        context_.loop.forget(*node_);
        context_.loop.forget(cable_end_);
        if (to_switch_) to_switch_->clear();
        if (to_node_) to_node_->clear();
    }
    switch_.attach(port_, is_up ? this : nullptr);
    if (changed) changed(is_up);
    if (hca_) hca_->connect(is_up ? this : nullptr);
    if (told_) told_(is_up);
}

void EdgePort::unplug() {
    set_link(false);
    drop_cable();
    told_ = nullptr;
    node_ = nullptr;
    hca_ = nullptr;
}

void EdgePort::drop_cable() {
    if (node_) context_.loop.forget(*node_);
    context_.loop.forget(cable_end_);
    to_switch_.reset();
    to_node_.reset();
}

void EdgePort::receive(const Frame& frame) {
    if (!is_up_) return;
    if (context_.watcher && (role_ != NodeRole::subnet_manager || context_.config.may_see_sa_port))
        context_.watcher(context_.loop.now(), frame, role_);
    if (!is_whole(frame)) {
        ++context_.counters.malformed;
        return;
    }
    const auto arrival = context_.loop.now() + context_.config.hop;
    if (to_switch_) return to_switch_->carry(frame, arrival);
    switch_.take(frame, port_, arrival);
}

/// Whether the frame has the length that its LRH says and the version that there is.
bool EdgePort::is_whole(const Frame& frame) const noexcept {
    const auto octets = frame.octets();
    if (octets.size() < shortest_frame) return false;
    const auto lrh = View<Lrh>::at(octets);
    constexpr std::size_t least_global = Lrh::size + Grh::size + Bth::size + icrc_size + vcrc_size;
    if (lrh[Lrh::lnh] == Lnh::global && octets.size() < least_global) return false;
    return lrh[Lrh::version] == 0 && lrh[Lrh::packet_length] * std::size_t{4} + vcrc_size == octets.size();
}

void EdgePort::CableEnd::receive(const Frame& frame) {
    if (port.is_up_) port.switch_.take(frame, port.port_, port.context_.loop.now());
}

void EdgePort::carry(const Frame& frame, Time arrival) {
    if (to_node_) return to_node_->carry(frame, arrival);
    context_.loop.deliver(arrival, *node_, frame);
}

void EdgePort::set_faults(const LinkFaults& faults) {
    if (!node_) return;
    if (!to_switch_) {
        const auto seed = context_.config.seed * 0x9e3779b97f4a7c15 + 2 * number_;
        auto& lost = context_.counters.dropped_fault;
        to_switch_ = std::make_unique<CableDirection>(context_.loop, cable_end_, seed, lost);
        to_node_ = std::make_unique<CableDirection>(context_.loop, *node_, seed + 1, lost);
    }
    to_switch_->set(faults);
    to_node_->set(faults);
}

}  // namespace ipoib::fabric::simulated

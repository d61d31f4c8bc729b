// SPDX-License-Identifier: GPL-2.0-or-later
// All requests have the same patience, so they run out in the order in which they were sent.
#include "fabric/simulated/smp_client.hpp"

#include "fabric/simulated/smp_frame.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

SmpClient::SmpClient(Hca& hca, Loop& loop) : hca_(hca), loop_(loop) {
    hca_.on_smp([this](const Datagram& datagram) { receive(datagram); });
}
SmpClient::~SmpClient() {
    hca_.on_smp(nullptr);
    loop_.cancel(timer_);
}

void SmpClient::ask(const SmpRequest& request, Answered answered) {
    const auto transaction = ++last_transaction_;
    auto& open = open_.emplace_hint(open_.end(), transaction, Open{request, std::move(answered)})->second;
    send(transaction, open);
    arm();
}

void SmpClient::forget_all() {
    open_.clear();
    deadlines_.clear();
    loop_.cancel(timer_);
}

/// The manager's port is its adapter's only one: its first hop is made when the frame leaves it.
void SmpClient::send(std::uint64_t transaction, Open& open) {
    const auto& request = open.request;
    SmpFrame smp;
    smp.set(DirectedSmp::method, request.method)
        .set(DirectedSmp::transaction_id, transaction)
        .set(DirectedSmp::attribute_id, request.attribute)
        .set(DirectedSmp::attribute_modifier, request.modifier)
        .set(DirectedSmp::data, request.data)
        .set(DirectedSmp::initial_path, request.route.ports)
        .set(DirectedSmp::hop_count, request.route.hops)
        .set(DirectedSmp::hop_pointer, 1);
    ++open.attempts;
    deadlines_.push_back({loop_.now() + patience, transaction});
    hca_.send(smp.frame());
}

void SmpClient::receive(const Datagram& datagram) {
    const auto smp = View<DirectedSmp>::at(datagram.packet->payload);
    if (!smp || smp[DirectedSmp::mgmt_class] != MgmtClass::subn_directed_route) return;
    if (smp[DirectedSmp::method] != Method::get_resp) return;
    const auto found = open_.find(smp[DirectedSmp::transaction_id]);
    if (found == open_.end()) return;
    const auto& request = found->second.request;
    const bool is_for_it =
        smp[DirectedSmp::attribute_id] == request.attribute && smp[DirectedSmp::attribute_modifier] == request.modifier;
    if (!is_for_it) return;
    const auto answered = std::move(found->second.answered);
    open_.erase(found);
    answered(smp);
}

void SmpClient::arm() {
    if (timer_ || deadlines_.empty()) return;
    timer_ = loop_.at(deadlines_.front().time, [this] {
        timer_ = {};
        expire();
    });
}

void SmpClient::expire() {
    std::vector<Answered> given_up;
    while (!deadlines_.empty() && deadlines_.front().time <= loop_.now()) {
        const auto transaction = deadlines_.front().transaction;
        deadlines_.pop_front();
        const auto found = open_.find(transaction);
        if (found == open_.end()) continue;
        if (found->second.attempts < attempts) {
            send(transaction, found->second);
        } else {
            given_up.push_back(std::move(found->second.answered));
            open_.erase(found);
        }
    }
    while (!deadlines_.empty() && !open_.contains(deadlines_.front().transaction)) deadlines_.pop_front();
    arm();
    for (const auto& answered : given_up) answered({});
}

}  // namespace ipoib::fabric::simulated

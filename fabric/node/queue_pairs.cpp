// SPDX-License-Identifier: GPL-2.0-or-later
// The queue pairs of an adapter: numbers, lifetime, attach table.
#include "fabric/node/queue_pairs.hpp"

#include <algorithm>

namespace ipoib::fabric {
using wire::Gid;

QueuePair* QueuePairs::create(std::uint32_t q_key, std::uint16_t p_key, std::function<void(const Datagram&)> receive) {
    if (by_number_.size() >= most_ || next_qpn_ >= wire::Bth::multicast_qp) return nullptr;
    auto made = std::make_unique<QueuePair>();
    made->qpn = next_qpn_++;
    made->q_key = q_key;
    made->p_key = p_key;
    made->receive = std::move(receive);
    auto* queue_pair = made.get();
    by_number_.emplace(queue_pair->qpn, std::move(made));
    return queue_pair;
}

void QueuePairs::destroy(QueuePair* queue_pair) {
    if (!queue_pair) return;
    const auto at = by_number_.find(queue_pair->qpn);
    if (at == by_number_.end() || at->second.get() != queue_pair) return;
    for (auto group = groups_.begin(); group != groups_.end();) {
        attachments_ -= std::erase_if(group->second, [&](const Attachment& a) { return a.queue_pair == queue_pair; });
        group = group->second.empty() ? groups_.erase(group) : std::next(group);
    }
    destroyed_.push_back(std::move(at->second));
    by_number_.erase(at);
}

bool QueuePairs::is_destroyed(const QueuePair* queue_pair) const noexcept {
    return std::any_of(destroyed_.begin(), destroyed_.end(), [&](const auto& d) { return d.get() == queue_pair; });
}

QueuePair* QueuePairs::find(std::uint32_t qpn) const noexcept {
    const auto at = by_number_.find(qpn);
    return at == by_number_.end() ? nullptr : at->second.get();
}

void QueuePairs::attach(QueuePair& queue_pair, const Gid& mgid, std::uint16_t mlid) {
    if (is_attached(queue_pair, mgid, mlid)) return;
    groups_[mgid].push_back({mlid, &queue_pair});
    ++attachments_;
}

void QueuePairs::detach(const QueuePair& queue_pair, const Gid& mgid, std::uint16_t mlid) {
    const auto group = groups_.find(mgid);
    if (group == groups_.end()) return;
    attachments_ -= std::erase_if(group->second,
                                  [&](const Attachment& a) { return a.queue_pair == &queue_pair && a.mlid == mlid; });
    if (group->second.empty()) groups_.erase(group);
}

bool QueuePairs::is_attached(const QueuePair& queue_pair, const Gid& mgid, std::uint16_t mlid) const noexcept {
    const auto all = attached(mgid);
    return std::any_of(all.begin(), all.end(),
                       [&](const Attachment& a) { return a.queue_pair == &queue_pair && a.mlid == mlid; });
}

std::span<const Attachment> QueuePairs::attached(const Gid& mgid) const noexcept {
    const auto group = groups_.find(mgid);
    if (group == groups_.end()) return {};
    return group->second;
}

}  // namespace ipoib::fabric

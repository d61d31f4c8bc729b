// SPDX-License-Identifier: GPL-2.0-or-later
// What a capture tells of packets that are not in it.
#include "protocol/state/subnet.hpp"

#include <algorithm>

namespace ipoib::state {
namespace {

/// Whether one sight is certainly not after the other.
bool is_by(const Sight& one, const Sight& other) noexcept {
    return one.capture == other.capture ? one.frame <= other.frame : one.time < other.time;
}

std::uint64_t sum(std::uint64_t one, std::uint64_t other) noexcept {
    std::uint64_t both = 0;
    return __builtin_add_overflow(one, other, &both) ? ~std::uint64_t{0} : both;
}

}  // namespace

std::string in_words(const Loss& loss) {
    auto words = "the capture says that " + std::to_string(loss.count) +
                 (loss.count == 1 ? " packet was dropped" : " packets were dropped");
    if (!loss.interface.empty()) words += " on interface " + loss.interface;
    if (loss.is_told_by_next) return words + " before frame " + std::to_string(loss.before.frame);
    return loss.after ? words + " after frame " + std::to_string(loss.after.frame) : words;
}

bool is_within(const Loss& loss, const Sight& since, const Sight& at) noexcept {
    const bool is_over = is_by(loss.before, since), is_later = loss.after && is_by(at, loss.after);
    return !is_over && !is_later;
}

void Subnet::tell_loss(Loss loss) {
    if (losses_.size() < most_losses) {
        losses_.push_back(std::move(loss));
        return;
    }
    auto& last = losses_.back();
    if (last.after && (!loss.after || is_by(loss.after, last.after))) last.after = loss.after;
    if (is_by(last.before, loss.before)) last.before = loss.before;
    last.count = sum(last.count, loss.count);
    if (last.interface != loss.interface) last.interface.clear();
    last.is_told_by_next = false;
}

const Loss* Subnet::loss_in(const Span& span, const Sight& at) const noexcept {
    if (span.is_given || losses_.empty()) return nullptr;
    auto since = span.none_lost_since ? span.none_lost_since : span.since;
    for (const auto& sender : span.senders)
        if (sender.of.qpn != 0 && is_by(sender.since, since)) since = sender.since;
    const auto found = std::ranges::find_if(losses_, [&](const Loss& loss) { return is_within(loss, since, at); });
    return found != losses_.end() ? &*found : nullptr;
}

}  // namespace ipoib::state

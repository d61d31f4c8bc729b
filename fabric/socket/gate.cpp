// SPDX-License-Identifier: GPL-2.0-or-later
// First come, first through.
#include "fabric/socket/gate.hpp"

#include "fabric/node/mad_frame.hpp"
#include "protocol/wire/lrh.hpp"

#include <utility>

namespace ipoib::fabric {
using namespace wire;

Gate::Gate(Loop& loop, FrameSink& behind, std::function<bool(const Frame&)> was_told,
           std::function<void(const Frame&)> untold)
    : loop_(loop), behind_(behind), was_told_(std::move(was_told)), untold_(std::move(untold)) {}

Gate::~Gate() { close(); }

void Gate::close() {
    loop_.cancel(timer_);
    waiting_.clear();
}

void Gate::receive(const Frame& frame) {
    const auto lrh = View<Lrh>::at(frame.octets());
    if (!lrh || lrh[Lrh::vl] == management_vl) return behind_.receive(frame);
    if (waiting_.empty() && was_told_(frame)) return behind_.receive(frame);
    waiting_.push_back({frame, loop_.now() + patience});
    if (waiting_.size() == 1) timer_ = loop_.at(waiting_.front().until, [this] { expire(); });
}

void Gate::look() {
    bool has_passed = false;
    while (!waiting_.empty() && was_told_(waiting_.front().frame)) {
        const auto frame = std::move(waiting_.front().frame);
        waiting_.pop_front();
        behind_.receive(frame);
        has_passed = true;
    }
    if (!has_passed) return;
    loop_.cancel(timer_);
    if (!waiting_.empty()) timer_ = loop_.at(waiting_.front().until, [this] { expire(); });
}

void Gate::expire() {
    const auto frame = std::move(waiting_.front().frame);
    waiting_.pop_front();
    untold_(frame);
    behind_.receive(frame);
    look();
    loop_.cancel(timer_);
    if (!waiting_.empty()) timer_ = loop_.at(waiting_.front().until, [this] { expire(); });
}

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// From packets to frames.
#include "traffic-gen/stage.hpp"

#include <algorithm>

namespace ipoib::traffic {

std::size_t Stage::size() { return options_.least_size + any(options_.most_size - options_.least_size + 1); }

bool Stage::goes_on() const noexcept {
    return !(is_stopped && is_stopped()) && sent_ < options_.count &&
           (!has_begun_ || now_ - begun_ < options_.duration);
}

std::vector<std::uint8_t> Stage::whole(build::PacketBuilder& packet, bool& is_left_out) const {
    if (!has_begun_ || !change) return packet.build();
    constexpr std::size_t tail = wire::icrc_size + wire::vcrc_size;
    const auto before = options_.keeps_crc ? packet.build() : std::vector<std::uint8_t>{};
    is_left_out = !change(packet);
    auto frame = packet.build();
    if (options_.keeps_crc) std::copy(before.end() - tail, before.end(), frame.end() - tail);
    return frame;
}

void Stage::send(build::PacketBuilder packet) {
    if (has_begun_ && !goes_on()) return;
    bool is_left_out = false;
    auto frame = whole(packet, is_left_out);
    if (is_left_out) return;
    if (has_begun_ && damage) damage(frame);
    if (has_begun_ && sent_ == 0) begun_ = now_;
    sink_.take(now_, frame);
    now_ += options_.spacing;
    if (has_begun_) ++sent_;
}

}  // namespace ipoib::traffic

// SPDX-License-Identifier: GPL-2.0-or-later
// Counting by numbers.
#include "traffic-gen/arrivals.hpp"

#include "protocol/wire/ip_address.hpp"

namespace ipoib::traffic {
using namespace wire;

void FlowArrivals::take(std::uint64_t number) noexcept {
    if (!has_begun_) {
        has_begun_ = true;
        first_ = highest_ = number;
        different_ = 1;
        came_[number % window] = true;
        return;
    }
    if (number > highest_) {
        // What is passed over has not come yet, and what was there before in its place is out of the window.
        if (number - highest_ >= window)
            came_.reset();
        else
            for (auto i = highest_ + 1; i < number; ++i) came_[i % window] = false;
        highest_ = number;
        came_[number % window] = true;
        ++different_;
        return;
    }
    const bool is_known = highest_ - number < window;
    // Before the first that came: it was overtaken by all of them.
    const bool is_first = number < first_;
    if (!is_first && is_known && came_[number % window]) {
        ++doubled_;
        return;
    }
    ++overtaken_;
    ++different_;
    if (is_first) first_ = number;
    if (is_known) came_[number % window] = true;
}

void Arrivals::take(Octets frame) {
    ++packets;
    octets += frame.size();
    Packet packet;
    decode(frame, packet);
    if (!packet.udp || packet.ip_payload.size() < Udp::size) return;
    const auto number = Number::read(packet.ip_payload.subspan(Udp::size));
    if (!number) return;
    const Key key{
        .from = packet.ipv6 ? packet.ipv6[Ipv6::source] : IpAddress::v4(packet.ipv4[Ipv4::source]).octets,
        .to = packet.ipv6 ? packet.ipv6[Ipv6::destination] : IpAddress::v4(packet.ipv4[Ipv4::destination]).octets,
        .run = number->run};
    auto flow = flows_.find(key);
    if (flow == flows_.end()) {
        if (flows_.size() >= most_flows) return;
        flow = flows_.try_emplace(key).first;
    }
    ++numbered;
    flow->second.take(number->count);
}

std::uint64_t Arrivals::sum(std::uint64_t (FlowArrivals::*what)() const noexcept) const noexcept {
    std::uint64_t all = 0;
    for (const auto& [key, flow] : flows_) all += (flow.*what)();
    return all;
}

}  // namespace ipoib::traffic

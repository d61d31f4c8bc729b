// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/watcher.hpp"

#include "protocol/wire/dhcp.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::links {

Observer::Observer() {
    for (const auto make : {watch_addresses, watch_partitions, watch_silence, watch_sizes, watch_leases, watch_notices})
        watchers_.push_back(make());
    ask_for_kinds();
}

void Observer::ask_for_kinds() {
    const auto looks_at = [](const auto& watcher) { return watcher->looks_at(); };
    if (std::ranges::equal(looks_at_, watchers_, {}, {}, looks_at)) return;
    looks_at_.clear();
    for (auto& those : by_kinds_) those.clear();
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
        looks_at_.push_back(looks_at(watchers_[i]));
        for (std::size_t kinds = 0; kinds < by_kinds_.size(); ++kinds)
            if ((looks_at_.back() & kinds) != 0) by_kinds_[kinds].push_back(watchers_[i].get());
    }
}

unsigned Observer::kinds_of(const Moment& moment) noexcept {
    const auto& packet = moment.packet;
    unsigned kinds = packets::all;
    if (packet.mad) kinds |= packets::management;
    if (!moment.known.link || moment.known.link->p_key == 0) return kinds;
    kinds |= packets::of_links;
    if (packet.arp_addresses || packet.nd_target) kinds |= packets::resolution;
    if (packet.icmp || packet.icmpv6 || packet.ip_protocol == wire::IpProtocol::tcp) kinds |= packets::dialogues;
    if (packet.udp && packet.ip_payload.size() >= wire::Udp::size + wire::Dhcp::size) kinds |= packets::leases;
    return kinds;
}

std::vector<Trouble> Observer::troubles() const {
    std::vector<Trouble> all;
    for (const auto& one : watchers_) std::ranges::move(one->troubles(), std::back_inserter(all));
    return all;
}

}  // namespace ipoib::links

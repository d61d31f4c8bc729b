// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/watcher.hpp"

#include "protocol/wire/dhcp.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::links {

Observer::Observer() {
    for (const auto make :
         {watch_addresses, watch_partitions, watch_silence, watch_sizes, watch_leases, watch_notices}) {
        auto watcher = make();
        const auto looks_at = watcher->looks_at();
        watchers_.push_back({std::move(watcher), looks_at});
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
    for (const auto& one : watchers_) std::ranges::move(one.watcher->troubles(), std::back_inserter(all));
    return all;
}

}  // namespace ipoib::links

// SPDX-License-Identifier: GPL-2.0-or-later
// The neighbours of an interface: resolution, cache, revalidation.
#include "stack/neighbours.hpp"

#include "stack/interface.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

namespace {
constexpr unsigned unicast_probes = 3, multicast_probes = 3;
constexpr fabric::Duration between_probes = 1s;
}  // namespace

void Neighbours::send(const IpAddress& to, EtherType protocol, Octets datagram) {
    auto* neighbour = entry(to);
    if (!neighbour) return;
    neighbour->used = interface_.loop().now();
    if (!neighbour->is_resolved) {
        if (neighbour->waiting.size() >= most_waiting) neighbour->waiting.erase(neighbour->waiting.begin());
        neighbour->waiting.push_back({protocol, {datagram.begin(), datagram.end()}});
        if (!neighbour->timer && !neighbour->is_given_up) probe(to);
        return;
    }
    transmit(*neighbour, protocol, datagram);
    // RFC 4391, 9.4: the QPN may have changed since.
    const bool is_old = neighbour->used - neighbour->confirmed >= interface_.timers().reachable;
    if (is_old && !neighbour->timer && interface_.policy(family_of(to)).revalidates) probe(to);
}

void Neighbours::resolve(const IpAddress& to, Resolved resolved) {
    auto* neighbour = entry(to);
    if (!neighbour) return resolved(nullptr);
    neighbour->used = interface_.loop().now();
    if (neighbour->is_resolved) {
        const auto address = neighbour->link_address;
        return resolved(&address);
    }
    if (neighbour->is_given_up) return resolved(nullptr);
    neighbour->resolving.push_back(std::move(resolved));
    if (!neighbour->timer) probe(to);
}

/// The entry, made if need be; the one that was not used for the longest time makes room.
Neighbours::Entry* Neighbours::entry(const IpAddress& address) {
    if (const auto found = entries_.find(address); found != entries_.end()) return &found->second;
    if (entries_.size() >= most_neighbours) {
        auto oldest = entries_.end();
        for (auto i = entries_.begin(); i != entries_.end(); ++i) {
            const bool is_idle = i->second.is_resolved && !i->second.timer;
            if (is_idle && (oldest == entries_.end() || i->second.used < oldest->second.used)) oldest = i;
        }
        if (oldest == entries_.end()) return nullptr;
        entries_.erase(oldest);
    }
    arm_sweep();
    auto& made = entries_[address];
    made.used = interface_.loop().now();
    return &made;
}

void Neighbours::transmit(const Entry& entry, EtherType protocol, Octets datagram) {
    interface_.connections().wanted(entry.link_address, entry.qpn);
    if (interface_.connections().send(entry.link_address, entry.qpn, protocol, datagram)) return;
    interface_.paths().send({entry.link_address[LinkAddress::gid], entry.qpn}, protocol, datagram);
}

std::optional<std::size_t> Neighbours::mtu_of_connection(const IpAddress& address) const {
    const auto found = entries_.find(address);
    if (found == entries_.end() || !found->second.is_resolved) return {};
    return interface_.connections().mtu_to(found->second.link_address, found->second.qpn, family_of(address));
}

/// RFC 4391, 9.4 with RFC 1122, 2.3.2.1: a known neighbour is asked by unicast first, then all are asked.
void Neighbours::probe(const IpAddress& address) {
    const auto found = entries_.find(address);
    if (found == entries_.end()) return;
    auto& neighbour = found->second;
    neighbour.timer = {};
    const auto by_unicast = neighbour.is_resolved ? unicast_probes : 0;
    if (neighbour.probes >= by_unicast + multicast_probes) return give_up(found);
    const bool is_unicast = neighbour.probes < by_unicast;
    if (!is_unicast && neighbour.is_resolved) interface_.paths().forget(neighbour.link_address[LinkAddress::gid]);
    ++neighbour.probes;
    neighbour.timer = interface_.loop().after(between_probes, lifetime_.guard([this, address] { probe(address); }));
    const Peer peer{neighbour.link_address[LinkAddress::gid], neighbour.qpn};
    interface_.solicit(address, is_unicast ? &peer : nullptr);
}

void Neighbours::give_up(Entries::iterator at) {
    if (at->second.is_resolved && !interface_.policy(family_of(at->first)).forgets_silent) return confirmed(at->second);
    const auto resolving = std::move(at->second.resolving);
    interface_.log("no answer from " + text(at->first));
    if (!interface_.policy(family_of(at->first)).asks_silent_again) {
        at->second.resolving.clear();
        at->second.is_given_up = true;
    } else {
        entries_.erase(at);
    }
    for (const auto& resolved : resolving) resolved(nullptr);
}

void Neighbours::follow(const IpAddress& address, std::uint32_t qpn) {
    if (const auto found = entries_.find(address); found != entries_.end()) found->second.qpn = qpn;
}

void Neighbours::heard(const Heard& heard) {
    const auto family = family_of(heard.address);
    const auto& policy = interface_.policy(family);
    auto link_address = heard.link_address;
    const auto flags = link_address[LinkAddress::flags];
    if (!policy.accepts_flags(flags)) return;
    if (!heard.is_for_us && !knows(heard.address)) return;
    auto* neighbour = entry(heard.address);
    if (!neighbour) return;
    link_address.set(LinkAddress::flags, policy.kept_flags(flags, interface_.is_connected_mode()));
    interface_.paths().heard(link_address[LinkAddress::gid], heard.source_lid, family);
    const bool is_another = neighbour->link_address.octets != link_address.octets;
    if (neighbour->is_resolved && is_another &&
        !policy.replaces_neighbour(heard.address, neighbour->link_address, link_address))
        return;
    const bool is_new = !neighbour->is_resolved || is_another;
    if (!neighbour->is_resolved) neighbour->first_told = link_address;
    neighbour->link_address = link_address;
    neighbour->qpn = policy.peer_qpn(link_address, heard.source_qp);
    neighbour->is_resolved = true;
    if (!policy.keeps_neighbours_apart)
        for (auto& [address, other] : entries_)
            if (other.is_resolved && other.link_address[LinkAddress::gid] == link_address[LinkAddress::gid] &&
                family_of(address) == family)
                other.qpn = neighbour->qpn;
    if (heard.is_answer || is_new) confirmed(*neighbour);
}

void Neighbours::confirmed(Entry& neighbour) {
    interface_.loop().cancel(neighbour.timer);
    neighbour.timer = {};
    neighbour.probes = 0;
    neighbour.confirmed = interface_.loop().now();
    const auto waiting = std::exchange(neighbour.waiting, {});
    const auto resolving = std::exchange(neighbour.resolving, {});
    const auto copy = neighbour;
    for (const auto& one : waiting) transmit(copy, one.protocol, one.datagram);
    for (const auto& resolved : resolving) resolved(&copy.link_address);
}

std::vector<std::pair<IpAddress, HardwareAddress>> Neighbours::list() const {
    std::vector<std::pair<IpAddress, HardwareAddress>> all;
    for (const auto& [address, neighbour] : entries_) {
        if (!neighbour.is_resolved) continue;
        const auto& policy = interface_.policy(family_of(address));
        const auto& told = policy.tells_newest_address ? neighbour.link_address : neighbour.first_told;
        all.emplace_back(address, policy.told_address(told));
    }
    return all;
}

void Neighbours::flush() {
    lifetime_.renew();
    interface_.loop().cancel(sweep_timer_);
    sweep_timer_ = {};
    auto entries = std::exchange(entries_, {});
    for (auto& [address, neighbour] : entries) {
        interface_.loop().cancel(neighbour.timer);
        for (const auto& resolved : neighbour.resolving) resolved(nullptr);
    }
}

void Neighbours::arm_sweep() {
    if (sweep_timer_) return;
    sweep_timer_ = interface_.loop().after(interface_.timers().gc, lifetime_.guard([this] { sweep(); }));
}

void Neighbours::timers_changed() {
    interface_.loop().cancel(sweep_timer_);
    sweep_timer_ = {};
    if (!entries_.empty()) arm_sweep();
}

/// Forgets whom nobody has sent to for a while.
void Neighbours::sweep() {
    sweep_timer_ = {};
    const auto now = interface_.loop().now();
    std::erase_if(entries_, [&](const auto& item) {
        const auto& neighbour = item.second;
        return neighbour.is_resolved && !neighbour.timer && now - neighbour.used >= interface_.timers().gc;
    });
    if (!entries_.empty()) arm_sweep();
}

}  // namespace ipoib::stack

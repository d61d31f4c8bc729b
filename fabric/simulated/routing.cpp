// SPDX-License-Identifier: GPL-2.0-or-later
// In a tree there is one way from each switch to each port; a group's packets take the ways between its members.
#include "fabric/simulated/routing.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

Routing::Index Routing::add(const Link& link) {
    const auto index = switches();
    nodes_.push_back({link, link.parent == none ? 0 : nodes_[link.parent].depth + 1, {}, {}});
    if (link.parent != none) nodes_[link.parent].children.push_back(index);
    for (std::size_t lid = 0; lid < places_.size(); lid += LinearBlock::entries)
        changed_.insert(
            {index, smp_attribute::linear_forwarding_table, static_cast<std::uint32_t>(lid / LinearBlock::entries)});
    // What a manager before this one wrote is overwritten.
    if (top_mlid_ >= first_multicast_lid)
        for (unsigned block = 0; block <= (top_mlid_ - first_multicast_lid) / MulticastBlock::entries; ++block)
            for (unsigned position = 0; position <= link.ports / MulticastModifier::ports; ++position)
                changed_.insert(
                    {index, smp_attribute::multicast_forwarding_table,
                     MulticastModifier{static_cast<std::uint16_t>(block), static_cast<std::uint8_t>(position)}
                         .value()});
    return index;
}

void Routing::place(std::uint16_t lid, Index at, std::uint8_t port) { put(lid, {at, port}); }
void Routing::remove(std::uint16_t lid) { put(lid, {}); }

void Routing::put(std::uint16_t lid, const Place& place) {
    if (lid == 0 || lid >= first_multicast_lid) return;
    if (lid >= places_.size()) places_.resize(lid + std::size_t{1});
    const auto old = std::exchange(places_[lid], place);
    if (old.at == place.at && old.port == place.port) return;
    mark_linear(lid);
    const auto groups = groups_of_.find(lid);
    if (groups == groups_of_.end()) return;
    for (const auto mlid : groups->second) {
        auto& members = groups_.at(mlid);
        const bool receives = members.lids.at(lid);
        move(mlid, members, old, place, receives, receives);
    }
}

void Routing::mark_linear(std::uint16_t lid) {
    for (Index i = 0; i < switches(); ++i)
        changed_.insert(
            {i, smp_attribute::linear_forwarding_table, static_cast<std::uint32_t>(lid / LinearBlock::entries)});
}

void Routing::route(std::uint16_t mlid, const SubnetView::Routes& routes) {
    if (!is_multicast_lid(mlid)) return;
    top_mlid_ = std::max(top_mlid_, mlid);
    auto& members = groups_[mlid];
    // Who receives is a receiver, whatever else it is.
    std::map<std::uint16_t, bool> wanted;
    for (const auto lid : routes.to) wanted.emplace(lid, true);
    for (const auto lid : routes.from_only) wanted.emplace(lid, false);
    for (const auto& [lid, receives] : std::map{members.lids})
        if (!wanted.contains(lid)) take_part(mlid, members, lid, std::nullopt);
    for (const auto& [lid, receives] : wanted) take_part(mlid, members, lid, receives);
    if (members.lids.empty()) groups_.erase(mlid);
}

void Routing::reroute(std::uint16_t mlid, std::uint16_t lid, const SubnetView::Routes& routes) {
    const auto found = groups_.find(mlid);
    if (found == groups_.end()) return route(mlid, routes);
    const bool receives = routes.to.contains(lid), is_there = receives || routes.from_only.contains(lid);
    take_part(mlid, found->second, lid, is_there ? std::optional{receives} : std::nullopt);
    if (found->second.lids.empty()) groups_.erase(found);
}

void Routing::Share::add(bool is_receiver, int sign) noexcept {
    all += static_cast<std::uint32_t>(sign);
    if (is_receiver) receivers += static_cast<std::uint32_t>(sign);
}

void Routing::count(Members& members, const Place& place, bool receives, int sign) {
    if (place.at == none) return;
    auto& ports = members.branches[place.at].ports;
    ports[place.port].add(receives, sign);
    if (ports[place.port].all == 0) ports.erase(place.port);
    for (auto at = place.at; at != none; at = nodes_[at].link.parent) {
        members.branches[at].share.add(receives, sign);
        if (members.branches[at].share.all == 0) members.branches.erase(at);
    }
    members.placed.add(receives, sign);
}

void Routing::add_way_up(Index at, std::set<Index>& touched) const {
    for (; at != none; at = nodes_[at].link.parent) touched.insert(at);
}

void Routing::add_heads(const Members& members, std::set<Index>& touched) const {
    const auto has_all = [&](Index at, std::uint32_t Share::*part) {
        const auto branch = members.branches.find(at);
        return branch != members.branches.end() && branch->second.share.*part == members.placed.*part;
    };
    for (const auto part : {&Share::all, &Share::receivers}) {
        if (members.placed.*part == 0) continue;
        for (Index at = 0, next = at; next != none; at = next) {
            touched.insert(at);
            const auto& children = nodes_[at].children;
            const auto child = std::ranges::find_if(children, [&](Index one) { return has_all(one, part); });
            next = child == children.end() ? none : *child;
        }
    }
}

void Routing::take_part(std::uint16_t mlid, Members& members, std::uint16_t lid, std::optional<bool> receives) {
    const auto found = members.lids.find(lid);
    const auto before = found == members.lids.end() ? std::nullopt : std::optional{found->second};
    if (before == receives) return;
    const auto& place = place_of(lid);
    move(mlid, members, before ? place : Place{}, receives ? place : Place{}, before.value_or(false),
         receives.value_or(false));
    if (receives) {
        members.lids[lid] = *receives;
        groups_of_[lid].insert(mlid);
    } else {
        members.lids.erase(found);
        groups_of_[lid].erase(mlid);
    }
}

/// A member is no longer where it was, or what it was.
void Routing::move(std::uint16_t mlid, Members& members, const Place& from, const Place& to, bool received,
                   bool receives) {
    std::set<Index> touched;
    const bool had_receivers = members.placed.receivers != 0;
    add_heads(members, touched);
    count(members, from, received, -1);
    count(members, to, receives, +1);
    add_heads(members, touched);
    add_way_up(from.at, touched);
    add_way_up(to.at, touched);
    // The first receiver is where all senders are led to.
    if (had_receivers != (members.placed.receivers != 0))
        for (const auto& [at, branch] : members.branches) touched.insert(at);
    for (const auto at : touched) change(at, mlid, wanted(at, members));
}

void Routing::forget_places() {
    nodes_.clear();
    places_.clear();
    changed_.clear();
    senders_.clear();
    for (auto& [mlid, members] : groups_) {
        members.branches.clear();
        members.placed = {};
    }
}

void Routing::forget_groups() {
    for (const auto& [mlid, members] : std::exchange(groups_, {}))
        for (const auto& [at, branch] : members.branches) change(at, mlid, {});
    groups_of_.clear();
}

const Routing::Place& Routing::place_of(std::uint16_t lid) const {
    static constexpr Place nowhere;
    return lid < places_.size() ? places_[lid] : nowhere;
}

std::uint8_t Routing::port_towards(Index from, const Place& to) const {
    if (to.at == none) return no_port;
    if (to.at == from) return to.port;
    const auto depth = nodes_[from].depth;
    auto at = to.at;
    while (nodes_[at].depth > depth + 1) at = nodes_[at].link.parent;
    const bool is_below = nodes_[at].depth == depth + 1 && nodes_[at].link.parent == from;
    return is_below ? nodes_[at].link.parent_port : nodes_[from].link.uplink;
}

void Routing::fill(const Block& block, MutableOctets data) const {
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    if (block.attribute == smp_attribute::linear_forwarding_table) {
        for (std::size_t i = 0; i < LinearBlock::entries; ++i) {
            const auto lid = static_cast<std::uint16_t>(block.modifier * LinearBlock::entries + i);
            LinearBlock::write(data, i, port_towards(block.at, place_of(lid)));
        }
        return;
    }
    const auto where = MulticastModifier::of(block.modifier);
    const auto first = first_multicast_lid + where.block * MulticastBlock::entries;
    const auto& groups = nodes_[block.at].groups;
    for (auto group = groups.lower_bound(static_cast<std::uint16_t>(first));
         group != groups.end() && group->first < first + MulticastBlock::entries; ++group)
        MulticastBlock::write(data, group->first - first, group->second.to.part(where.position));
}

void Routing::change(Index at, std::uint16_t mlid, const ForwardingTables::Group& wanted) {
    auto& groups = nodes_[at].groups;
    const auto found = groups.find(mlid);
    const auto old = found == groups.end() ? ForwardingTables::Group{} : found->second;
    if (old.to == wanted.to && old.senders == wanted.senders) return;
    if (wanted.to.is_empty() && wanted.senders.is_empty())
        groups.erase(mlid);
    else
        groups[mlid] = wanted;
    if (old.senders != wanted.senders) senders_.push_back({at, mlid, wanted.senders});
    const auto block = static_cast<std::uint16_t>((mlid - first_multicast_lid) / MulticastBlock::entries);
    for (unsigned i = 0; i <= nodes_[at].link.ports / MulticastModifier::ports; ++i) {
        const auto position = static_cast<std::uint8_t>(i);
        if (old.to.part(position) != wanted.to.part(position))
            changed_.insert(
                {at, smp_attribute::multicast_forwarding_table, MulticastModifier{block, position}.value()});
    }
}

/// The ports that lead to a receiver, as far as a receiver and another participant are on both sides, and the ports
/// that participants are on.
ForwardingTables::Group Routing::wanted(Index at, const Members& members) const {
    ForwardingTables::Group group;
    const auto found = members.branches.find(at);
    if (found == members.branches.end()) return group;
    const auto& [share, ports] = found->second;
    for (const auto& [port, there] : ports) {
        group.senders.set(port);
        if (there.receivers != 0) group.to.set(port);
    }
    const auto all = members.placed.all;
    for (const auto child : nodes_[at].children) {
        const auto below = members.branches.find(child);
        if (below == members.branches.end() || below->second.share.all == all) continue;
        if (below->second.share.receivers != 0) group.to.set(nodes_[child].link.parent_port);
    }
    const auto& link = nodes_[at].link;
    if (link.parent != none && share.all != all && share.receivers != members.placed.receivers)
        group.to.set(link.uplink);
    return group;
}

}  // namespace ipoib::fabric::simulated

// SPDX-License-Identifier: GPL-2.0-or-later
// In a tree there is one way from each switch to each port; a group's packets take the ways between its members.
#include "fabric/simulated/routing.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

Routing::Index Routing::add(const Link& link) {
    const auto index = switches();
    nodes_.push_back({link, link.parent == none ? 0 : nodes_[link.parent].depth + 1, {}});
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
    auto& old = places_[lid];
    if (old.at == place.at && old.port == place.port) return;
    old = place;
    mark_linear(lid);
    recompute_groups_of(lid);
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
    members.to.assign(routes.to.begin(), routes.to.end());
    members.from_only.assign(routes.from_only.begin(), routes.from_only.end());
    recompute(mlid);
    if (members.to.empty() && members.from_only.empty()) groups_.erase(mlid);
}

void Routing::forget_places() {
    nodes_.clear();
    places_.clear();
    changed_.clear();
    senders_.clear();
}

void Routing::forget_groups() {
    auto forgotten = std::exchange(groups_, {});
    for (const auto& [mlid, members] : forgotten) recompute(mlid);
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

void Routing::recompute_groups_of(std::uint16_t lid) {
    const auto has = [lid](const std::vector<std::uint16_t>& lids) {
        return std::binary_search(lids.begin(), lids.end(), lid);
    };
    for (const auto& [mlid, members] : groups_)
        if (has(members.to) || has(members.from_only)) recompute(mlid);
}

void Routing::recompute(std::uint16_t mlid) {
    const auto found = groups_.find(mlid);
    const auto wanted = spanning_tree(found == groups_.end() ? Members{} : found->second);
    for (Index i = 0; i < switches(); ++i) change(i, mlid, wanted[i]);
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

/// For each switch the ports that lead to a receiver, as far as a receiver and another participant are on both sides,
/// and the ports that participants are on.
std::vector<ForwardingTables::Group> Routing::spanning_tree(const Members& members) const {
    struct Below {
        std::size_t receivers = 0, all = 0;  ///< in the branch that begins here
    };
    std::vector<Below> below(nodes_.size());
    std::vector<ForwardingTables::Group> wanted(nodes_.size());
    Below total;
    const auto count = [&](std::uint16_t lid, bool receives) {
        const auto& place = place_of(lid);
        if (place.at == none) return;
        wanted[place.at].senders.set(place.port);
        if (receives) wanted[place.at].to.set(place.port);
        for (auto at = place.at; at != none; at = nodes_[at].link.parent) {
            below[at].receivers += receives;
            ++below[at].all;
        }
        total.receivers += receives;
        ++total.all;
    };
    for (const auto lid : members.to) count(lid, true);
    for (const auto lid : members.from_only)
        if (!std::binary_search(members.to.begin(), members.to.end(), lid)) count(lid, false);
    for (Index i = 0; i < switches(); ++i) {
        const auto& link = nodes_[i].link;
        const bool is_crossed = link.parent != none && below[i].all != 0 && below[i].all != total.all;
        if (!is_crossed) continue;
        if (below[i].receivers != 0) wanted[link.parent].to.set(link.parent_port);
        if (below[i].receivers != total.receivers) wanted[i].to.set(link.uplink);
    }
    return wanted;
}

}  // namespace ipoib::fabric::simulated

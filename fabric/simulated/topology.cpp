// SPDX-License-Identifier: GPL-2.0-or-later
// A quarter of a switch's ports leads down: a thousand nodes hang in three levels of switches.
#include "fabric/simulated/topology.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
namespace {

constexpr std::uint64_t first_switch_guid = 0x0002c90300fe0001;

}  // namespace

Topology::Topology(SubnetContext& context) : context_(context) { add_switch(); }

Topology::Branch& Topology::add_switch() {
    const auto guid = first_switch_guid + branches_.size();
    const bool is_first = branches_.empty();
    auto& branch = branches_.emplace_back();
    branch.at =
        std::make_unique<Switch>(guid, context_.config.ports_per_switch, context_.config.hop, context_.counters);
    const auto ports = branch.at->port_count();
    const auto below = std::max(2u, ports / 4);
    branch.first_edge_port = is_first ? 1 : 2;
    branch.next_below = static_cast<std::uint8_t>(ports - below + 1);
    for (auto port = branch.first_edge_port; port < branch.next_below; ++port) {
        auto& edge_port =
            branch.edge_ports.emplace_back(std::make_unique<EdgePort>(context_, *branch.at, port, edge_ports_++));
        edge_port->changed = [this, guid, port](bool is_up) {
            if (link_changed) link_changed(guid, port, is_up);
        };
    }
    return branch;
}

Topology::Branch& Topology::grow() {
    const auto upper = std::find_if(branches_.begin(), branches_.end(),
                                    [](const Branch& b) { return b.next_below <= b.at->port_count(); });
    const auto index = upper - branches_.begin();
    const auto port = upper->next_below++;
    auto& lower = add_switch();
    auto& above = *branches_[static_cast<std::size_t>(index)].at;
    Switch::join(above, port, *lower.at, 1);
    if (cabled) cabled(above.guid(), port);
    return lower;
}

EdgePort& Topology::free_edge_port() {
    for (const auto& branch : branches_)
        for (const auto& edge_port : branch.edge_ports)
            if (edge_port->is_free()) return *edge_port;
    return *grow().edge_ports.front();
}

Switch* Topology::find(std::uint64_t switch_guid) const {
    const auto index = switch_guid - first_switch_guid;
    return index < branches_.size() ? branches_[index].at.get() : nullptr;
}

EdgePort* Topology::edge_port(std::uint64_t switch_guid, std::uint8_t port) const {
    const auto index = switch_guid - first_switch_guid;
    if (index >= branches_.size()) return nullptr;
    const auto& branch = branches_[index];
    const std::size_t at = std::size_t{port} - branch.first_edge_port;
    return at < branch.edge_ports.size() ? branch.edge_ports[at].get() : nullptr;
}

}  // namespace ipoib::fabric::simulated

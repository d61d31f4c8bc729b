// SPDX-License-Identifier: GPL-2.0-or-later
// The switches of a simulated subnet: one, and as nodes are plugged in a tree of them.
#pragma once

#include "fabric/simulated/edge_port.hpp"

namespace ipoib::fabric::simulated {

/// Of each switch's ports some are kept for switches below it; the first port of every switch but the first leads up.
class Topology {
public:
    explicit Topology(SubnetContext& context);

    /// An edge port that no node is in, at the first switch that has one; cables a further switch when none has.
    EdgePort& free_edge_port();
    /// Told when two switches were cabled, of the upper one's port.
    std::function<void(std::uint64_t switch_guid, std::uint8_t port)> cabled;
    /// Told when a node's link goes up or down.
    std::function<void(std::uint64_t switch_guid, std::uint8_t port, bool is_up)> link_changed;

    [[nodiscard]] Switch* find(std::uint64_t switch_guid) const;
    /// Null for a port that no node can be plugged into.
    [[nodiscard]] EdgePort* edge_port(std::uint64_t switch_guid, std::uint8_t port) const;
    [[nodiscard]] std::size_t switches() const noexcept { return branches_.size(); }
    template <class Visit>
    void for_each_edge_port(Visit&& visit) const {
        for (const auto& branch : branches_)
            for (const auto& edge_port : branch.edge_ports) visit(*edge_port);
    }
    template <class Visit>
    void for_each_switch(Visit&& visit) const {
        for (const auto& branch : branches_) visit(*branch.at);
    }

private:
    struct Branch {
        std::unique_ptr<Switch> at;
        std::uint8_t first_edge_port = 1;
        std::vector<std::unique_ptr<EdgePort>> edge_ports;
        std::uint8_t next_below = 0;  ///< the port for the next switch below; after the last there is none
    };
    Branch& add_switch();
    Branch& grow();

    SubnetContext& context_;
    std::vector<Branch> branches_;
    std::uint64_t edge_ports_ = 0;
};

}  // namespace ipoib::fabric::simulated

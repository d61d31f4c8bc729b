// SPDX-License-Identifier: GPL-2.0-or-later
// What a subnet manager computes for the switches of a tree: their forwarding tables. IBTA Vol 1, 14.4.
#pragma once

#include "fabric/simulated/forwarding_tables.hpp"
#include "fabric/simulated/subnet_administrator.hpp"

namespace ipoib::fabric::simulated {

/// The tree as the manager found it, where each LID is, and who takes part in each multicast group.
class Routing {
public:
    using Index = std::uint32_t;
    static constexpr Index none = 0xffffffff;
    /// How a switch hangs in the tree.
    struct Link {
        Index parent = none;
        std::uint8_t parent_port = 0, uplink = 0;  ///< the ports at both ends of the cable to the parent
        std::uint8_t ports = 0;
    };
    /// A block of a table whose content changed.
    struct Block {
        Index at = 0;
        std::uint16_t attribute = 0;
        std::uint32_t modifier = 0;
        friend auto operator<=>(const Block&, const Block&) = default;
    };

    /// A switch, after its parent. All that is known is to be written to it.
    Index add(const Link& link);
    [[nodiscard]] Index switches() const noexcept { return static_cast<Index>(nodes_.size()); }
    /// A LID is behind a port of a switch; port 0 is the switch itself.
    void place(std::uint16_t lid, Index at, std::uint8_t port);
    void remove(std::uint16_t lid);
    void route(std::uint16_t mlid, const SubnetView::Routes& routes);
    /// As route(), where nothing has changed but the part that this LID takes. What that costs does not depend on how
    /// many others take part.
    void reroute(std::uint16_t mlid, std::uint16_t lid, const SubnetView::Routes& routes);
    /// Forgets the switches and where LIDs are, for a new sweep.
    void forget_places();
    void forget_groups();

    /// The content of a block, as it is now.
    void fill(const Block& block, wire::MutableOctets data) const;
    /// Takes the blocks that changed.
    [[nodiscard]] std::set<Block> take_changes() { return std::exchange(changed_, {}); }
    /// The end ports of a switch that may send to a group, for those groups where they changed.
    struct Senders {
        Index at = 0;
        std::uint16_t mlid = 0;
        PortMask ports;
    };
    [[nodiscard]] std::vector<Senders> take_senders() { return std::exchange(senders_, {}); }

private:
    struct Place {
        Index at = none;
        std::uint8_t port = 0;
    };
    /// How many of a group are somewhere.
    struct Share {
        std::uint32_t receivers = 0, all = 0;
        void add(bool receives, int sign) noexcept;
        friend bool operator==(const Share&, const Share&) = default;
    };
    /// What of a group is on a switch and below it.
    struct Branch {
        Share share;
        std::map<std::uint8_t, Share> ports;  ///< of those on the switch itself
    };
    struct Members {
        std::map<std::uint16_t, bool> lids;  ///< whether they receive
        Share placed;                        ///< of those whose place is known
        std::map<Index, Branch> branches;    ///< where there are any
    };
    struct Node {
        Link link;
        unsigned depth = 0;
        std::map<std::uint16_t, ForwardingTables::Group> groups;
        std::vector<Index> children;
    };
    [[nodiscard]] std::uint8_t port_towards(Index from, const Place& to) const;
    [[nodiscard]] const Place& place_of(std::uint16_t lid) const;
    void put(std::uint16_t lid, const Place& place);
    void mark_linear(std::uint16_t lid);
    void take_part(std::uint16_t mlid, Members& members, std::uint16_t lid, std::optional<bool> receives);
    void count(Members& members, const Place& place, bool receives, int sign);
    /// The switches below which the whole group is, or all its receivers.
    void add_heads(const Members& members, std::set<Index>& touched) const;
    void add_way_up(Index at, std::set<Index>& touched) const;
    void move(std::uint16_t mlid, Members& members, const Place& from, const Place& to, bool received, bool receives);
    void change(Index at, std::uint16_t mlid, const ForwardingTables::Group& wanted);
    [[nodiscard]] ForwardingTables::Group wanted(Index at, const Members& members) const;

    std::vector<Node> nodes_;
    std::vector<Place> places_;  ///< by LID
    std::map<std::uint16_t, Members> groups_;
    std::map<std::uint16_t, std::set<std::uint16_t>> groups_of_;  ///< by LID
    std::uint16_t top_mlid_ = 0;                                  ///< of all that there ever were
    std::set<Block> changed_;
    std::vector<Senders> senders_;
};

}  // namespace ipoib::fabric::simulated

// SPDX-License-Identifier: GPL-2.0-or-later
// The groups of the subnet: their MLIDs, members, routes, beginning and end. IBTA Vol 1, 15.2.5.17; RFC 4392, 1.3.
#pragma once

#include "fabric/simulated/sa_subscriptions.hpp"

namespace ipoib::fabric::sa {

using McRecord = wire::Bytes<wire::McMemberRecord>;

/// Signature of the MGIDs that an administrator makes. IBTA Vol 1, 4.1.1.
inline constexpr std::uint16_t own_signature = 0xa01b;
/// PacketLifeTime of groups and paths unless somebody wants another: 4.096 us * 2^18, a second.
inline constexpr std::uint8_t usual_lifetime = 18;

/// A group with what the administrator keeps beside it.
struct HeldGroup : Group {
    std::map<wire::Gid, std::uint16_t> lids;  ///< of the members, as they were routed
    SubnetView::Routes routes;
    std::size_t counted = 0;  ///< members that keep it alive
    wire::Gid creator;        ///< for a lapse
};

class Groups {
public:
    Groups(SubnetView& subnet, const SaConfig& config, Subscriptions& subscriptions)
        : subnet_(subnet), config_(config), subscriptions_(subscriptions), is_mlid_used_(mlids(config)) {}

    [[nodiscard]] const std::map<wire::Gid, HeldGroup>& all() const noexcept { return groups_; }
    [[nodiscard]] HeldGroup* find(const wire::Gid& mgid) noexcept;

    /// A group with the record's parameters and MGID; it gets the record's MLID if that is free, else the first that
    /// is. Null when there is none left.
    HeldGroup* create(McRecord record, bool is_administrative);
    /// An MGID of the administrator's own that no group has. IBTA Vol 1, 15.2.5.17.2.
    [[nodiscard]] wire::Gid unused_mgid(unsigned scope, std::uint64_t subnet_prefix);
    /// Reports the group's creation, if that was not done.
    void announce(HeldGroup& group);
    /// Ends a group, whoever is a member.
    void remove(HeldGroup& group);

    /// The join states of a member; 0 for a port that is none.
    [[nodiscard]] static std::uint8_t states(const Group& group, const wire::Gid& port_gid);
    void join(HeldGroup& group, const KnownPort& port, std::uint8_t states, bool is_proxy);
    /// Leaves the port with `rest` and ends the group when nobody keeps it alive; whether the port is still a member.
    bool leave(HeldGroup& group, const wire::Gid& port_gid, std::uint8_t rest);
    /// The port leaves all groups.
    void prune(const wire::Gid& port_gid);
    /// Who does not keep the group alive leaves it.
    void drop_others(HeldGroup& group);
    void clear();
    [[nodiscard]] bool lapses(SaLapse lapse) const noexcept { return config_.behaviour.lapse == lapse; }
    /// Whether the MLID of the next group that ends is not free.
    void keep_next_mlid(bool is_kept) noexcept { keeps_next_mlid_ = is_kept; }
    /// Takes an MLID for no group.
    void waste_mlid();
    void free_mlid_of(const HeldGroup& group);

private:
    [[nodiscard]] static std::size_t mlids(const SaConfig& config);
    [[nodiscard]] std::uint16_t free_mlid(std::uint16_t wanted) const;
    [[nodiscard]] std::size_t room() const noexcept;
    /// Whether these states keep a group alive.
    [[nodiscard]] bool counts(std::uint8_t states) const noexcept;
    /// Whether the group's packets go to a member with these states; from it they come in any case.
    [[nodiscard]] bool is_receiver(std::uint8_t states) const noexcept;
    void set_states(HeldGroup& group, const wire::Gid& port_gid, std::uint8_t states);
    void route(HeldGroup& group, const wire::Gid& port_gid, std::uint16_t lid, std::uint8_t states);
    /// Nobody keeps the group alive any more; whether it is gone.
    bool end(HeldGroup& group);
    void drop_members(HeldGroup& group);
    void remember(const HeldGroup& group);

    SubnetView& subnet_;
    const SaConfig& config_;
    Subscriptions& subscriptions_;
    std::map<wire::Gid, HeldGroup> groups_;
    std::vector<bool> is_mlid_used_;
    std::uint32_t last_own_mgid_ = 0;

    /// What a lapse makes it remember of groups and ports that are gone.
    struct Memory {
        std::map<wire::Gid, Group> ended;
        std::map<std::pair<wire::Gid, wire::Gid>, std::uint8_t> vanished;  ///< MGID and PortGID -> join states
        std::size_t refused = 0;                                           ///< groups, for want of room
        unsigned shut = 0;                                                 ///< until so many groups have ended
        bool has_restarted = false;
    };
    Memory memory_;
    bool keeps_next_mlid_ = false, is_unreported_ = false;
};

}  // namespace ipoib::fabric::sa

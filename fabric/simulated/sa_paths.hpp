// SPDX-License-Identifier: GPL-2.0-or-later
// PathRecord: how one port reaches another, or a group. IBTA Vol 1, 15.2.5.16.
#pragma once

#include "fabric/simulated/sa_groups.hpp"

namespace ipoib::fabric::sa {

class Paths {
public:
    Paths(Groups& groups, const SubnetView& subnet, const SaConfig& config)
        : groups_(groups), subnet_(subnet), config_(config) {}

    /// Get and GetTable.
    [[nodiscard]] Reply query(const Request& request) const;
    /// The SL of unicast paths in a partition, given when its link is configured.
    void set_sl(std::uint16_t p_key, std::uint8_t sl);
    /// A GID of another IB subnet is reached through the router with this LID; 0: not any more.
    void set_route(const wire::Gid& gid, std::uint16_t lid);
    void clear() { sl_of_partition_.clear(); }

private:
    /// One end of a path, as the request tells it: a port, any port, or a status.
    struct End {
        std::uint16_t status = wire::mad_status::ok;
        const KnownPort* port = nullptr;
    };
    [[nodiscard]] End end(const Request& request, bool is_source) const;
    /// Appends the path between two ports, if there is one that suits the request; false when the table is full.
    /// `routed`: the GID behind `to` that is asked for; null: its own.
    bool add(const Request& request, const KnownPort& from, const KnownPort& to, const wire::Gid* routed,
             Reply& reply) const;
    [[nodiscard]] Reply to_group(const Request& request) const;
    [[nodiscard]] bool is_member(const HeldGroup& group, const KnownPort* port) const;
    [[nodiscard]] std::uint8_t sl(std::uint16_t p_key) const;

    Groups& groups_;
    const SubnetView& subnet_;
    const SaConfig& config_;
    std::map<wire::Gid, std::uint16_t> routes_;  ///< LIDs by GIDs of other subnets, or further ones of a port
    std::map<std::uint16_t, std::uint8_t> sl_of_partition_;  ///< by P_Key without its membership bit
};

}  // namespace ipoib::fabric::sa

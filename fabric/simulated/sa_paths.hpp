// SPDX-License-Identifier: GPL-2.0-or-later
// PathRecord: how one port reaches another, or a group. IBTA Vol 1, 15.2.5.16.
#pragma once

#include "fabric/simulated/sa_groups.hpp"
#include "protocol/wire/path_record.hpp"

namespace ipoib::fabric::sa {

class Paths {
public:
    Paths(Groups& groups, const SubnetView& subnet, const SaConfig& config)
        : groups_(groups), subnet_(subnet), config_(config) {}

    /// Get and GetTable.
    [[nodiscard]] Reply query(const Request& request) const;
    /// The SL of unicast paths in a partition, given when its link is configured.
    void set_sl(std::uint16_t p_key, std::uint8_t sl);
    /// A GID of another IB subnet is reached through the router with this LID, on this SL if one is said; LID 0: not
    /// any more.
    void set_route(const wire::Gid& gid, std::uint16_t lid, std::optional<std::uint8_t> sl);
    void clear() { sl_of_partition_.clear(); }

private:
    /// One end of a path, as the request tells it: a port, any port, or a status.
    struct End {
        std::uint16_t status = wire::mad_status::ok;
        const KnownPort* port = nullptr;
    };
    [[nodiscard]] End end(const Request& request, bool is_source) const;
    /// The way to a GID that is behind a port.
    struct Route {
        std::uint16_t lid = 0;
        std::optional<std::uint8_t> sl{};
    };
    using Routes = std::map<wire::Gid, Route>;
    /// Appends the path between two ports, if there is one that suits the request; false when the table is full.
    /// `routed`: the GID behind `to` that is asked for; null: its own.
    bool add(const Request& request, const KnownPort& from, const KnownPort& to, const Routes::value_type* routed,
             Reply& reply) const;
    /// Makes it the path to a GID of another subnet, whose packets have a GRH.
    void lead_through(const Routes::value_type& route, const Request& request,
                      wire::Bytes<wire::PathRecord>& path) const;
    [[nodiscard]] Reply to_group(const Request& request) const;
    [[nodiscard]] bool is_member(const HeldGroup& group, const KnownPort* port) const;
    [[nodiscard]] const HeldGroup* broadcast_group(std::uint16_t p_key) const;
    [[nodiscard]] std::uint8_t sl(std::uint16_t p_key) const;

    Groups& groups_;
    const SubnetView& subnet_;
    const SaConfig& config_;
    Routes routes_;                                          ///< by GIDs of other subnets, or further ones of a port
    std::map<std::uint16_t, std::uint8_t> sl_of_partition_;  ///< by P_Key without its membership bit
};

}  // namespace ipoib::fabric::sa

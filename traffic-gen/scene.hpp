// SPDX-License-Identifier: GPL-2.0-or-later
// Who is on the fabric that generated traffic is of: hosts, links, groups, the subnet administrator.
#pragma once

#include "protocol/build/ipoib.hpp"

#include <map>
#include <vector>

namespace ipoib::traffic {

struct SceneOptions {
    unsigned hosts = 4, groups = 2, partitions = 1;
    build::Link link{};        ///< of the first partition; the others have P_Keys behind its
    unsigned group_range = 0;  ///< below Scene::group_ranges: runs on one fabric each have their own groups
};

/// One IPoIB link and its hosts: a queue pair and an IPv4 network of their own on each.
struct Net {
    build::Link link;
    std::vector<build::Node> hosts;
    /// Counts on behind the last host.
    [[nodiscard]] const build::Node& host(std::size_t index) const noexcept { return hosts[index % hosts.size()]; }
};

class Scene {
public:
    static constexpr unsigned most_hosts = 5120, most_groups = 16384, most_partitions = 64, group_ranges = 64;

    /// An invented fabric. Throws std::invalid_argument for fewer than two hosts, no partition, or more than the
    /// bounds.
    explicit Scene(const SceneOptions& options);
    /// A fabric as it was found: its hosts, and what is known of its administrator. Throws std::invalid_argument for
    /// more groups than the bound, or none.
    Scene(Net net, const SceneOptions& options);

    /// The links; profiles of one use the first.
    [[nodiscard]] const std::vector<Net>& nets() const noexcept { return nets_; }
    [[nodiscard]] const Net& net() const noexcept { return nets_.front(); }
    [[nodiscard]] const build::Node& administrator() const noexcept { return administrator_; }
    /// Another one has taken over.
    void set_administrator(const build::Node& administrator) noexcept { administrator_ = administrator; }
    /// An interface that is none of the hosts', by its number: a port of its own, and addresses of its own on each
    /// link. Only on an invented fabric.
    [[nodiscard]] build::Node other(std::size_t number, std::size_t net = 0) const noexcept;

    [[nodiscard]] std::size_t groups() const noexcept { return groups_; }
    /// An IPv4 and an IPv6 group by its number; counts on behind the last.
    [[nodiscard]] std::uint32_t group4(std::size_t index) const noexcept;
    [[nodiscard]] wire::Gid group6(std::size_t index) const noexcept;
    /// The MLID that the administrator has given a group; 0 on a real fabric where it was not joined.
    [[nodiscard]] std::uint16_t mlid(const wire::Gid& mgid);
    /// What a real one has given.
    void set_mlid(const wire::Gid& mgid, std::uint16_t mlid) { mlids_[mgid] = mlid; }
    /// An invented one forgets what it has given, and gives other MLIDs from now on.
    void forget_mlids();

    /// Whether a group is one of those that runs with this range alone use.
    [[nodiscard]] static bool is_of_range(const wire::Gid& mgid, unsigned range) noexcept;

private:
    void take_groups(const SceneOptions& options);
    std::vector<Net> nets_;
    build::Node administrator_;
    unsigned groups_ = 0, first_group_ = 0;
    bool is_invented_ = true;
    std::map<wire::Gid, std::uint16_t> mlids_;
    std::size_t mlids_given_ = 0;  ///< in all
};

}  // namespace ipoib::traffic

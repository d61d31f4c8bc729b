// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses by number.
#include "traffic-gen/scene.hpp"

#include <stdexcept>
#include <string>

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
constexpr std::uint16_t first_mlid = 0xc000, administrator_lid = 1, first_lid = 2;
constexpr std::uint32_t first_qpn = 0x48, qpns_of_net = 0x2000;
constexpr std::uint32_t first_group4 = 0xefc00001;  // 239.192.0.1
constexpr std::uint64_t first_group6 = 0x00010001;

build::Node node(std::uint16_t lid, std::uint64_t number, std::uint32_t qpn, unsigned net = 0) {
    constexpr std::uint64_t guids = 0x0002c90300200000, u_bit = std::uint64_t{0x02} << 56;
    const auto network = 0x0a010000u + (net << 16);  // 10.1.0.0/16, 10.2.0.0/16 ...
    return {.lid = lid,
            .gid = Gid::of(default_prefix, guids + number),
            .qpn = qpn,
            .ipv4 = network + static_cast<std::uint32_t>(number),
            .ipv6 = Gid::of(default_prefix, (guids + number) ^ u_bit)};
}

void refuse(const char* what, unsigned least, unsigned most) {
    throw std::invalid_argument(std::string(what) + ": from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Scene::Scene(const SceneOptions& options) : administrator_(node(administrator_lid, 0, 1)) {
    take_groups(options);
    if (options.hosts < 2 || options.hosts > most_hosts) refuse("--hosts", 2, most_hosts);
    if (options.partitions < 1 || options.partitions > most_partitions) refuse("--partitions", 1, most_partitions);
    for (unsigned i = 0; i < options.partitions; ++i) {
        auto& net = nets_.emplace_back(Net{options.link, {}});
        // 0xffff is the default partition; others count down from it.
        net.link.p_key = static_cast<std::uint16_t>((options.link.p_key - i) | full_membership);
        net.link.broadcast_mlid = mlid(net.link.broadcast_gid());
        for (unsigned n = 0; n < options.hosts; ++n)
            net.hosts.push_back(
                node(static_cast<std::uint16_t>(first_lid + n), n + 1, first_qpn + i * qpns_of_net + n, i));
    }
}

Scene::Scene(Net net, const SceneOptions& options) : nets_{std::move(net)}, is_invented_(false) {
    take_groups(options);
    set_mlid(nets_.front().link.broadcast_gid(), nets_.front().link.broadcast_mlid);
}

build::Node Scene::other(std::size_t number, std::size_t net) const noexcept {
    constexpr std::uint16_t first_other_lid = 0x2000;
    constexpr std::uint32_t first_other_qpn = 0x100000;
    constexpr std::size_t others = 0x1000, first_other = 0x4000;
    const auto index = number % others;
    return node(static_cast<std::uint16_t>(first_other_lid + index), first_other + index,
                static_cast<std::uint32_t>(first_other_qpn + net * others + index), static_cast<unsigned>(net));
}

void Scene::take_groups(const SceneOptions& options) {
    if (options.groups < 1 || options.groups > most_groups) refuse("--groups", 1, most_groups);
    groups_ = options.groups;
    first_group_ = options.group_range * most_groups;
}

std::uint32_t Scene::group4(std::size_t index) const noexcept {
    return first_group4 + first_group_ + static_cast<std::uint32_t>(index % groups_);
}

Gid Scene::group6(std::size_t index) const noexcept {
    constexpr std::uint64_t site_local = std::uint64_t{0xff05} << 48;
    return Gid::of(site_local, first_group6 + first_group_ + index % groups_);
}

bool Scene::is_of_range(const Gid& mgid, unsigned range) noexcept {
    constexpr std::uint32_t group_bits = 0x0fffffff;
    const auto id = mgid.interface_id();
    const auto is_in = [&](std::uint64_t first) { return id >= first && (id - first) / most_groups == range; };
    return is_in(first_group4 & group_bits) || is_in(first_group6);
}

void Scene::forget_mlids() {
    if (!is_invented_) return;
    mlids_.clear();
    for (auto& net : nets_) net.link.broadcast_mlid = mlid(net.link.broadcast_gid());
}

std::uint16_t Scene::mlid(const Gid& mgid) {
    if (!is_invented_ && !mlids_.contains(mgid)) return 0;
    // More groups than there are MLIDs share them, as they do with a real administrator.
    constexpr std::size_t multicast_lids = 0x3ffe;
    const auto [given, is_new] = mlids_.try_emplace(mgid, std::uint16_t{0});
    if (is_new) given->second = static_cast<std::uint16_t>(first_mlid + mlids_given_++ % multicast_lids);
    return given->second;
}

}  // namespace ipoib::traffic

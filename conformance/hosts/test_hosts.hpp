// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts of a link that is in order, for tests to change one thing of.
#pragma once

#include "conformance/hosts/compare.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ipoib::hosts::testing {

inline constexpr std::uint16_t p_key = 0x8001;
inline constexpr std::uint64_t prefix = 0xfec0000000000000;

inline wire::Gid port_gid(unsigned number) { return wire::Gid::of(prefix, 0x2c90300100000 + number); }
inline wire::Gid broadcast() { return wire::broadcast_gid(p_key, 2); }
inline wire::Gid mgid(const char* group) { return wire::mgid_for_ipv4(wire::parse_ipv4(group).value(), p_key, 2); }
inline wire::IpNetwork address(unsigned number) {
    return wire::parse_network("10.1.0." + std::to_string(number) + "/24").value();
}

/// A host that knows the others by their right addresses.
inline HostState host(unsigned number, unsigned hosts = 3) {
    Interface one{.name = "ib0", .mode = "datagram", .device = "mlx5_0", .driver = "mlx5_core[ib_ipoib]"};
    one.qpn = 0x40 + number;
    one.gid = port_gid(number);
    one.broadcast = broadcast();
    one.mtu = 2044;
    one.p_key = p_key;
    one.is_up = one.is_running = true;
    one.addresses = {{.network = address(number)}};
    one.link_groups = {{broadcast(), mgid("224.0.0.1")}};
    one.driver_groups = {{{broadcast(), true, false}, {mgid("224.0.0.1"), true, false}}};
    for (unsigned other = 1; other <= hosts; ++other) {
        if (other == number) continue;
        one.neighbours.push_back({address(other).address.octets, port_gid(other), 0x40 + other, "REACHABLE"});
        one.paths.push_back({port_gid(other), static_cast<std::uint16_t>(other)});
    }
    one.arp_ignore = one.arp_filter = 0;
    one.port = PortState{.state = "4: ACTIVE",
                         .phys_state = "5: LinkUp",
                         .lid = static_cast<std::uint16_t>(number),
                         .lmc = std::uint8_t{0},
                         .gid = port_gid(number),
                         .p_keys = std::vector<std::uint16_t>{p_key, 0xffff}};
    return {.host = "node" + std::to_string(number),
            .kernel = "6.1",
            .time = std::int64_t{1'700'000'000} * 1'000'000'000,
            .origin = "node.json",
            .interfaces = {one},
            .unread = {}};
}
inline std::vector<HostState> hosts_in_order() { return {host(1), host(2), host(3)}; }

/// What a subnet administrator holds that these hosts agree with.
inline Surroundings in_order() {
    using assumptions::Parameter;
    Surroundings around;
    for (const auto& one : {broadcast(), mgid("224.0.0.1")}) {
        assumptions::StatedGroup group;
        group.parameters.mgid = one;
        group.parameters.mtu = 4;
        group.given = assumptions::bit(Parameter::mtu);
        group.members_are_listed = true;
        for (unsigned number = 1; number <= 3; ++number)
            group.members.push_back({port_gid(number), wire::join_state::full_member, false, {}});
        around.groups.push_back(std::move(group));
    }
    std::ranges::sort(around.groups, {}, [](const auto& one) { return one.parameters.mgid; });
    for (unsigned number = 1; number <= 3; ++number)
        around.ports.push_back({.gid = port_gid(number),
                                .lid = static_cast<std::uint16_t>(number),
                                .p_keys = std::vector<std::uint16_t>{p_key, 0xffff},
                                .node_description = {}});
    around.groups_are_whole = true;
    return around;
}

inline std::set<std::string> names(const Comparison& comparison) {
    std::set<std::string> all;
    for (const auto& one : comparison.findings) all.insert(one.name);
    return all;
}

}  // namespace ipoib::hosts::testing

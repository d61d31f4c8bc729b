// SPDX-License-Identifier: GPL-2.0-or-later
// How a simulated link is set up: partitions and the parameters of their broadcast groups. RFC 4391, 4.1 and 5.
#pragma once

#include "protocol/build/ipoib.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ipoib::fabric {

/// A partition with an IPoIB link on it.
struct Partition {
    std::uint16_t p_key = 0xffff;  ///< with the membership bit
    std::uint32_t q_key = 0x0b1b;
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0, scope = 2;
    std::uint32_t flow_label = 0;
    std::uint8_t mtu = 4, rate = 3;   ///< codes: 2048 octets, 10 Gb/s
    std::uint8_t lifetime = 17;       ///< PacketLifeTime code: 0.54 s, half of what the administrator gives others
    bool has_broadcast_group = true;  ///< created by the administrator; else the first join creates it
    [[nodiscard]] wire::Gid broadcast_gid() const noexcept { return wire::broadcast_gid(p_key, scope); }
    /// What packets on it have; the MLID is the administrator's to say.
    [[nodiscard]] build::Link as_built() const noexcept;
};

struct Scenario {
    std::string_view name;
    std::string_view title;
    Partition link;                               ///< the link that is judged: index 0 of every P_Key table
    std::vector<Partition> others{};              ///< further partitions of every port
    std::vector<Partition> of_others{};           ///< partitions that no port here is in: of other tenants
    std::uint8_t port_mtu = 4;                    ///< what the ports of this subnet can do, as code
    std::uint64_t dut_guid = 0x0002c90300dd0001;  ///< port GUID of a DUT in this process
};

/// All that there are, the usual one first.
[[nodiscard]] const std::vector<Scenario>& scenarios();
/// Null for a name that is none.
[[nodiscard]] const Scenario* find_scenario(std::string_view name);
/// "default, controlled, ...": for help and messages.
[[nodiscard]] std::string scenario_names();
/// Throws std::invalid_argument that names those there are.
[[nodiscard]] const Scenario& scenario_named(std::string_view name);

}  // namespace ipoib::fabric

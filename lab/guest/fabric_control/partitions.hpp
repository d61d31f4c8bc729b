// SPDX-License-Identifier: GPL-2.0-or-later
// The scenarios of the suite as OpenSM's partitions.conf. Pure. opensm(8), "PARTITION CONFIGURATION".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::lab {

/// How the judged link is set up. MTU and rate as codes.
struct Scenario {
    std::string_view name;
    std::uint16_t p_key = 0xffff;  ///< at index 0 of every port
    std::uint32_t q_key = 0;       ///< 0: what OpenSM gives, 0x0b1b
    unsigned sl = 0, traffic_class = 0;
    std::uint32_t flow_label = 0;
    unsigned scope = 2, mtu = 4, rate = 3;
    unsigned port_mtu = 0;           ///< that the ports must be able to; 0: any
    std::uint16_t other_tenant = 0;  ///< P_Key of a partition that no port here is in; 0: there is none
    /// What OpenSM has no word for, to be told to whoever asks for the scenario.
    std::string_view not_set{};
};

/// Null for a name that is none.
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

/// The scenario, and what was changed in it.
struct Partitions {
    const Scenario* scenario = nullptr;
    std::vector<std::uint64_t> ports;  ///< GUIDs of all end ports; needed where some are left out
    std::map<std::uint16_t, std::set<std::uint64_t>> additions;  ///< P_Key with its membership bit, members
    std::map<std::uint16_t, std::set<std::uint64_t>> removals;   ///< P_Key without that bit, former members
};
/// partitions.conf, whole.
[[nodiscard]] std::string text_of(const Partitions& partitions);

}  // namespace ipoib::lab

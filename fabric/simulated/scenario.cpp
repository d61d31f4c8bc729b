// SPDX-License-Identifier: GPL-2.0-or-later
// The scenarios that runs can be set up with; interfaces.md names them.
#include "fabric/simulated/scenario.hpp"

#include "base/nearest.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::fabric {

build::Link Partition::as_built() const noexcept {
    return {.p_key = p_key,
            .q_key = q_key,
            .sl = sl,
            .traffic_class = traffic_class,
            .hop_limit = hop_limit,
            .scope = scope,
            .flow_label = flow_label,
            .mtu = mtu};
}

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all{
        {.name = "default", .title = "The default partition with what subnet managers give it", .link = {}},
        {.name = "controlled",
         .title = "A partition whose every parameter differs from zero and from the default",
         .link = {.p_key = 0x8123,
                  .q_key = 0x80000b1b,
                  .sl = 3,
                  .traffic_class = 0x20,
                  .hop_limit = 1,
                  .flow_label = 0x12345}},
        {.name = "hardened",
         .title = "A tenant's partition with a controlled Q_Key; of the default partition all are limited members",
         .link = {.p_key = 0x8a0b, .q_key = 0x80000b1b},
         .of_others = {{.p_key = 0x8a0c, .q_key = 0x80000b1b}}},
        {.name = "scope5", .title = "A broadcast group of site-local scope", .link = {.scope = 5}},
        {.name = "mtu4k", .title = "Ports of 4096 octets, a broadcast group of 2048", .link = {}, .port_mtu = 5},
        {.name = "link4k", .title = "Ports and a broadcast group of 4096 octets", .link = {.mtu = 5}, .port_mtu = 5},
        {.name = "modified-guid",
         .title = "The GUID of the DUT's port is a modified EUI-64: its u bit is set",
         .link = {},
         .dut_guid = 0x0202c90300dd0001},
    };
    return all;
}

const Scenario* find_scenario(std::string_view name) {
    const auto& all = scenarios();
    const auto found = std::find_if(all.begin(), all.end(), [name](const Scenario& s) { return s.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string scenario_names() {
    std::string names;
    for (const auto& one : scenarios()) names += (names.empty() ? "" : ", ") + std::string(one.name);
    return names;
}

const Scenario& scenario_named(std::string_view name) {
    if (const auto* scenario = find_scenario(name)) return *scenario;
    throw std::invalid_argument("there is no scenario '" + std::string(name) + "'; there are " + scenario_names() +
                                did_you_mean(name, scenarios(), [](const Scenario& one) { return one.name; }));
}

}  // namespace ipoib::fabric

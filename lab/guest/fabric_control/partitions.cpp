// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/fabric_control/partitions.hpp"

#include <algorithm>
#include <array>

namespace ipoib::lab {
namespace {

constexpr std::uint16_t full_membership = 0x8000, p_key_bits = 0x7fff;

std::string hex(std::uint64_t value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (; value; value >>= 4) text.insert(text.begin(), digits[value & 15]);
    return "0x" + (text.empty() ? "0" : text);
}

/// "ALL", unless some port is left out: then the ports by name, as OpenSM knows no exception.
std::string members(const Partitions& partitions, std::uint16_t p_key, std::string_view membership) {
    const auto removed = partitions.removals.find(p_key & p_key_bits);
    if (removed == partitions.removals.end() || removed->second.empty()) return "ALL=" + std::string(membership);
    std::string text;
    for (const auto guid : partitions.ports)
        if (!removed->second.contains(guid))
            text += (text.empty() ? "" : ", ") + hex(guid) + '=' + std::string(membership);
    return text;
}

constexpr unsigned link_local = 2;
/// Of no port.
constexpr std::uint64_t guid_of_nobody = 0x0002c903ffff0001;

std::string link_flags(const Scenario& scenario) {
    // OpenSM 3.3.23 gives the broadcast group of a partition with "ipoib" no other scope than this one.
    std::string text = scenario.scope == link_local ? ", ipoib" : "";
    text += ", mtu=" + std::to_string(scenario.mtu) + ", rate=" + std::to_string(scenario.rate);
    if (scenario.q_key) text += ", Q_Key=" + hex(scenario.q_key);
    if (scenario.sl) text += ", sl=" + std::to_string(scenario.sl);
    if (scenario.traffic_class) text += ", TClass=" + hex(scenario.traffic_class);
    if (scenario.flow_label) text += ", FlowLabel=" + hex(scenario.flow_label);
    return text;
}

/// The broadcast group, where it has to be asked for by its MGID; a line of its own.
std::string broadcast_group(const Scenario& scenario) {
    if (scenario.scope == link_local) return {};
    const auto scope = hex(scenario.scope).substr(2), p_key = hex(scenario.p_key).substr(2);
    return "\n mgid=ff1" + scope + ":401b:" + p_key + "::ffff:ffff, scope=" + std::to_string(scenario.scope) + "\n ";
}

}  // namespace

const Scenario* find_scenario(std::string_view name) {
    // The same as those of the simulated fabric, as far as OpenSM can.
    static constexpr std::array<Scenario, 6> all{
        {{.name = "default"},
         {.name = "controlled",
          .p_key = 0x8123,
          .q_key = 0x80000b1b,
          .sl = 3,
          .traffic_class = 0x20,
          .flow_label = 0x12345,
          .not_set = "HopLimit"},
         {.name = "hardened", .p_key = 0x8a0b, .q_key = 0x80000b1b, .other_tenant = 0x8a0c},
         {.name = "scope5", .scope = 5},
         {.name = "mtu4k", .port_mtu = 5},
         {.name = "link4k", .mtu = 5, .port_mtu = 5}}};
    const auto* found = std::find_if(all.begin(), all.end(), [&](const Scenario& one) { return one.name == name; });
    return found == all.end() ? nullptr : found;
}

std::string text_of(const Partitions& partitions) {
    const auto& scenario = *partitions.scenario;
    constexpr std::uint16_t usual = 0x7fff, other = 0x0001;
    std::string text;
    if ((scenario.p_key & p_key_bits) == usual) {
        text += "Default=0x7fff" + link_flags(scenario) + " : " + broadcast_group(scenario) +
                members(partitions, usual, "full") + ";\n";
        // For children: a second link that every port is on.
        text += "Other=0x0001, ipoib : " + members(partitions, other, "full") + ";\n";
    } else {
        // The subnet administrator is asked in the default partition, of which OpenSM itself must be a full member.
        text += "Default=0x7fff : " + members(partitions, usual, "limited") + ", SELF=full;\n";
        text += "Judged=" + hex(scenario.p_key & p_key_bits) + ", indx0" + link_flags(scenario) + " : " +
                broadcast_group(scenario) + members(partitions, scenario.p_key, "full") + ";\n";
    }
    // OpenSM has a group of a partition that it has a member of, be it a port that is not there.
    if (scenario.other_tenant != 0)
        text += "Tenant=" + hex(scenario.other_tenant & p_key_bits) + link_flags(scenario) + " : " +
                hex(guid_of_nobody) + "=full;\n";
    for (const auto& [p_key, guids] : partitions.additions) {
        // Who is a limited member of the judged partition has it in the same place of its table.
        const bool is_judged = ((p_key ^ scenario.p_key) & p_key_bits) == 0 && (p_key & p_key_bits) != usual;
        for (const auto guid : guids)
            text += "Added=" + hex(p_key & p_key_bits) + (is_judged ? ", indx0" : "") + ", ipoib : " + hex(guid) +
                    (p_key & full_membership ? "=full;\n" : "=limited;\n");
    }
    return text;
}

}  // namespace ipoib::lab

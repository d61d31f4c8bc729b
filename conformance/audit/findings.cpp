// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/audit/findings.hpp"

#include "conformance/hosts/compare.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace ipoib::audit {
using namespace wire;
using assumptions::Parameter;
using assumptions::StatedGroup;
using assumptions::StatedPort;

namespace {

std::string port_name(const StatedPort& port) {
    return hex(port.gid.interface_id(), 16).substr(2) +
           (port.node_description.empty() ? std::string{} : " (" + port.node_description + ')');
}

bool is_solicited_node(const Gid& mgid) {
    const auto group = mgid_of(mgid);
    constexpr std::uint64_t begin = 0x1ff000000, mask = ~std::uint64_t{0xffffff};
    return mgid.is_multicast() && group[Mgid::signature] == ipv6_signature && group[Mgid::group_high] == 0 &&
           (group[Mgid::group_low] & mask) == begin;
}

const StatedPort* port_in(const Inventory* inventory, const Gid& gid) {
    if (!inventory) return nullptr;
    const auto found = std::ranges::lower_bound(inventory->ports, gid, {}, &StatedPort::gid);
    return found != inventory->ports.end() && found->gid == gid ? &*found : nullptr;
}

/// Packets that a port has dropped for their key.
struct Counter {
    std::optional<std::uint16_t> StatedPort::*member;
    const char *name, *what, *means;
};
constexpr Counter counters[] = {
    {&StatedPort::p_key_violations, "p-key-violations", "P_Key",
     "somebody sends to it in a partition that it is not in, or both are limited members of"},
    {&StatedPort::q_key_violations, "q-key-violations", "Q_Key",
     "somebody sends with another Q_Key than its queue pair has: of another link, or of another record of the group"},
};

void look_at_counters(const Inventory& inventory, const Inventory* before, std::vector<reports::Beyond>& to) {
    constexpr std::uint16_t most = 0xffff;
    for (const auto& counter : counters)
        for (const auto& port : inventory.ports) {
            const auto now = (port.*counter.member).value_or(0);
            const auto* known = port_in(before, port.gid);
            // Of a port that was not there, nothing is known to have grown.
            const auto then = before ? (known ? (known->*counter.member).value_or(now) : now) : std::uint16_t{0};
            if (now <= then) continue;
            to.push_back({.name = counter.name,
                          .text = port_name(port) + " has dropped " + std::to_string(now - then) +
                                  (now == most ? " and more" : "") + " packets for their " + counter.what +
                                  (before ? " since it was asked before: " : " since its counter was cleared: ") +
                                  counter.means +
                                  ". Traps 257 to 259 in the log of the subnet manager name the sender.",
                          .link = {}});
        }
}

void look_at_room(const Inventory& inventory, std::vector<reports::Beyond>& to) {
    const auto mlids = mlids_of(inventory);
    constexpr std::size_t eighths = 8, full = 7;
    if (mlids.room == 0 || mlids.in_use * eighths < std::size_t{mlids.room} * full ||
        2 * mlids.solicited_node < mlids.in_use)
        return;
    to.push_back(
        {.name = "solicited-node-groups",
         .text = std::to_string(mlids.in_use) + " MLIDs are in use, and the switch with the least room holds " +
                 std::to_string(mlids.room) + ". " + std::to_string(mlids.solicited_node) +
                 " groups are solicited-node groups, of which each IPv6 address takes one: soon nobody can join "
                 "a new group. Fewer IPv6 addresses, or a subnet manager that gives several groups one MLID, help.",
         .link = {}});
}

bool holds_group(const assumptions::StatedMember& member) {
    return (member.join_state & (join_state::full_member | join_state::send_only_full_member)) != 0;
}

/// Ports that alone keep so many groups that there will be no room for those of others.
void look_at_hoards(const Inventory& inventory, std::vector<std::string>& notes) {
    std::map<Gid, std::size_t> alone;
    for (const auto& group : inventory.groups) {
        const auto first = std::ranges::find_if(group.members, holds_group);
        if (first == group.members.end()) continue;
        const bool has_others = std::any_of(first + 1, group.members.end(), holds_group);
        if (!has_others) ++alone[first->port_gid];
    }
    constexpr std::size_t share = 8, fewest = 32, many = 128;
    const std::size_t room = mlids_of(inventory).room;
    const auto limit = room == 0 ? many : std::max(fewest, room / share);
    for (const auto& [gid, count] : alone) {
        if (count < limit) continue;
        const auto* port = port_in(&inventory, gid);
        notes.push_back(
            (port ? port_name(*port) : text(gid)) + " alone keeps " + std::to_string(count) + " of " +
            std::to_string(inventory.groups.size()) + " groups" +
            (room == 0 ? std::string{} : ", and the switch with the least room holds " + std::to_string(room)) +
            ": one port can take the room of all");
    }
}

/// Groups of two partitions with one MLID. IBTA Vol 1, 4.1.3 lets groups share one.
void look_at_shared_mlids(const Inventory& inventory, std::vector<std::string>& notes) {
    std::map<std::uint16_t, const StatedGroup*> first;
    std::map<std::uint16_t, const StatedGroup*> other;
    for (const auto& group : inventory.groups) {
        const auto mlid = group.parameters.mlid;
        if (mlid == 0 || !group.tells(Parameter::mlid) || !group.tells(Parameter::p_key)) continue;
        const auto [at, is_new] = first.emplace(mlid, &group);
        if (!is_new && !is_same_partition(at->second->parameters.p_key, group.parameters.p_key))
            other.emplace(mlid, &group);
    }
    if (other.empty()) return;
    const auto& [mlid, group] = *other.begin();
    notes.push_back(
        std::to_string(other.size()) + (other.size() == 1 ? " MLID is" : " MLIDs are") +
        " shared by groups of two partitions, first " + hex(mlid, 4) + " (" + text(first.at(mlid)->parameters.mgid) +
        ", " + text(group->parameters.mgid) +
        "): ports are sent packets of a partition that they are not in, and count them as P_Key violations");
}

hosts::Surroundings surroundings(const Inventory& inventory, std::int64_t now) {
    hosts::Surroundings around{.groups = inventory.groups, .ports = inventory.ports};
    around.groups_are_whole = inventory.doubt.empty();
    around.p_keys = inventory.p_keys;
    around.began = around.ended = now;
    return around;
}

void add(hosts::Comparison compared, std::vector<reports::Beyond>& to, std::vector<std::string>& notes) {
    std::ranges::move(compared.notes, std::back_inserter(notes));
    for (auto& one : compared.findings)
        to.push_back({.name = std::move(one.name),
                      .text = std::move(one.text),
                      .link = text(Gid::of(one.prefix, 0)) + '/' + hex(one.p_key, 4)});
}

/// Of each name so many, and how many more there are.
void take_first(std::vector<reports::Beyond> all, Troubles& to) {
    std::map<std::string, std::size_t> counts;
    for (auto& one : all)
        if (++counts[one.name] <= reports::most_beyond) to.findings.push_back(std::move(one));
    for (const auto& [name, count] : counts)
        if (count > reports::most_beyond)
            to.notes.push_back("and " + std::to_string(count - reports::most_beyond) + " more of " + name);
}

}  // namespace

Mlids mlids_of(const Inventory& inventory) {
    Mlids mlids;
    std::set<std::uint16_t> in_use;
    for (const auto& group : inventory.groups) {
        if (group.tells(Parameter::mlid) && group.parameters.mlid != 0) in_use.insert(group.parameters.mlid);
        mlids.solicited_node += is_solicited_node(group.parameters.mgid);
    }
    mlids.in_use = in_use.size();
    mlids.room = inventory.switch_groups.value_or(0);
    for (const auto& port : inventory.ports)
        if (const auto room = port.switch_groups.value_or(0); room != 0)
            mlids.room = mlids.room == 0 ? room : std::min(mlids.room, room);
    return mlids;
}

Troubles troubles_of(const Inventory& inventory, std::span<const hosts::HostState> hosts, std::int64_t now,
                     const Inventory* before) {
    Troubles troubles;
    std::vector<reports::Beyond> all;
    look_at_room(inventory, all);
    look_at_counters(inventory, before, all);
    look_at_hoards(inventory, troubles.notes);
    look_at_shared_mlids(inventory, troubles.notes);
    if (!hosts.empty()) add(hosts::compare(hosts, surroundings(inventory, now)), all, troubles.notes);
    const auto is_unknown = [](const StatedPort& port) { return port.has_unknown_rate; };
    if (const auto count = std::ranges::count_if(inventory.ports, is_unknown); count != 0)
        troubles.notes.push_back(std::to_string(count) +
                                 (count == 1 ? " port tells the width or speed of its link"
                                             : " ports tell the width or speed of their link") +
                                 " in a way that is not known here, first " +
                                 port_name(*std::ranges::find_if(inventory.ports, is_unknown)) +
                                 ": compared with no group's rate");
    take_first(std::move(all), troubles);
    return troubles;
}

Troubles troubles_of(std::span<const hosts::HostState> hosts) {
    Troubles troubles;
    std::vector<reports::Beyond> all;
    add(hosts::compare(hosts, {}), all, troubles.notes);
    take_first(std::move(all), troubles);
    return troubles;
}

std::vector<hosts::HostState> hosts_of(std::span<const hosts::HostState> hosts, std::span<const Inventory> inventories,
                                       std::size_t which) {
    std::vector<hosts::HostState> kept(hosts.begin(), hosts.end());
    std::set<Gid> here, elsewhere;
    for (std::size_t i = 0; i < inventories.size(); ++i) {
        auto& known = i == which ? here : elsewhere;
        for (const auto& port : inventories[i].ports) known.insert(port.gid);
        for (const auto& group : inventories[i].groups)
            for (const auto& member : group.members) known.insert(member.port_gid);
    }
    for (auto& host : kept)
        std::erase_if(host.interfaces, [&](const hosts::Interface& one) {
            return elsewhere.contains(one.gid) && !here.contains(one.gid);
        });
    return kept;
}

}  // namespace ipoib::audit

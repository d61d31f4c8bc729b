// SPDX-License-Identifier: GPL-2.0-or-later
// What hosts believe of themselves, beside an account.
#include "conformance/hosts/compare.hpp"
#include "conformance/links/account.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace ipoib::links {
using namespace wire;
using assumptions::Parameter;
using assumptions::StatedGroup;

namespace {

/// Of things of several subnets that are called the same, nothing is known.
template <class Things, class Key>
void sort_unique(Things& things, Key key) {
    std::ranges::stable_sort(things, {}, key);
    Things single;
    for (auto begin = things.begin(); begin != things.end();) {
        const auto end = std::find_if(begin, things.end(), [&](const auto& one) { return key(one) != key(*begin); });
        if (end - begin == 1) single.push_back(std::move(*begin));
        begin = end;
    }
    things = std::move(single);
}

StatedGroup group_of(const state::Subnet& subnet, const GroupAccount& account, bool is_listed) {
    const auto& known = subnet.groups()[account.group];
    StatedGroup group;
    group.parameters.mgid = known.mgid;
    if (known.record) {
        group.parameters = *known.record;
        if (known.record->mtu != 0) group.given |= assumptions::bit(Parameter::mtu);
        if (known.record->rate != 0) group.given |= assumptions::bit(Parameter::rate);
    }
    group.members_are_listed = is_listed;
    for (const auto* list : {&account.full, &account.non, &account.send_only})
        for (const auto port : *list)
            if (const auto* member = subnet.member(account.group, port); member && !subnet.port(port).gid.is_zero())
                group.members.push_back({subnet.port(port).gid, member->joined, false, {}});
    std::ranges::sort(group.members, {}, &assumptions::StatedMember::port_gid);
    return group;
}

void add_absences(const LinkAccount& link, hosts::Surroundings& around) {
    std::set<state::GroupIndex> groups;
    for (const auto& group : link.groups) groups.insert(group.group);
    for (const auto& member : link.subnet->members()) {
        const bool is_gone = member.joined == 0 && (member.refusal != 0 || member.left_at);
        const auto& port = link.subnet->port(member.port).gid;
        if (is_gone && groups.contains(member.group) && !port.is_zero())
            around.absent.push_back({link.subnet->groups()[member.group].mgid, port,
                                     std::max(member.refused_at.time, member.left_at.time)});
    }
}

hosts::Surroundings surroundings(const Account& account, std::span<const assumptions::Statement> statements) {
    hosts::Surroundings around{.who = "the SA", .began = account.began, .ended = account.ended};
    std::set<Gid> listed;
    for (const auto& statement : statements)
        for (const auto& group : statement.groups)
            if (group.members_are_listed) listed.insert(group.parameters.mgid);
    std::set<const state::Subnet*> subnets;
    for (const auto& link : account.links) {
        subnets.insert(link.subnet);
        add_absences(link, around);
        for (const auto& group : link.groups)
            around.groups.push_back(
                group_of(*link.subnet, group, listed.contains(link.subnet->groups()[group.group].mgid)));
    }
    for (const auto* subnet : subnets) {
        for (const auto& port : subnet->ports()) {
            if (port.gid.is_zero()) continue;
            if (!port.told_lmc) around.seen_lids.push_back(port.gid);
            around.ports.push_back({.gid = port.gid,
                                    .lid = port.lid,
                                    .mtu = port.mtu,
                                    .rate = port.rate,
                                    .p_keys = {},
                                    .node_description = {}});
        }
        for (const auto& one : subnet->neighbours())
            if (one.qpn_count != 0 && one.p_key != 0 && !one.is_shared)
                around.announcements.push_back({one.address, static_cast<std::uint16_t>(one.p_key | full_membership),
                                                one.gid, one.qpns[one.qpn_count - 1U], one.announced.time});
    }
    // Of the ports, a list of the SA's records tells P_Keys, too.
    for (const auto& statement : statements)
        for (const auto& port : statement.ports) {
            const auto known = std::ranges::find(around.ports, port.gid, &assumptions::StatedPort::gid);
            if (known == around.ports.end()) {
                around.ports.push_back(port);
                continue;
            }
            known->p_keys = port.p_keys;
            if (port.lid != 0 && std::erase(around.seen_lids, port.gid) != 0) known->lid = port.lid;
        }
    std::ranges::sort(around.seen_lids);
    sort_unique(around.groups, [](const StatedGroup& one) { return one.parameters.mgid; });
    sort_unique(around.ports, [](const assumptions::StatedPort& one) { return one.gid; });
    sort_unique(around.announcements, [](const hosts::Announcement& one) { return std::pair{one.address, one.p_key}; });
    sort_unique(around.absent, [](const hosts::Absence& one) { return std::pair{one.mgid, one.port}; });
    return around;
}

}  // namespace

void add_hosts(Account& account, std::span<const hosts::HostState> states,
               std::span<const assumptions::Statement> statements) {
    auto compared = hosts::compare(states, surroundings(account, statements));
    std::move(compared.notes.begin(), compared.notes.end(), std::back_inserter(account.notes));
    std::map<std::pair<std::uint64_t, std::uint16_t>, std::size_t> places;
    for (std::size_t i = 0; i < account.links.size(); ++i)
        places.emplace(std::pair{account.links[i].subnet->prefix(),
                                 static_cast<std::uint16_t>(account.links[i].link->p_key | full_membership)},
                       i);
    std::map<std::string, std::size_t> counts;
    for (auto& one : compared.findings) {
        if (++counts[one.name] > Account::most_findings) {
            ++account.more_findings[one.name];
            continue;
        }
        auto& finding = account.findings.emplace_back();
        finding.name = std::move(one.name);
        finding.text = std::move(one.text);
        finding.link = inspection::link_name(one.prefix, one.p_key);
        finding.is_beyond = true;
        finding.hosts = std::move(one.ports);
        const auto place = places.find({one.prefix, one.p_key});
        if (place == places.end()) continue;
        const auto& link = account.links[place->second];
        finding.place = place->second;
        for (const auto& gid : finding.hosts)
            if (const auto port = link.subnet->port_with(gid); port != state::none) finding.ports.push_back(port);
        for (const auto& mgid : one.groups)
            if (const auto* group = link.group(mgid)) finding.groups.push_back(group->group);
        std::ranges::sort(finding.ports);
        std::ranges::sort(finding.groups);
    }
    put_causes_first(account.findings);
}

}  // namespace ipoib::links

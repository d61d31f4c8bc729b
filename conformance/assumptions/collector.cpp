// SPDX-License-Identifier: GPL-2.0-or-later
// Records into groups.
#include "conformance/assumptions/collector.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::assumptions {
namespace {

constexpr std::size_t most_told = 100;

/// One entry a port: what a later record says of it holds.
void put_in_order(StatedGroup& group) {
    auto& members = group.members;
    const auto told = [](const StatedMember& member) {
        return "JoinState " + wire::hex(unsigned{member.join_state}, 1) + (member.proxy ? " with ProxyJoin" : "");
    };
    std::stable_sort(members.begin(), members.end(),
                     [](const StatedMember& a, const StatedMember& b) { return a.port_gid < b.port_gid; });
    std::size_t kept = 0;
    for (auto& member : members) {
        if (kept != 0 && members[kept - 1].port_gid == member.port_gid) {
            const auto before = told(members[kept - 1]);
            if (told(member) != before && group.member_contradictions.size() < most_told)
                group.member_contradictions.push_back(wire::text(member.port_gid) + ' ' + told(member) + ", but " +
                                                      before + " in another record");
            if (member.node_description.empty()) member.node_description.swap(members[kept - 1].node_description);
            --kept;
        }
        if (&members[kept] != &member) members[kept] = std::move(member);
        ++kept;
    }
    members.resize(kept);
}

}  // namespace

void Collector::add(Record record) {
    const auto& mgid = record.group.parameters.mgid;
    if (!mgid.is_multicast() && keeps_irregularities()) {
        ++not_groups_;
        return;
    }
    if (!mgid.is_multicast()) throw Wrong{record.line, wire::text(mgid) + " is no multicast GID"};
    members_ += record.group.members.size();
    if (members_ > most_members) throw Wrong{record.line, "more than " + std::to_string(most_members) + " members"};
    const auto [found, is_new] = index_.try_emplace(mgid, groups_.size());
    if (is_new) {
        if (groups_.size() == most_groups)
            throw Wrong{record.line, "more than " + std::to_string(most_groups) + " groups"};
        groups_.emplace_back().parameters.mgid = mgid;
        told_at_.emplace_back();
    }
    merge(found->second, record);
    auto& members = groups_[found->second].members;
    for (auto& member : record.group.members) members.push_back(std::move(member));
}

void Collector::merge(std::size_t index, const Record& record) {
    auto& group = groups_[index];
    group.members_are_listed |= record.group.members_are_listed;
    for (unsigned i = 0; i < parameter_count; ++i) {
        const auto parameter = static_cast<Parameter>(i);
        if (!record.group.tells(parameter)) continue;
        // Some administrators leave the Scope of a member's record blank.
        if (keeps_irregularities() && parameter == Parameter::scope && record.group.parameters.scope == 0) continue;
        const auto value = value_of(record.group.parameters, parameter);
        if (group.tells(parameter)) {
            if (value_of(group.parameters, parameter) != value) contradict(index, parameter, value, record.line);
            continue;
        }
        told_at_[index][i] = record.line;
        set(group, parameter, value);
    }
}

void Collector::contradict(std::size_t index, Parameter parameter, std::uint32_t value, std::size_t line) {
    auto& group = groups_[index];
    const auto before = told_at_[index][static_cast<std::size_t>(parameter)];
    const auto known = text_of(parameter, value_of(group.parameters, parameter));
    if (irregularities_ == Irregularities::refused)
        throw Wrong{line, "the record of " + wire::text(group.parameters.mgid) + " has " +
                              std::string(name_of(parameter)) + " " + text_of(parameter, value) +
                              ", but that of line " + std::to_string(before) + " has " + known +
                              ": a list is of one subnet at one time"};
    if (group.contradictions.size() < most_told)
        group.contradictions.push_back(std::string(name_of(parameter)) + " " + text_of(parameter, value) + ", but " +
                                       known +
                                       (before != 0 ? " in line " + std::to_string(before) : " in another record"));
}

std::vector<StatedGroup> Collector::groups() && {
    if (groups_.empty())
        throw Wrong{0,
                    "no record of a multicast group found; expected is what saquery -g and saquery -m print, or JSON"};
    for (auto& group : groups_) put_in_order(group);
    return std::move(groups_);
}

}  // namespace ipoib::assumptions

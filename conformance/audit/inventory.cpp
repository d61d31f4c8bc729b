// SPDX-License-Identifier: GPL-2.0-or-later
// Asking a subnet administrator for what it holds, and for nothing else.
#include "conformance/audit/inventory.hpp"

#include "conformance/assumptions/collector.hpp"
#include "conformance/assumptions/sa_list.hpp"
#include "conformance/audit/questions.hpp"
#include "protocol/state/port_rate.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/rmpp.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace ipoib::audit {
using namespace wire;
using assumptions::Irregularities;
using assumptions::StatedGroup;
using assumptions::StatedPort;

namespace {

void put_in_order(Inventory& inventory) {
    std::ranges::sort(inventory.groups, {}, [](const StatedGroup& group) { return group.parameters.mgid; });
    std::ranges::sort(inventory.ports, {}, &StatedPort::gid);
}

using M = McMemberRecord;

assumptions::Record record_of(View<M> told, bool names_members) {
    assumptions::Record record;
    auto& group = record.group;
    group.parameters = state::parameters_of(told);
    group.given = (1u << assumptions::parameter_count) - 1;
    group.members_are_listed = names_members;
    const auto port_gid = told[M::port_gid];
    if (names_members && !port_gid.is_zero())
        group.members.push_back({port_gid, told[M::join_state], told[M::proxy_join], {}});
    return record;
}

/// What one table of MCMemberRecords says; false when it came cut.
bool take_table(const fabric::SaAnswer& answer, bool names_members, assumptions::Collector& into,
                Inventory& inventory) {
    for_each_record<M>(answer.data, answer.record_size, [&](const View<M>& record) {
        if (!record[M::mgid].is_multicast())
            inventory.notes.push_back("the SA tells of a group " + text(record[M::mgid]) +
                                      ", which is no multicast GID");
        else
            into.add(record_of(record, names_members));
    });
    return !answer.is_cut;
}

std::string status_of(const fabric::SaAnswer& answer) {
    return answer.is_answered ? "status " + hex(answer.status, 4) : "no answer";
}

constexpr std::string_view not_all_told = "this fabric carries only the begin of a long table: groups may be missing";

void ask_for_groups(Questions& questions, bool is_trusted, Inventory& inventory) {
    assumptions::Collector collector{Irregularities::kept};
    const auto groups = questions.table<M>(attribute::mc_member_record, 0, {}, false);
    const bool are_none = groups.is_answered && groups.status == sa_status::no_records;
    if (!groups.is_ok() && !are_none)
        throw std::runtime_error("the SA does not tell of its groups: " + status_of(groups));
    // Some SAs name the members to everybody, others to nobody without the key.
    bool names_members = false;
    for_each_record<M>(groups.data, groups.record_size,
                       [&](const View<M>& record) { names_members |= !record[M::port_gid].is_zero(); });
    if (!take_table(groups, names_members, collector, inventory)) {
        inventory.doubt = not_all_told;
        inventory.notes.push_back(inventory.doubt);
    }
    if (are_none || groups.data.empty()) return;
    inventory.groups = std::move(collector).groups();
    if (!is_trusted && !names_members)
        inventory.notes.emplace_back(
            "the SA tells of members and P_Keys only to those who know its SM_Key (sm-key=), and may tell of no other "
            "partitions than those of the port that asks: whether there are more is not known");
}

/// One group after the other, so that a fabric that cuts tables carries as many members as it can.
void ask_for_each(Questions& questions, Inventory& inventory) {
    std::size_t untold = 0;
    for (auto& group : inventory.groups) {
        assumptions::Collector collector{Irregularities::kept};
        const auto like = Bytes<M>{}.set(M::mgid, group.parameters.mgid);
        const auto members = questions.table<M>(attribute::mc_member_record, M::component::mgid, like, true);
        const bool are_none = members.status == sa_status::no_records || (members.is_ok() && members.data.empty());
        const bool is_whole = are_none || (members.is_ok() && take_table(members, true, collector, inventory));
        if (!are_none && members.is_ok()) {
            auto told = std::move(collector).groups();
            if (!told.empty()) group = std::move(told.front());
        }
        group.members_are_listed = is_whole;
        untold += is_whole ? 0 : 1;
    }
    if (untold != 0)
        inventory.notes.push_back(
            "of " + std::to_string(untold) +
            " groups not all members are told: this fabric carries only the begin of a long table");
}

void ask_for_members(Questions& questions, Inventory& inventory) {
    const auto all = questions.table<M>(attribute::mc_member_record, 0, {}, true);
    if (!all.is_ok() || all.is_cut) {
        if (all.status != sa_status::no_records) return ask_for_each(questions, inventory);
        for (auto& group : inventory.groups) group.members_are_listed = true;
        return;
    }
    assumptions::Collector collector{Irregularities::kept};
    (void)take_table(all, true, collector, inventory);
    // A group that nobody is in has no record in this table, but it is there.
    for (auto& group : inventory.groups) {
        if (collector.knows(group.parameters.mgid)) continue;
        group.members_are_listed = true;
        collector.add({.group = std::move(group), .line = 0});
    }
    inventory.groups = std::move(collector).groups();
}

void add_p_keys(const fabric::SaAnswer& answer, StatedPort& port) {
    using P = PKeyTableRecord;
    if (!answer.is_ok() || answer.is_cut) return;
    std::vector<std::uint16_t> p_keys;
    for_each_record<P>(answer.data, answer.record_size, [&](const View<P>& block) {
        for (std::size_t i = 0; i < P::entries; ++i)
            if (const auto p_key = p_key_in(block, i); p_key != 0) p_keys.push_back(p_key);
    });
    std::ranges::sort(p_keys);
    port.p_keys = std::move(p_keys);
}

/// None where the SA knows no node at this port: an alias GUID, or a port that has gone since.
std::optional<StatedPort> ask_for_port(Questions& questions, const Gid& gid, bool is_trusted) {
    const auto guid = Bytes<NodeInfo>{}.set(NodeInfo::port_guid, gid.interface_id());
    const auto like = Bytes<NodeRecord>{}.set(NodeRecord::node_info, guid.octets);
    const auto node = questions.get(attribute::node_record, NodeRecord::component::port_guid, like);
    const auto record = node.is_ok() ? node.first<NodeRecord>() : View<NodeRecord>{};
    if (!record) return {};
    StatedPort port{.gid = gid, .lid = record[NodeRecord::lid]};
    const auto description = record[NodeRecord::node_description];
    const std::string_view whole{reinterpret_cast<const char*>(description.data()), description.size()};
    port.node_description = assumptions::description_in(whole.substr(0, whole.find('\0')));

    using R = PortInfoRecord;
    const auto node_told = node_info(record);
    // Of a switch, port 0 is the one that joins.
    const bool is_switch = node_told[NodeInfo::node_type] == NodeInfo::switch_node;
    const auto number = is_switch ? std::uint8_t{0} : node_told[NodeInfo::local_port_num];
    const auto of_port = Bytes<R>{}.set(R::endport_lid, port.lid).set(R::port_num, number);
    const auto info =
        questions.get(attribute::port_info_record, R::component::endport_lid | R::component::port_num, of_port);
    if (const auto told = info.is_ok() ? port_info(info.first<R>()) : View<PortInfo>{}) {
        port.mtu = told[PortInfo::neighbor_mtu];
        port.p_key_violations = told[PortInfo::p_key_violations];
        port.q_key_violations = told[PortInfo::q_key_violations];
        const auto rate = state::rate_of(told);
        port.rate = rate.code;
        port.has_unknown_rate = rate.is_unknown;
    }
    using P = PKeyTableRecord;
    if (is_trusted)
        add_p_keys(questions.table(attribute::p_key_table_record, P::component::lid | P::component::port_num,
                                   Bytes<P>{}.set(P::lid, port.lid).set(P::port_num, number), true),
                   port);
    // Of a switch, port 0 has no link.
    if (!is_switch) ask_for_switch(questions, number, port);
    return port;
}

void ask_for_ports(Questions& questions, bool is_trusted, const Progress& progress, Inventory& inventory) {
    std::vector<Gid> members;
    for (const auto& group : inventory.groups)
        if (has_ipoib_signature(group.parameters.mgid))
            for (const auto& member : group.members) members.push_back(member.port_gid);
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    std::size_t unknown = 0, done = 0;
    for (const auto& gid : members) {
        if (auto port = ask_for_port(questions, gid, is_trusted))
            inventory.ports.push_back(std::move(*port));
        else
            ++unknown;
        ++done;
        if (progress) progress(done, members.size());
    }
    if (unknown != 0)
        inventory.notes.push_back(std::to_string(unknown) + " members are at ports of which the SA tells nothing");
}

}  // namespace

Inventory inventory_of(assumptions::Statement file) {
    Inventory inventory{.groups = std::move(file.groups),
                        .ports = std::move(file.ports),
                        .origin = std::move(file.origin),
                        .doubt = "a file does not tell whether it holds all groups and members",
                        .p_key_doubt = "a file does not tell whether it holds all P_Keys of a port",
                        .notes = {},
                        .switch_groups = file.switch_groups};
    // The list of members has no record of a group without any.
    if (std::ranges::any_of(inventory.groups, &StatedGroup::members_are_listed))
        for (auto& group : inventory.groups) group.members_are_listed = true;
    // Lists of a file may be of two times, and what a port is in a group changes.
    for (auto& group : inventory.groups)
        for (const auto& one : std::exchange(group.member_contradictions, {}))
            inventory.notes.push_back("in " + text(group.parameters.mgid) + " is " + one +
                                      ": lists of two times, or an SA that contradicts itself");
    for (auto& port : inventory.ports)
        if (port.p_keys) std::ranges::sort(*port.p_keys);
    if (file.not_groups != 0)
        inventory.notes.push_back(std::to_string(file.not_groups) + " records are of an MGID that is no multicast GID");
    if (std::ranges::any_of(inventory.ports, &StatedPort::is_router)) inventory.has_router = true;
    if (inventory.ports.empty())
        inventory.notes.emplace_back("the file has no records of ports (saquery NR, PIR, PKTR)");
    put_in_order(inventory);
    return inventory;
}

Inventory survey(fabric::Port& port, bool is_trusted, fabric::Duration patience, const Progress& progress,
                 const Pace& pace) {
    const auto facts = port.facts();
    Inventory inventory{.p_keys = facts.p_keys, .origin = "the SA at LID " + hex(facts.sm_lid, 4)};
    Questions questions{port, is_trusted, patience, pace};
    try {
        ask_for_groups(questions, is_trusted, inventory);
        if (is_trusted && !inventory.groups.empty()) ask_for_members(questions, inventory);
    } catch (const assumptions::Wrong& wrong) {
        throw std::runtime_error("the SA's records make no sense: " + wrong.what);
    }
    ask_for_ports(questions, is_trusted, progress, inventory);
    put_in_order(inventory);
    ask_for_routers(questions, inventory);
    ask_for_paths(questions, inventory);
    inventory.questions = questions.count();
    return inventory;
}

}  // namespace ipoib::audit

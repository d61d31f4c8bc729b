// SPDX-License-Identifier: GPL-2.0-or-later
// The topology that an SA tells of: switches, routers, paths between ports.
#include "conformance/audit/questions.hpp"
#include "protocol/wire/link_record.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/switch_info_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::audit {
using namespace wire;
using assumptions::StatedGroup;
using assumptions::StatedPort;

namespace {

/// A member that a path may lead to: the SA knows its port, and its P_Key of the link.
struct End {
    const Gid* gid = nullptr;
    std::uint16_t p_key = 0;
};

/// The entry of the table for this partition, with full membership if there is one; 0: none.
std::uint16_t entry_for(const StatedPort& port, std::uint16_t p_key) {
    std::uint16_t found = 0;
    for (const auto entry : port.p_keys.value_or(std::vector<std::uint16_t>{}))
        if (is_same_partition(entry, p_key)) found = std::max(found, entry);
    return found;
}

std::vector<End> ends_of(const StatedGroup& link, const Inventory& inventory) {
    constexpr std::uint8_t full = join_state::full_member;
    std::vector<End> ends;
    for (const auto& member : link.members) {
        const auto port = std::ranges::lower_bound(inventory.ports, member.port_gid, {}, &StatedPort::gid);
        const bool is_known = port != inventory.ports.end() && port->gid == member.port_gid && port->lid != 0;
        if (!is_known || (member.join_state & full) == 0) continue;
        if (const auto p_key = entry_for(*port, link.parameters.p_key)) ends.push_back({&member.port_gid, p_key});
    }
    return ends;
}

using P = PathRecord;

fabric::SaAnswer ask_for_path(Questions& questions, const AskedPath& path, std::uint16_t p_key) {
    const auto like =
        Bytes<P>{}.set(P::sgid, path.from).set(P::dgid, path.to).set(P::p_key, p_key).set(P::number_of_paths, 1);
    return questions.get(attribute::path_record,
                         P::component::sgid | P::component::dgid | P::component::p_key | P::component::number_of_paths,
                         like);
}

/// Whether the SA still knows the port: one that has gone meanwhile has no path for a good reason.
bool is_still_there(Questions& questions, const Gid& gid) {
    const auto guid = Bytes<NodeInfo>{}.set(NodeInfo::port_guid, gid.interface_id());
    const auto like = Bytes<NodeRecord>{}.set(NodeRecord::node_info, guid.octets);
    return questions.get(attribute::node_record, NodeRecord::component::port_guid, like).is_ok();
}

/// Nothing where the answer says neither.
void ask_for_path(Questions& questions, AskedPath path, std::uint16_t p_key, Inventory& inventory) {
    const auto answer = ask_for_path(questions, path, p_key);
    path.has_path = answer.is_ok() && answer.first<P>();
    const bool is_none = answer.status == sa_status::no_records || (answer.is_ok() && !path.has_path);
    if (!path.has_path && !is_none) return;
    if (is_none && !(is_still_there(questions, path.from) && is_still_there(questions, path.to))) return;
    inventory.paths.push_back(path);
}

void ask_for_paths_of(Questions& questions, const StatedGroup& link, std::size_t& left, Inventory& inventory) {
    const auto ends = ends_of(link, inventory);
    const auto p_key = static_cast<std::uint16_t>(link.parameters.p_key | full_membership);
    std::size_t asked = 0, all = 0;
    for (std::size_t step = 1; step < ends.size(); ++step)
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const auto &from = ends[i], &to = ends[(i + step) % ends.size()];
            // Two limited members of a partition have none. IBTA Vol 1, 10.9.
            if (!is_full_member(from.p_key) && !is_full_member(to.p_key)) continue;
            ++all;
            if (asked == left) continue;
            ++asked;
            ask_for_path(questions, {link.parameters.mgid, *from.gid, *to.gid}, p_key, inventory);
        }
    left -= asked;
    if (asked != all)
        inventory.notes.push_back("of " + std::to_string(all) + " paths between members of " +
                                  text(link.parameters.mgid) + " only " + std::to_string(asked) + " were asked for");
}

}  // namespace

void ask_for_switch(Questions& questions, std::uint8_t port_number, StatedPort& port) {
    using L = LinkRecord;
    using S = SwitchInfoRecord;
    const auto link = questions.get_if_told(attribute::link_record, L::component::from_lid | L::component::from_port,
                                            Bytes<L>{}.set(L::from_lid, port.lid).set(L::from_port, port_number));
    const auto record = link.is_ok() ? link.first<L>() : View<L>{};
    if (!record) return;
    const auto to = record[L::to_lid];
    const auto info =
        questions.get_if_told(attribute::switch_info_record, S::component::lid, Bytes<S>{}.set(S::lid, to));
    // Back to back, there is no switch at the other end.
    if (const auto told = info.is_ok() ? info.first<S>() : View<S>{}; told && told[S::lid] == to)
        port.switch_groups = switch_info(told)[SwitchInfo::multicast_cap];
}

void ask_for_routers(Questions& questions, Inventory& inventory) {
    const auto router = Bytes<NodeInfo>{}.set(NodeInfo::node_type, NodeInfo::router);
    const auto like = Bytes<NodeRecord>{}.set(NodeRecord::node_info, router.octets);
    const auto nodes = questions.table(attribute::node_record, NodeRecord::component::node_type, like, false);
    const bool are_none = nodes.status == sa_status::no_records || (nodes.is_ok() && nodes.data.empty());
    if (are_none || nodes.is_ok()) inventory.has_router = !are_none;
}

void ask_for_paths(Questions& questions, Inventory& inventory) {
    auto left = most_paths;
    for (const auto& group : inventory.groups) {
        if (!is_broadcast_gid(group.parameters.mgid) || !group.members_are_listed) continue;
        // An SA tells of paths only in partitions of who asks.
        const bool is_own = std::ranges::any_of(inventory.p_keys, [&](std::uint16_t own) {
            return is_same_partition(own, group.parameters.p_key) && is_full_member(own);
        });
        if (is_own) ask_for_paths_of(questions, group, left, inventory);
    }
}

}  // namespace ipoib::audit

// SPDX-License-Identifier: GPL-2.0-or-later
// Get and GetTable of MCMemberRecord: who may see what. IBTA Vol 1, 15.2.5.17 and 15.4.1.
#include "fabric/simulated/sa_membership.hpp"
#include "fabric/simulated/sa_parameters.hpp"
#include "protocol/wire/mgid.hpp"

namespace ipoib::fabric::sa {
using namespace wire;
using M = McMemberRecord;
using C = M::component;

namespace {

/// Whether the group is what the request's components describe; those of a member are left out.
bool describes(const Request& request, const McRecord& group) {
    constexpr std::array rows{std::pair{C::mgid, static_cast<const FieldSpec*>(&M::mgid)},
                              std::pair{C::q_key, static_cast<const FieldSpec*>(&M::q_key)},
                              std::pair{C::mlid, static_cast<const FieldSpec*>(&M::mlid)},
                              std::pair{C::traffic_class, static_cast<const FieldSpec*>(&M::traffic_class)},
                              std::pair{C::sl, static_cast<const FieldSpec*>(&M::sl)},
                              std::pair{C::flow_label, static_cast<const FieldSpec*>(&M::flow_label)},
                              std::pair{C::hop_limit, static_cast<const FieldSpec*>(&M::hop_limit)},
                              std::pair{C::scope, static_cast<const FieldSpec*>(&M::scope)}};
    const auto asked = request.record<M>();
    for (const auto& [component, row] : rows)
        if (request.gives(component) && !is_same(*row, asked.octets(), group.octets)) return false;
    if (request.gives(C::p_key) && !is_same_partition(asked[M::p_key], group[M::p_key])) return false;
    if (request.gives(C::mtu_selector) && !fulfils(mtu_quantity, asked[M::mtu_selector], asked[M::mtu], group[M::mtu]))
        return false;
    return !request.gives(C::rate_selector) ||
           fulfils(rate_quantity, asked[M::rate_selector], asked[M::rate], group[M::rate]);
}

}  // namespace

void Membership::add_records(const Request& request, const HeldGroup& group, Reply& reply) const {
    const auto asked = request.record<M>();
    const bool is_of_port = request.gives(C::port_gid);
    const bool tells_members =
        request.has_sm_key || (config_.trusts_everyone && (is_of_port || request.method() == Method::get_table));
    const auto is_asked = [&](std::uint8_t states) {
        return !request.gives(C::join_state) || asked[M::join_state] == states;
    };
    const auto* port = is_of_port ? find_port(subnet_, asked[M::port_gid], request.port->gid.prefix()) : nullptr;
    bool has_matches = false;
    for (const auto& [port_gid, states] : group.members) {
        if ((is_of_port && (!port || port->gid != port_gid)) || !is_asked(states)) continue;
        has_matches = true;
        if (!tells_members) break;
        auto record = group.record;
        record.set(M::port_gid, port_gid).set(M::join_state, states);
        if (!reply.add(record.set(M::proxy_join, group.proxies.contains(port_gid)))) return;
    }
    // One record stands for the group: that of OpenSM for who has not its key, and here that of a group without
    // members.
    const bool stands_alone = group.members.empty() && !request.has_sm_key && !is_of_port && is_asked(0);
    const bool is_anonymous = !tells_members && (has_matches || (!is_of_port && !request.gives(C::join_state)));
    if (stands_alone || is_anonymous) reply.add(group.record);
}

Reply Membership::query(const Request& request) const {
    if (!has_known_codes(request)) return Reply::refuse(sa_status::invalid_request);
    Reply reply;
    const auto add = [&](const HeldGroup& group) {
        const bool is_hidden = config_.behaviour.hides_partitions && !has_p_key(*request.port, group.record[M::p_key]);
        if (!is_hidden && describes(request, group.record)) add_records(request, group, reply);
        return reply.status() == mad_status::ok;
    };
    if (request.gives(C::mgid)) {
        if (const auto* group = groups_.find(request.record<M>()[M::mgid])) add(*group);
        return reply;
    }
    for (const auto& [mgid, group] : groups_.all())
        if (!add(group)) break;
    return reply;
}

}  // namespace ipoib::fabric::sa

// SPDX-License-Identifier: GPL-2.0-or-later
// Joins that create a group with other parameters than the broadcast group's. RFC 4391, 10.
#include "traffic-gen/mutation.hpp"

#include "protocol/wire/mgid.hpp"

namespace ipoib::traffic {
using namespace wire;
using M = McMemberRecord;

namespace {

/// Changes a component of the join that creates a group.
template <auto Field, auto Pattern>
void change_join(build::PacketBuilder& packet) {
    const auto record = packet.get<M>();
    const bool is_join = record && packet.get<Mad>()[Mad::method] == Method::set;
    if (is_join && (record[M::join_state] & join_state::full_member) != 0 && !is_broadcast_gid(record[M::mgid]))
        packet.set(*Field, static_cast<typename std::remove_cvref_t<decltype(*Field)>::type>(record[*Field] ^ Pattern));
}

const Mutation another_mtu{
    .name = "creates-with-mtu",
    .what = "a join that creates a group asks for another MTU",
    .breaks = {&rfc4391::new_group_link_mtu},
    .profile = "membership",
    .change = change_join<&M::mtu, 7>,
};

const Mutation another_q_key{
    .name = "creates-with-q-key",
    .what = "a join that creates a group gives another Q_Key",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .profile = "membership",
    .change = change_join<&M::q_key, 0x1111u>,
};

const Mutation another_sl{
    .name = "creates-with-sl",
    .what = "a join that creates a group gives another SL",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .profile = "membership",
    .change = change_join<&M::sl, 5>,
};

const Mutation another_hop_limit{
    .name = "creates-with-hop-limit",
    .what = "a join that creates a group gives another HopLimit",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .profile = "membership",
    .change = change_join<&M::hop_limit, 0x40>,
};

const Mutation another_traffic_class{
    .name = "creates-with-tclass",
    .what = "a join that creates a group gives another TClass",
    .breaks = {&rfc4391::new_group_other_attributes},
    .profile = "membership",
    .change = change_join<&M::traffic_class, 0x01>,
};

const Mutation another_flow_label{
    .name = "creates-with-flow-label",
    .what = "a join that creates a group gives another FlowLabel",
    .breaks = {&rfc4391::new_group_other_attributes},
    .profile = "membership",
    .change = change_join<&M::flow_label, 0x1u>,
};

const Mutation another_rate{
    .name = "creates-with-rate",
    .what = "a join that creates a group gives another rate",
    .breaks = {&rfc4391::new_group_other_attributes},
    .profile = "membership",
    .change = change_join<&M::rate, 1>,
};

}  // namespace
}  // namespace ipoib::traffic

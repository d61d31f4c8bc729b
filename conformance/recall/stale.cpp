// SPDX-License-Identifier: GPL-2.0-or-later
// By field and packet: the statement.
#include "conformance/recall/stale.hpp"

#include <array>

namespace ipoib::recall {
namespace {

bool is_multicast(Talk talk) { return talk == Talk::solicitation || talk == Talk::to_group; }
bool is_datagram(Talk talk) {
    return is_multicast(talk) || talk == Talk::unicast || talk == Talk::arp_reply || talk == Talk::advertisement;
}
bool is_resolution(Talk talk) {
    return talk == Talk::solicitation || talk == Talk::arp_reply || talk == Talk::advertisement;
}
bool is_unicast(Talk talk) { return is_datagram(talk) && !is_multicast(talk); }

Claim claim_of(bool applies, Claim claim) { return applies ? std::move(claim) : Claim{}; }

Claim of_receiver_qpn(Talk talk) {
    if (talk == Talk::arp_reply) return {&rfc4391::arp_reply_to_advertised_qpn};
    if (talk == Talk::request) return {&rfc4755::cm_service_id};
    return claim_of(is_unicast(talk), {&rfc4391::ip_to_advertised_qpn});
}

}  // namespace

std::string_view name_of(Field field) {
    constexpr std::array<std::string_view, 14> names{
        "stale QPN",      "stale LID",   "stale own QPN", "stale own GID",    "stale link-layer address",
        "stale MLID",     "stale Q_Key", "stale SL",      "stale FlowLabel",  "stale TClass",
        "stale HopLimit", "stale MTU",   "stale P_Key",   "stale Receive MTU"};
    return names[static_cast<std::size_t>(field)];
}

Claim broken_by(Field field, Talk talk) {
    switch (field) {
        case Field::receiver_qpn:
            return of_receiver_qpn(talk);
        case Field::receiver_lid:
            // The SA has told the sender where the GID is; which of the two finds it, both say the same of the port.
            return claim_of(is_unicast(talk), {&rfc4391::lrh_targets_peer_lid, &rfc4391::lid_by_iba_methods});
        case Field::sender_qpn:
            // From which queue pair a datagram is sent is left open. RFC 4391, 9.1.1.
            return claim_of(talk == Talk::request || talk == Talk::reply, {&rfc4755::cm_setup_carries_ud_qpn});
        case Field::sender_gid:
            return claim_of(is_resolution(talk), {&rfc4391::link_address_gid, &rfc4391::link_address_port_gid});
        case Field::link_address:
            return claim_of(talk == Talk::unicast, {&rfc4391::ip_to_advertised_qpn});
        case Field::mlid:
            return claim_of(is_multicast(talk), {&rfc4391::mlid_as_dlid, &rfc4392::deleted_group_mlid});
        case Field::q_key:
            return claim_of(is_datagram(talk), {&rfc4391::qkey_of_broadcast_group});
        case Field::sl:
            if (is_unicast(talk)) return {&rfc4391::sl_by_iba_methods};
            return claim_of(is_multicast(talk), {&rfc4391::sl_of_broadcast_group});
        case Field::flow_label:
        case Field::traffic_class:
        case Field::hop_limit:
            return claim_of(is_multicast(talk), {&rfc4391::multicast_parameters_of_group});
        case Field::mtu:
            return claim_of(talk == Talk::unicast || talk == Talk::to_group, {&rfc4391::frame_within_link_mtu});
        case Field::p_key:
            // A group of the link of before has been left.
            if (is_multicast(talk))
                return {&rfc4392::one_pkey_per_subnet, &rfc4391::sender_joins_first,
                        &rfc4391::broadcast_full_member_join};
            return claim_of(is_datagram(talk), {&rfc4392::one_pkey_per_subnet});
        case Field::receive_mtu:
            return claim_of(talk == Talk::over_connection, {&rfc4755::cm_default_mtu});
    }
    return {};
}

bool is_provable(Field field, Talk talk) {
    // A router may be at the address of before, and an SL may be found in other ways than by a PathRecord.
    return field != Field::link_address && (field != Field::sl || is_multicast(talk));
}

}  // namespace ipoib::recall

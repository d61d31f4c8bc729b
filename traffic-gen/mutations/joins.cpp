// SPDX-License-Identifier: GPL-2.0-or-later
// Ports that join, subscribe and leave in a wrong way, or too often. RFC 4391, 5, 10 and 11; RFC 4392.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::traffic {
using namespace wire;
using M = McMemberRecord;

namespace {

/// Turns joins in one state into joins in another.
template <std::uint8_t From, std::uint8_t To>
void join_otherwise(build::PacketBuilder& packet) {
    if (is_join_or_answer(packet, From)) packet.set(M::join_state, To);
}

/// Turns the subscription to one trap into that to another.
template <std::uint16_t From, std::uint16_t To>
void subscribe_otherwise(build::PacketBuilder& packet) {
    const auto info = packet.get<InformInfo>();
    if (info && info[InformInfo::trap_number] == From) packet.set(InformInfo::trap_number, To);
}

bool is_full_leave(const build::PacketBuilder& packet, Method method) {
    return is_mad_with<M>(packet, method) && packet.get<M>()[M::join_state] == join_state::full_member;
}

const Mutation listener_as_non_member{
    .name = "listens-non-member",
    .what = "a host joins the groups that its IP listens to as NonMember",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4391::joiner_maps_address},
    .profile = "membership",
    .change = join_otherwise<join_state::full_member, join_state::non_member>,
};

const Mutation does_not_leave{
    .name = "does-not-leave",
    .what = "a host whose IP leaves a group asks for its record and leaves nothing",
    .breaks = {&rfc4391::leaves_group},
    .profile = "membership",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_full_leave(packet, Method::del)) packet.set(Mad::method, Method::get);
            if (is_full_leave(packet, Method::delete_resp)) packet.set(Mad::method, Method::get_resp);
        },
};

const Mutation no_deletion_reports{
    .name = "no-deletion-trap",
    .what = "a sender to groups subscribes to their creation, and to ports that go instead of their deletion",
    .breaks = {&rfc4391::group_trap_subscription},
    .profile = "group-senders",
    .change = subscribe_otherwise<trap::multicast_group_deleted, trap::gid_out_of_service>,
};

const Mutation send_only_full_member{
    .name = "sends-as-full-member",
    .what = "a sender joins as SendOnlyFullMember",
    .breaks = {&rfc4391::send_only_join},
    .profile = "nd",
    .change = join_otherwise<join_state::send_only_non_member, join_state::send_only_full_member>,
};

/// All IPv4 groups become one, which a sender then joins anew for each packet.
const Mutation asks_for_each_packet{
    .name = "asks-for-each-packet",
    .what = "a sender joins the same group again before each packet to it",
    .breaks = {&rfc4391::group_attributes_cached},
    .profile = "group-senders",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint32_t mdns = 0xe00000fb;
            constexpr std::uint16_t its_mlid = 0xc0fb;
            const auto folded = [](const Gid& gid) {
                auto mgid = mgid_of(gid);
                if (mgid[Mgid::signature] == ipv4_signature) mgid.set(Mgid::group_low, mdns & 0x0fffffff);
                return Gid{mgid.octets};
            };
            if (const auto record = packet.get<M>(); record && ipv4_group_of(record[M::mgid])) {
                if (record[M::mlid] != 0) packet.set(M::mlid, its_mlid);
                packet.set(M::mgid, folded(record[M::mgid]));
            } else if (is_multicast(packet) && packet.has(spec_of<Ipv4>)) {
                packet.set(Grh::dgid, folded(packet.get<Grh>()[Grh::dgid])).set(Lrh::dlid, its_mlid);
                packet.set(Ipv4::destination, mdns);
            }
        },
};

const Mutation broadcast_join_to_send{
    .name = "broadcast-send-only",
    .what = "an interface joins the broadcast group as SendOnlyNonMember",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .profile = "bring-up",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_about_broadcast_group(packet)) packet.set(M::join_state, join_state::send_only_non_member);
        },
};

const Mutation leaves_broadcast_group{
    .name = "leaves-broadcast",
    .what = "a host leaves the broadcast group where it means another, and goes on",
    .breaks = {&rfc4392::stays_in_broadcast_group},
    .profile = "group-senders",
    .change =
        [](build::PacketBuilder& packet) {
            if (!is_mad_with<M>(packet, Method::del) && !is_mad_with<M>(packet, Method::delete_resp)) return;
            const auto mgid = mgid_of(packet.get<M>()[M::mgid]);
            packet.set(M::mgid, broadcast_gid(mgid[Mgid::p_key], mgid[Mgid::scope]))
                .set(M::join_state, join_state::full_member);
        },
};

const Mutation answers_without_joining{
    .name = "answers-unjoined",
    .what = "a host joins its solicited-node group to send, and answers what comes from there",
    .breaks = {&rfc4392::explicit_join_to_receive, &rfc4392::receiver_joins},
    .profile = "nd",
    .change = join_otherwise<join_state::full_member, join_state::send_only_non_member>,
};

const Mutation leaves_by_send{
    .name = "leaves-by-send",
    .what = "a port leaves a group by Send, not by Delete",
    .breaks = {&rfc4392::join_and_leave_methods},
    .profile = "join-storm",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_mad_with<M>(packet, Method::del)) packet.set(Mad::method, Method::send);
        },
};

const Mutation creates_without_sl{
    .name = "creates-without-sl",
    .what = "a join that creates a group leaves the SL to the SA",
    .breaks = {&rfc4392::creator_supplies_parameters},
    .profile = "membership",
    .change =
        [](build::PacketBuilder& packet) {
            if (!is_mad_with<M>(packet, Method::set)) return;
            const auto components = packet.get<SaHeader>()[SaHeader::component_mask];
            packet.set(SaHeader::component_mask, components & ~M::component::sl);
        },
};

const Mutation created_for_sender{
    .name = "creates-to-send",
    .what = "a group that does not exist is joined as SendOnlyNonMember, and the SA creates it",
    .breaks = {&rfc4392::creation_needs_full_member},
    .profile = "group-senders",
    .change = join_otherwise<join_state::full_member, join_state::send_only_non_member>,
    .unproven = {&rfc4392::creation_needs_full_member},
};

const Mutation router_joins_to_send{
    .name = "router-joins-to-send",
    .what = "a multicast router joins new groups as SendOnlyNonMember",
    .breaks = {&rfc4391::router_non_member_join},
    .profile = "multicast-router",
    .change = join_otherwise<join_state::non_member, join_state::send_only_non_member>,
};

const Mutation router_is_not_told{
    .name = "router-is-not-told",
    .what = "a multicast router subscribes to ports that come instead of groups that are created",
    .breaks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .profile = "multicast-router",
    .change = subscribe_otherwise<trap::multicast_group_created, trap::gid_in_service>,
};

}  // namespace
}  // namespace ipoib::traffic

// SPDX-License-Identifier: GPL-2.0-or-later
// What a subnet manager or administrator does wrong, or grants that it must not. RFC 4391, 4.1 and 5; RFC 4392, 1.3.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/build/headers.hpp"
#include "protocol/wire/smp.hpp"

namespace ipoib::traffic {
using namespace wire;
using M = McMemberRecord;

namespace {

bool is_broadcast_answer(const build::PacketBuilder& packet) {
    return is_about_broadcast_group(packet) && is_mad_with<M>(packet, Method::get_resp);
}
bool is_other_answer(const build::PacketBuilder& packet) {
    return !is_about_broadcast_group(packet) && is_mad_with<M>(packet, Method::get_resp);
}

template <std::uint16_t Status>
void refuse_broadcast_join(build::PacketBuilder& packet) {
    if (is_broadcast_answer(packet)) packet.set(Mad::status, Status);
}

const Mutation refused_and_sends{
    .name = "sends-though-refused",
    .what = "the SA denies the join of the broadcast group, and hosts send to it",
    .breaks = {&rfc4391::broadcast_full_member_join, &rfc4392::failed_join_keeps_off_subnet},
    .profile = "bring-up",
    .change = refuse_broadcast_join<sa_status::denied>,
};

const Mutation no_broadcast_group{
    .name = "no-broadcast-group",
    .what = "the SA knows of no broadcast group, and hosts send to it",
    .breaks = {&rfc4391::broadcast_group_exists, &rfc4391::broadcast_full_member_join,
               &rfc4392::failed_join_keeps_off_subnet},
    .profile = "bring-up",
    .change = refuse_broadcast_join<sa_status::no_records>,
    .unproven = {&rfc4391::broadcast_group_exists},
};

const Mutation limited_p_key{
    .name = "broadcast-pkey",
    .what = "the broadcast group's record has a P_Key of limited membership",
    .breaks = {&rfc4391::broadcast_group_full_pkey},
    .profile = "bring-up",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_broadcast_answer(packet))
                packet.set(M::p_key, packet.get<M>()[M::p_key] & static_cast<std::uint16_t>(~full_membership));
        },
};

const Mutation broadcast_q_key{
    .name = "broadcast-q-key",
    .what = "the broadcast group has an ordinary Q_Key, which all use then",
    .breaks = {&rfc4391::broadcast_group_controlled_qkey},
    .profile = "bring-up",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint32_t controlled = 0x80000000;
            if (const auto record = packet.get<M>()) packet.set(M::q_key, record[M::q_key] & ~controlled);
            if (is_ipoib_datagram(packet)) packet.set(Deth::q_key, packet.get<Deth>()[Deth::q_key] & ~controlled);
        },
};

const Mutation beyond_neighbor_mtu{
    .name = "broadcast-mtu",
    .what = "the broadcast group has a larger MTU than a member's link",
    .breaks = {&rfc4391::broadcast_group_mtu_bound, &rfc4391::link_mtu},
    .profile = "port-setup",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_broadcast_answer(packet)) packet.set(M::mtu, static_cast<std::uint8_t>(packet.get<M>()[M::mtu] + 1));
        },
};

const Mutation p_key_not_assigned{
    .name = "pkey-not-assigned",
    .what = "a port joins in a partition whose P_Key the SM has not given it",
    .breaks = {&rfc4391::pkey_assigned_to_port},
    .profile = "port-setup",
    .change =
        [](build::PacketBuilder& packet) {
            const auto mad = packet.get<Mad>();
            if (!mad || mad[Mad::mgmt_class] != MgmtClass::subn_lid_routed ||
                mad[Mad::attribute_id] != smp_attribute::p_key_table)
                return;
            build::PacketBuilder other;
            build::append_headers<Lrh, Bth, Deth, Mad>(other, packet);
            std::vector<std::uint8_t> rest(mad_size - Mad::size);
            constexpr std::uint16_t of_another_link = 0x8001;
            write_bits(&rest[LidSmp::data.at.bit / 8 - Mad::size], octet(0), 16, of_another_link);
            packet = other.add(rest);
        },
};

const Mutation named_twice{
    .name = "table-mgid-twice",
    .what = "the SA's table names the broadcast group with two MLIDs",
    .breaks = {&rfc4392::mgid_identifies_one_group},
    .profile = "multicast-router",
    .change =
        [](build::PacketBuilder& packet) {
            if (!is_mad_with<M>(packet, Method::get_table_resp)) return;
            const auto mgid = mgid_of(packet.get<M>()[M::mgid]);
            packet.set(M::mgid, broadcast_gid(mgid[Mgid::p_key], mgid[Mgid::scope]));
        },
};

const Mutation wrong_record_scope{
    .name = "record-scope",
    .what = "a record whose Scope is not that of its MGID",
    .breaks = {&rfc4392::record_scope},
    .profile = "membership",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_other_answer(packet)) flip<&M::scope, 0xc>(packet);
        },
};

const Mutation unicast_mlid{
    .name = "record-mlid",
    .what = "the SA gives a group an LID that is no multicast LID",
    .breaks = {&rfc4392::mlid_assigned_by_sm},
    .profile = "join-storm",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_other_answer(packet)) packet.set(M::mlid, packet.get<M>()[M::mlid] & 0x3fff);
        },
};

}  // namespace
}  // namespace ipoib::traffic

// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong MGIDs. RFC 4391, 4. The group with such an MGID is another one, which nobody has joined: that is broken too.
#include "traffic-gen/mutation.hpp"

#include "protocol/wire/mgid.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Changes the MGID that an IPv4 multicast packet goes to.
template <class Make>
void change_mgid(build::PacketBuilder& packet, Make&& make) {
    const auto grh = packet.get<Grh>();
    if (!grh || !grh[Grh::dgid].is_multicast() || is_broadcast_gid(grh[Grh::dgid]) || !packet.has(spec_of<Ipv4>))
        return;
    auto mgid = mgid_of(grh[Grh::dgid]);
    make(mgid, packet);
    packet.set(Grh::dgid, Gid{mgid.octets});
}

const Mutation maps_32_bits{
    .name = "maps-32-bits",
    .what = "all 32 bits of the IPv4 group in the MGID",
    .breaks = {&rfc4391::mgid_ipv4_padding, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder& whole) {
                mgid.set(Mgid::group_low, whole.get<Ipv4>()[Ipv4::destination]);
            });
        },
};

const Mutation maps_23_bits{
    .name = "maps-23-bits",
    .what = "only the low 23 bits of the IPv4 group in the MGID, as on Ethernet",
    .breaks = {&rfc4391::mgid_ipv4_group_id, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder& whole) {
                mgid.set(Mgid::group_low, whole.get<Ipv4>()[Ipv4::destination] & 0x7fffff);
            });
        },
};

const Mutation draft_p_key{
    .name = "mgid-limited-pkey",
    .what = "the P_Key in the MGID without the membership bit",
    .breaks = {&rfc4391::mgid_pkey, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) {
                mgid.set(Mgid::p_key, mgid[Mgid::p_key] & 0x7fff);
            });
        },
};

const Mutation not_transient{
    .name = "mgid-not-transient",
    .what = "T flag 0 in the MGID",
    .breaks = {&rfc4391::mgid_t_flag, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet,
                        [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::transient, false); });
        },
};

const Mutation another_scope{
    .name = "mgid-scope",
    .what = "another scope in the MGID than in the broadcast-GID",
    .breaks = {&rfc4391::mgid_scope_of_broadcast_gid, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::scope, 8); });
        },
};

const Mutation wrong_signature{
    .name = "ipv4-signature",
    .what = "the signature of IPv6 in the MGID of an IPv4 group",
    .breaks = {&rfc4391::mgid_ipv4_signature, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) {
                mgid.set(Mgid::signature, ipv6_signature);
            });
        },
};

}  // namespace
}  // namespace ipoib::traffic

// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong MGIDs. RFC 4391, 4. The group with such an MGID is another one, which nobody has joined: that is broken too,
// and by those who answer.
#include "traffic-gen/mutations/kinds.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Changes the MGID that a multicast packet goes to, if it has the header.
template <class Header, class Make>
void change_mgid_of(build::PacketBuilder& packet, Make&& make) {
    if (!is_multicast(packet) || !packet.has(spec_of<Header>)) return;
    auto mgid = mgid_of(packet.get<Grh>()[Grh::dgid]);
    make(mgid, packet);
    packet.set(Grh::dgid, Gid{mgid.octets});
}
template <class Make>
void change_mgid(build::PacketBuilder& packet, Make&& make) {
    change_mgid_of<Ipv4>(packet, make);
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

const Mutation reserved_flag{
    .name = "mgid-reserved-flag",
    .what = "a reserved flag in the MGID",
    .breaks = {&rfc4391::mgid_format, &rfc4392::mgid_reserved_flags, &rfc4391::group_created_before_use,
               &rfc4391::sender_checks_group, &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::reserved, 2); });
        },
};

const Mutation reserved_scope{
    .name = "mgid-scope-reserved",
    .what = "the reserved scope 15 in the MGID",
    .breaks = {&rfc4392::mgid_scope_values, &rfc4391::mgid_scope_of_broadcast_gid, &rfc4391::group_created_before_use,
               &rfc4391::sender_checks_group, &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::scope, 0xf); });
        },
};

const Mutation wrong_ipv6_signature{
    .name = "ipv6-signature",
    .what = "the signature of IPv4 in the MGID of an IPv6 group",
    .breaks = {&rfc4391::mgid_ipv6_signature, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid_of<Ipv6>(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) {
                mgid.set(Mgid::signature, ipv4_signature);
            });
        },
};

const Mutation ethernet_ipv6_mapping{
    .name = "ipv6-maps-32-bits",
    .what = "only the low 32 bits of the IPv6 group in the MGID, as on Ethernet",
    .breaks = {&rfc4391::mgid_ipv6_group_id, &rfc4391::group_created_before_use, &rfc4391::sender_checks_group,
               &rfc4391::sender_joins_first, &rfc4392::explicit_join_to_receive, &rfc4392::receiver_joins},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid_of<Ipv6>(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) {
                mgid.set(Mgid::group_low, mgid[Mgid::group_low] & 0xffffffff);
            });
        },
};

const Mutation limited_broadcast_to_group{
    .name = "broadcast-mgid",
    .what = "packets for 255.255.255.255 to the group of all hosts",
    .breaks = {&rfc4391::limited_broadcast_mapping, &rfc4391::broadcast_group_carries_broadcasts,
               &rfc4391::group_created_before_use, &rfc4391::sender_checks_group, &rfc4391::sender_joins_first},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid(packet, [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::group_low, 1); });
        },
};

const Mutation arp_to_group{
    .name = "arp-mgid",
    .what = "ARP requests to the group of all hosts instead of the broadcast-GID",
    .breaks = {&rfc4391::broadcast_gid_format, &rfc4391::broadcast_group_carries_broadcasts,
               &rfc4391::group_created_before_use, &rfc4391::sender_checks_group, &rfc4391::sender_joins_first,
               &rfc4392::explicit_join_to_receive, &rfc4392::receiver_joins},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            change_mgid_of<Arp>(packet,
                                [](Bytes<Mgid>& mgid, const build::PacketBuilder&) { mgid.set(Mgid::group_low, 1); });
        },
};

}  // namespace
}  // namespace ipoib::traffic

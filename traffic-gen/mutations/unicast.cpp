// SPDX-License-Identifier: GPL-2.0-or-later
// Unicast to another place than the receiver has told, or the SA. RFC 4391, 9.1; RFC 4392, 4.1.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/wire/path_record.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Changes a field of unicast packets that have the header.
template <class Header, auto Field, auto Pattern>
void change_unicast(build::PacketBuilder& packet) {
    if (is_unicast_with<Header>(packet)) flip<Field, Pattern>(packet);
}

const Mutation ipv4_to_other_qpn{
    .name = "ipv4-dest-qp",
    .what = "unicast IPv4 to a queue pair that nobody has announced",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .profile = "bring-up",
    .change = change_unicast<Ipv4, &Bth::dest_qp, 0x400000u>,
};

const Mutation ipv6_to_other_qpn{
    .name = "ipv6-dest-qp",
    .what = "unicast IPv6 to a queue pair that nobody has announced",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .profile = "nd",
    .change = change_unicast<Ipv6, &Bth::dest_qp, 0x400000u>,
};

const Mutation arp_reply_to_other_qpn{
    .name = "arp-reply-dest-qp",
    .what = "an ARP reply to another queue pair than the request has announced",
    .breaks = {&rfc4391::arp_reply_to_advertised_qpn},
    .profile = "arp",
    .change = change_unicast<Arp, &Bth::dest_qp, 0x400000u>,
};

const Mutation unicast_to_group_qpn{
    .name = "unicast-dest-qp",
    .what = "unicast to 0xffffff, which stands for groups",
    .breaks = {&rfc4391::unicast_to_peer_qp},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_unicast_with<Ipv4>(packet)) packet.set(Bth::dest_qp, Bth::multicast_qp);
        },
};

const Mutation reply_to_other_port{
    .name = "arp-reply-dlid",
    .what = "an ARP reply to the LID of another port than the one that asked",
    .breaks = {&rfc4391::lrh_targets_peer_lid},
    .profile = "arp",
    .change = change_unicast<Arp, &Lrh::dlid, 1>,
};

const Mutation path_to_other_port{
    .name = "path-dlid",
    .what = "unicast to another LID than the SA has told",
    .breaks = {&rfc4391::lid_by_iba_methods, &rfc4391::lrh_targets_peer_lid},
    .profile = "paths",
    .change = change_unicast<Ipv4, &Lrh::dlid, 1>,
};

const Mutation path_with_other_sl{
    .name = "path-sl",
    .what = "unicast with another SL than the SA has told for the path",
    .breaks = {&rfc4391::sl_by_iba_methods},
    .profile = "paths",
    .change = change_unicast<Ipv4, &Lrh::sl, 0x4>,
    .unproven = {&rfc4391::sl_by_iba_methods},
};

const Mutation no_grh_across_subnets{
    .name = "no-grh-to-subnet",
    .what = "unicast to another IB subnet without a GRH",
    .breaks = {&rfc4391::grh_across_subnets},
    .profile = "two-subnets",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_unicast_with<Grh>(packet)) packet.remove<Grh>();
        },
};

const Mutation second_p_key{
    .name = "second-pkey",
    .what = "echo replies with another P_Key than the requests from the same queue pair",
    .breaks = {&rfc4392::one_pkey_per_subnet},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Icmp>) && packet.get<Icmp>()[Icmp::type] == Icmp::echo_reply)
                flip<&Bth::p_key, 0x40>(packet);
        },
};

}  // namespace
}  // namespace ipoib::traffic

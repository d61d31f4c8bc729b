// SPDX-License-Identifier: GPL-2.0-or-later
// Link-layer addresses, ARP and Neighbor Discovery. RFC 4391, section 9.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement ipv4_resolved_by_arp{.id = "RFC4391-9-01",
                                                  .level = "stmt",
                                                  .strength = Strength::must,
                                                  .binds = Binds::interface,
                                                  .seen = Seen::wire,
                                                  .test = Test::passive | Test::active,
                                                  .statement = "An interface resolves IPv4 addresses with ARP"};
inline constexpr Requirement ipv6_resolved_by_nd{
    .id = "RFC4391-9-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface resolves IPv6 addresses with Neighbor Discovery"};
inline constexpr Requirement lrh_targets_peer_lid{.id = "RFC4391-9.1-01",
                                                  .level = "stmt",
                                                  .strength = Strength::must,
                                                  .binds = Binds::interface,
                                                  .seen = Seen::wire,
                                                  .test = Test::passive,
                                                  .statement =
                                                      "The LRH of a unicast packet names the LID of the peer, or of an "
                                                      "IB router if the peer is in another IB subnet"};
inline constexpr Requirement grh_across_subnets{
    .id = "RFC4391-9.1-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "A packet to a peer in another IB subnet has a GRH with the GID of that peer"};
inline constexpr Requirement unicast_to_peer_qp{
    .id = "RFC4391-9.1-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement =
        "Every unicast packet goes to one particular queue pair at the peer, the one that the peer advertises"};
inline constexpr Requirement qkey_match_on_receive{
    .id = "RFC4391-9.1-04",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A receiver accepts a packet only if its Q_Key is that of the receiving queue pair",
    .part_of = {"RFC4391-3-01"}};
inline constexpr Requirement pkey_match{
    .id = "RFC4391-9.1-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "Two nodes exchange UD packets only if their P_Keys are compatible",
    .part_of = {"RFC4391-3-01"}};
inline constexpr Requirement path_rate_before_data{
    .id = "RFC4391-9.1-06",
    .level = "required",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A sender faster than 1x finds out the rate of a path before it sends data on it",
    .part_of = {"RFC4391-9.1.2-06"}};
inline constexpr Requirement link_address_format{
    .id = "RFC4391-9.1.1-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "A link-layer address is 20 octets in ARP and ND alike: one reserved octet, a 24-bit QPN and a GID"};
inline constexpr Requirement link_address_flags_tx{
    .id = "RFC4391-9.1.1-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface sends the first octet of its link-layer address, the reserved flags, as zero",
    .part_of = {"RFC4391-9.1.1-01"},
    .note =
        "RFC 4755 redefines 0x80 and 0x40: judge with mask 0x3F, note the rest. Judge the SHA only: a reply's THA "
        "echoes the peer."};
inline constexpr Requirement link_address_flags_rx{
    .id = "RFC4391-9.1.1-03",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A receiver ignores the reserved flags in a link-layer address",
    .note = "RFC 4755 redefines 0x80 (RC) and 0x40 (UC)."};
inline constexpr Requirement ip_to_advertised_qpn{
    .id = "RFC4391-9.1.1-04",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "All unicast IP packets for an interface go to the QPN in its link-layer address",
    .part_of = {"RFC4391-9.1-03"}};
inline constexpr Requirement arp_reply_to_advertised_qpn{
    .id = "RFC4391-9.1.1-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An ARP reply goes to the QPN in the requester's link-layer address",
    .part_of = {"RFC4391-9.1-03"}};
inline constexpr Requirement qpn_choice{.id = "RFC4391-9.1.1-06",
                                        .level = "stmt",
                                        .strength = Strength::may,
                                        .binds = Binds::interface,
                                        .seen = Seen::wire,
                                        .test = Test::passive,
                                        .statement = "An interface may choose any QPN for its IP and ARP traffic"};
inline constexpr Requirement link_address_gid{
    .id = "RFC4391-9.1.1-07",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The GID in a link-layer address is one of the GIDs of the interface's own port",
    .part_of = {"RFC4391-9.1.1-01"}};
inline constexpr Requirement link_address_port_gid{
    .id = "RFC4391-9.1.1-08",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The GID in a link-layer address is the subnet prefix followed by the Port GUID"};
inline constexpr Requirement lid_by_iba_methods{
    .id = "RFC4391-9.1.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa | Seen::wire,
    .test = Test::passive | Test::active,
    .statement =
        "An interface learns the LID of a peer by an IBA method, such as asking the SA for the path to its GID"};
inline constexpr Requirement unicast_connectivity{
    .id = "RFC4391-9.1.2-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "The administrator sees to it that all IPoIB nodes of a link can reach each other by unicast"};
inline constexpr Requirement qkey_of_broadcast_group{
    .id = "RFC4391-9.1.2-03",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface uses the Q_Key of the broadcast group for everything it sends and receives on the link",
    .part_of = {"RFC4392-4-01"},
    .note =
        "RFC 4392 1.2 names the Q_Key of each group; the same where 10-17 holds. Proves nothing on a default Q_Key."};
inline constexpr Requirement pkey_configured{
    .id = "RFC4391-9.1.2-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "An interface takes its P_Key from configuration and does not discover it"};
inline constexpr Requirement sl_by_iba_methods{
    .id = "RFC4391-9.1.2-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa | Seen::wire,
    .test = Test::passive,
    .statement = "An interface learns the SL of a unicast path by an IBA method"};
inline constexpr Requirement path_rate_by_iba_methods{
    .id = "RFC4391-9.1.2-06",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa | Seen::wire,
    .test = Test::passive | Test::inspection,
    .statement = "An interface that has to know the rate of a path learns it by IB methods"};
inline constexpr Requirement arp_hardware_type{
    .id = "RFC4391-9.2-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An ARP packet carries hardware type 32, the number for InfiniBand",
    .same_as = {"RFC4391-14-01"},
    .part_of = {"RFC4391-9.2-02"}};
inline constexpr Requirement arp_fields{
    .id = "RFC4391-9.2-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement =
        "The fields of an ARP packet are used as RFC 826 says, with protocol 0x0800 and 4-octet protocol addresses"};
inline constexpr Requirement arp_hardware_address{
    .id = "RFC4391-9.2-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "Hardware addresses in ARP packets have the link-layer address format of section 9.1.1",
    .part_of = {"RFC4391-9.1.1-01"},
    .note = "Judge the sender's address only: a request's THA is zero, a reply's THA echoes the request."};
inline constexpr Requirement arp_hardware_length{.id = "RFC4391-9.2-04",
                                                 .level = "stmt",
                                                 .strength = Strength::must,
                                                 .binds = Binds::interface,
                                                 .seen = Seen::wire,
                                                 .test = Test::passive | Test::active,
                                                 .statement = "The hardware address length in ARP packets is 20",
                                                 .part_of = {"RFC4391-9.2-02"}};
inline constexpr Requirement nd_option_used{.id = "RFC4391-9.3-01",
                                            .level = "stmt",
                                            .strength = Strength::must,
                                            .binds = Binds::interface,
                                            .seen = Seen::wire,
                                            .test = Test::passive | Test::active,
                                            .statement =
                                                "Router Solicitations and Advertisements, Neighbor Solicitations and "
                                                "Advertisements, and Redirects carry a link-layer address option"};
inline constexpr Requirement nd_option_type{
    .id = "RFC4391-9.3-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "The ND option with a link-layer address has type 1 for the source and type 2 for the target"};
inline constexpr Requirement nd_option_length{
    .id = "RFC4391-9.3-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "The ND option with a link-layer address has length 3, which is 24 octets"};
inline constexpr Requirement nd_option_address{
    .id = "RFC4391-9.3-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "The ND option holds the link-layer address in the format of section 9.1.1",
    .part_of = {"RFC4391-9.1.1-01"}};
inline constexpr Requirement nd_option_padding{
    .id = "RFC4391-9.3-05",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "Two zero octets stand in front of the 20-octet address in the ND option"};
inline constexpr Requirement static_qpn_entries{
    .id = "RFC4391-9.4-01",
    .level = "stmt",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement =
        "A stored QPN, as in a static ARP entry, works only if the interface keeps its QPN over resets and reboots"};
inline constexpr Requirement arp_cache_revalidation{
    .id = "RFC4391-9.4-02",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An interface checks its ARP cache entries again from time to time, since QPNs can change",
    .note = "A stack may check by unicast ARP before it broadcasts."};

}  // namespace ipoib::rfc4391

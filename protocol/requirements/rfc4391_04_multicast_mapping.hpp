// SPDX-License-Identifier: GPL-2.0-or-later
// How IP groups become MGIDs, and the attributes of the broadcast-GID. RFC 4391, section 4.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement mgid_format{
    .id = "RFC4391-4-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement =
        "An IPoIB MGID is made of FF, flags 0001, scope, IPoIB signature, P_Key and an 80-bit group ID, in this order"};
inline constexpr Requirement mgid_t_flag{
    .id = "RFC4391-4-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::sa,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every MGID used for IPoIB has its T flag set, which marks it as transient",
    .same_as = {"RFC4392-3.2.2-01"},
    .part_of = {"RFC4391-4-01"}};
inline constexpr Requirement mgid_ipv4_signature{.id = "RFC4391-4-03",
                                                 .level = "MUST",
                                                 .strength = Strength::must,
                                                 .binds = Binds::interface,
                                                 .seen = Seen::wire | Seen::sa,
                                                 .test = Test::passive | Test::active,
                                                 .statement = "The MGID of an IPv4 group carries the signature 0x401B",
                                                 .part_of = {"RFC4391-4-01"}};
inline constexpr Requirement mgid_ipv6_signature{
    .id = "RFC4391-4-04",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The MGID of an IPv6 group carries the signature 0x601B",
    .part_of = {"RFC4391-4-01"},
    .note = "The one broadcast-GID of a link has signature 0x401B and serves IPv6 too."};
inline constexpr Requirement mgid_pkey{
    .id = "RFC4391-4-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every MGID of a link carries the 16-bit P_Key of that link, full-membership bit included",
    .part_of = {"RFC4391-4-01"},
    .note = "The text's example P_Key 0x8000 is notation, not a valid partition: no reason to reject an MGID."};
inline constexpr Requirement mgid_ipv6_group_id{
    .id = "RFC4391-4-06",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The low 80 bits of an IPv6 multicast address become the low 80 bits of its MGID unchanged",
    .part_of = {"RFC4391-4-01"},
    .note =
        "The IPv6 scope is not carried: ff02::2 and ff05::2 share an MGID. Interface-local groups are never mapped."};
inline constexpr Requirement mgid_ipv4_group_id{
    .id = "RFC4391-4-07",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The low 28 bits of an IPv4 multicast address become the low 28 bits of its MGID",
    .part_of = {"RFC4391-4-01"}};
inline constexpr Requirement mgid_ipv4_padding{
    .id = "RFC4391-4-08",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "In the MGID of an IPv4 group, the 52 group ID bits above the 28 address bits are zero",
    .part_of = {"RFC4391-4-01"}};
inline constexpr Requirement limited_broadcast_mapping{
    .id = "RFC4391-4-09",
    .level = "SHALL",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface sends packets for 255.255.255.255 to the broadcast-GID"};
inline constexpr Requirement broadcast_gid_format{.id = "RFC4391-4-10",
                                                  .level = "stmt",
                                                  .strength = Strength::must,
                                                  .binds = Binds::interface | Binds::sa,
                                                  .seen = Seen::wire | Seen::sa,
                                                  .test = Test::passive | Test::active,
                                                  .statement =
                                                      "The broadcast-GID has signature 0x401B, the link's P_Key, 48 "
                                                      "zero bits and 32 one bits; a link has one for IPv4 and IPv6",
                                                  .note = "No second broadcast-GID with signature 0x601B exists."};
inline constexpr Requirement mgid_scope_of_broadcast_gid{
    .id = "RFC4391-4-11",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every MGID of an IPoIB subnet has the scope bits of its broadcast-GID",
    .note = "An MGID scope that differs from the scope of the IPv6 group is correct."};
inline constexpr Requirement network_byte_order{
    .id = "RFC4391-4-12",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "Every field and address is sent in network byte order where nothing else is specified"};
inline constexpr Requirement broadcast_group_full_pkey{
    .id = "RFC4391-4.1-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The broadcast group is set up with a full-membership P_Key, whose high bit is one"};
inline constexpr Requirement broadcast_group_controlled_qkey{
    .id = "RFC4391-4.1-02",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The broadcast group has a controlled Q_Key, one with the high bit set",
    .part_of = {"RFC4391-13-02"}};
inline constexpr Requirement broadcast_group_mtu_bound{
    .id = "RFC4391-4.1-03",
    .level = "must not",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::sa,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The MTU of the broadcast group does not exceed that of any physical link in the subnet",
    .part_of = {"RFC4391-7-01"}};
inline constexpr Requirement broadcast_group_topology{.id = "RFC4391-4.1-04",
                                                      .level = "must",
                                                      .strength = Strength::must,
                                                      .binds = Binds::administrator | Binds::sa,
                                                      .seen = Seen::sa,
                                                      .test = Test::inspection,
                                                      .statement =
                                                          "TClass, FlowLabel and HopLimit of the broadcast group suit "
                                                          "the topology, so that any two nodes of the link can talk"};
inline constexpr Requirement sl_of_broadcast_group{
    .id = "RFC4391-4.1-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An interface sends all its multicast packets with the SL of the broadcast group",
    .part_of = {"RFC4391-4.1-09"},
    .note = "Disputed: a group may have an SL of its own. Proves nothing on a fabric whose SL is 0 by default."};
inline constexpr Requirement broadcast_gid_scope_by_span{
    .id = "RFC4391-4.1-06",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::sa,
    .test = Test::inspection,
    .statement = "The scope bits of the broadcast-GID reflect whether the link covers one IB subnet or several"};
inline constexpr Requirement broadcast_gid_default_scope{
    .id = "RFC4391-4.1-07",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::administrator | Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "By default the broadcast-GID has local-subnet scope, 2"};
inline constexpr Requirement broadcast_gid_scope_search{
    .id = "RFC4391-4.1-08",
    .level = "might",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement =
        "An interface may find its scope bits by trying ever larger scopes, or take them from its configuration"};
inline constexpr Requirement multicast_parameters_of_group{
    .id = "RFC4391-4.1-09",
    .level = "required",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement =
        "Multicast packets, and unicast ones if the link spans IB subnets, carry SL, TClass, FlowLabel and HopLimit of "
        "the group",
    .note =
        "Disputed: of the group itself, or of the broadcast group. Proves nothing where SL, TClass, FlowLabel and "
        "HopLimit are 0 by default."};

}  // namespace ipoib::rfc4391

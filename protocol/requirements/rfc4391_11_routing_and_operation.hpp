// SPDX-License-Identifier: GPL-2.0-or-later
// Multicast routing, failures, security and assigned numbers. RFC 4391, sections 11 to 14.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement router_listens_to_all_groups{
    .id = "RFC4391-11-01",
    .level = "requires",
    .strength = Strength::must,
    .binds = Binds::router,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A multicast router receives the packets of every link-layer group that IP uses on the link"};
inline constexpr Requirement router_lists_groups{
    .id = "RFC4391-11-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::router,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A multicast router gets the list of active groups from the SA"};
inline constexpr Requirement router_non_member_join{
    .id = "RFC4391-11-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::router,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A multicast router joins every group that has an IPv4 or IPv6 signature as a NonMember",
    .part_of = {"RFC4392-4.2.3-01"}};
inline constexpr Requirement router_wildcard_subscription{
    .id = "RFC4391-11-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::router,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A multicast router subscribes to all group creations and joins each new IP group as a NonMember",
    .part_of = {"RFC4392-4.2.3-01"}};
inline constexpr Requirement non_member_semantics{
    .id = "RFC4391-11-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::sa,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The SA does not count a NonMember port when it decides about creating or deleting a group",
    .same_as = {"RFC4392-1.3.1.1-02"}};
inline constexpr Requirement failures_reach_initiator{
    .id = "RFC4391-12-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "A failed IB multicast operation usually fails the IP operation behind it, and the caller is told",
    .note = "Disputed: \"usually\" binds nobody whose call ends before the SA has answered."};
inline constexpr Requirement failures_logged{
    .id = "RFC4391-12-02",
    .level = "SHOULD",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::active | Test::inspection,
    .statement = "An implementation logs an error message whenever an IB multicast operation fails"};
inline constexpr Requirement multicast_resources{
    .id = "RFC4391-12-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::administrator,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement = "Administrators provide enough multicast resources where IP multicast is used heavily"};
inline constexpr Requirement setup_protected{
    .id = "RFC4391-13-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement =
        "The operating system keeps unprivileged software away from the setup of link, queue pairs and groups"};
inline constexpr Requirement controlled_qkey_in_all_packets{
    .id = "RFC4391-13-02",
    .level = "SHOULD",
    .strength = Strength::should,
    .binds = Binds::administrator | Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::passive,
    .statement = "All packets carry a controlled Q_Key, one with the high bit set"};
inline constexpr Requirement arp_hardware_type_assigned{
    .id = "RFC4391-14-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "The ARP hardware type for InfiniBand is the number that IANA assigned, 32",
    .same_as = {"RFC4391-9.2-01"}};
inline constexpr Requirement reserved_bits_by_rfc{
    .id = "RFC4391-14-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::document,
    .seen = Seen::local,
    .test = Test::inspection,
    .statement =
        "Every later use of a reserved bit in the encapsulation or the link-layer address is published as an RFC",
    .note = "RFC 4755 did so for two bits of the link-layer address."};

}  // namespace ipoib::rfc4391

// SPDX-License-Identifier: GPL-2.0-or-later
// The encapsulation header, the use of the GRH, and the MTU. RFC 4391, sections 6 and 7.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement encap_header{
    .id = "RFC4391-6-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "A 4-octet encapsulation header of Type and Reserved precedes every IP and ARP packet",
    .note = "Some captures put a made-up Ethernet header in front; it is no encapsulation header."};
inline constexpr Requirement encap_reserved_tx{
    .id = "RFC4391-6-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface sends the Reserved field of the encapsulation header as zero",
    .part_of = {"RFC4391-6-01"}};
inline constexpr Requirement encap_reserved_rx{
    .id = "RFC4391-6-03",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A receiver ignores the Reserved field of the encapsulation header"};
inline constexpr Requirement encap_type{
    .id = "RFC4391-6-04",
    .level = "SHALL",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "The Type field names the protocol inside: 0x0800 IPv4, 0x0806 ARP, 0x8035 RARP, 0x86DD IPv6",
    .part_of = {"RFC4391-6-01"},
    .note = "Table 1 writes 0x800 and 0x806 for 0x0800 and 0x0806."};
inline constexpr Requirement encap_type_demultiplexing{
    .id = "RFC4391-6-05",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement =
        "A receiver hands a packet to the protocol that its Type field names, whatever the payload looks like"};
inline constexpr Requirement encap_other_types{
    .id = "RFC4391-6-06",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "Protocols with other EtherTypes may use the same encapsulation; what they do is left open"};
inline constexpr Requirement grh_on_multicast{
    .id = "RFC4391-6-07",
    .level = "requires",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "Every multicast packet, and every packet that crosses IB subnets, has a GRH",
    .same_as = {"UDMC-01"},
    .part_of = {"RFC4392-4.2-01"}};
inline constexpr Requirement grh_optional_on_unicast{
    .id = "RFC4391-6-08",
    .level = "optional",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A unicast packet inside one IB subnet may go with or without a GRH",
    .note = "Unicast ARP replies without a GRH are normal."};
inline constexpr Requirement grh_optional_on_receive{
    .id = "RFC4391-6-09",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A receiver handles packets that have a GRH and packets that have none"};
inline constexpr Requirement link_mtu{
    .id = "RFC4391-7-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::interface,
    .seen = Seen::sa | Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "The IPoIB-link MTU is the MTU of the broadcast group and at most the smallest IB MTU on the link"};
inline constexpr Requirement ip_mtu_2044{
    .id = "RFC4391-7-02",
    .level = "requires",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An interface supports an IP MTU of 2044 octets, a 2048-octet payload less the encapsulation header",
    .part_of = {"RFC4391-7-04"}};
inline constexpr Requirement other_mtus{.id = "RFC4391-7-03",
                                        .level = "MAY",
                                        .strength = Strength::may,
                                        .binds = Binds::interface,
                                        .seen = Seen::wire,
                                        .test = Test::active,
                                        .statement =
                                            "An interface may support larger or smaller MTUs, as far as other MTU "
                                            "rules such as the IPv6 minimum of 1280 allow"};
inline constexpr Requirement default_mtu_2044{
    .id = "RFC4391-7-04",
    .level = "must",
    .strength = Strength::must,
    .binds = Binds::interface | Binds::administrator,
    .seen = Seen::sa | Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface and its link support an IP MTU of 2044 octets in their default configuration"};
inline constexpr Requirement frame_within_link_mtu{
    .id = "RFC4391-7-05",
    .level = "derived",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement =
        "No packet exceeds the link MTU: the IP packet and its 4 octets of encapsulation fit in the MTU of the group"};

}  // namespace ipoib::rfc4391

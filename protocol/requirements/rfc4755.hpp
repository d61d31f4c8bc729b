// SPDX-License-Identifier: GPL-2.0-or-later
// The requirements of RFC 4755, IP over InfiniBand: Connected Mode.
#pragma once

#include <array>

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4755 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement cm_keeps_ud{
    .id = "RFC4755-2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "Every implementation supports RFC 4391 over UD; connected mode is an optional extension of it"};
inline constexpr Requirement cm_multicast_on_ud{
    .id = "RFC4755-2.1-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An interface in connected mode sends and receives multicast on its UD queue pair"};
inline constexpr Requirement cm_queue_pairs{
    .id = "RFC4755-2.2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire | Seen::sa,
    .test = Test::active,
    .statement = "A connected-mode interface has one UD queue pair and one or more connected-mode queue pairs"};
inline constexpr Requirement cm_flags{
    .id = "RFC4755-3.1-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "In the first octet of a link-layer address, 0x80 announces RC support and 0x40 UC support",
    .note = "Redefines two of the eight bits that RFC 4391 9.1.1 reserves."};
inline constexpr Requirement cm_flags_reserved_tx{
    .id = "RFC4755-3.1-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An interface sends the six flag bits below RC and UC as zero",
    .part_of = {"RFC4755-3.1-01", "RFC4391-9.1.1-02"}};
inline constexpr Requirement cm_flags_reserved_rx{.id = "RFC4755-3.1-03",
                                                  .level = "MUST",
                                                  .strength = Strength::must,
                                                  .binds = Binds::interface,
                                                  .seen = Seen::wire,
                                                  .test = Test::active,
                                                  .statement = "A receiver ignores the six flag bits below RC and UC",
                                                  .part_of = {"RFC4391-9.1.1-03"}};
inline constexpr Requirement cm_flags_both{
    .id = "RFC4755-3.1-04",
    .level = "MAY",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An interface that supports both connected modes may set both flags"};
inline constexpr Requirement ud_only_ignores_flags{
    .id = "RFC4755-3.1-05",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An implementation without connected mode ignores the flags that it receives",
    .part_of = {"RFC4391-9.1.1-03"}};
inline constexpr Requirement ud_only_sends_no_flags{
    .id = "RFC4755-3.1-06",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An implementation without connected mode sends the flags octet as zero",
    .part_of = {"RFC4391-9.1.1-02"},
    .note = "A set RC or UC flag is judged only if the DUT refuses connections; otherwise a note."};
inline constexpr Requirement cm_connection_record{
    .id = "RFC4755-3.2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A node keeps a record of the IB connections that it takes part in"};
inline constexpr Requirement cm_setup_carries_ud_qpn{
    .id = "RFC4755-3.2-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every CM message that sets up a connection carries the sender's UD QPN in its private data",
    .part_of = {"RFC4755-6-01"}};
inline constexpr Requirement cm_reject_carries_ud_qpn{
    .id = "RFC4755-3.2-03",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "Every REJ message carries the UD QPN of its sender"};
inline constexpr Requirement cm_crossing_requests{.id = "RFC4755-3.3-01",
                                                  .level = "MUST",
                                                  .strength = Strength::must,
                                                  .binds = Binds::interface,
                                                  .seen = Seen::sa,
                                                  .test = Test::active,
                                                  .statement =
                                                      "When REQs cross, the side with the smaller link-layer address "
                                                      "accepts and the other rejects with Consumer Reject",
                                                  .note = "The flags octet counts as zero in the comparison."};
inline constexpr Requirement cm_teardown{
    .id = "RFC4755-3.4-01",
    .level = "SHOULD",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "An interface that goes down tears down the IB connections that belong to it"};
inline constexpr Requirement cm_service_id{
    .id = "RFC4755-3.5-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "The Service-ID is octet 0x01, a zero Type, zero Reserved bits and the QPN of the UD queue pair"};
inline constexpr Requirement cm_encap_type{
    .id = "RFC4755-4-01",
    .level = "SHALL",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "Packets over a connection have Type 0x0800 or 0x86DD in their encapsulation header"};
inline constexpr Requirement cm_minimum_mtu{
    .id = "RFC4755-5-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A link supports the smallest MTU that its protocols need, 1280 octets for IPv6"};
inline constexpr Requirement cm_default_mtu{
    .id = "RFC4755-5-02",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A connected-mode interface has an MTU of 2044 octets by default"};
inline constexpr Requirement cm_larger_mtu{
    .id = "RFC4755-5-03",
    .level = "MAY",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "Two peers may use a larger MTU for unicast over the connection between them"};
inline constexpr Requirement cm_receive_mtu{
    .id = "RFC4755-5.1-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "A REQ states in its private data the Receive MTU, the largest packet that the requester takes",
    .part_of = {"RFC4755-6-01"}};
inline constexpr Requirement cm_smaller_packets{
    .id = "RFC4755-5.1-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "A requester accepts packets smaller than the Receive MTU that it announced"};
inline constexpr Requirement cm_takes_receive_mtu{
    .id = "RFC4755-5.1-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "The Receive MTU that a side states is the size of packets that it accepts over the connection"};
inline constexpr Requirement cm_connection_mtu{
    .id = "RFC4755-5.1-04",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "The IP MTU of a connection is the smaller of both Receive MTUs less the encapsulation header",
    .note =
        "An implementation may leave it at the MTU of UD, which no Receive MTU is smaller than where it is judged."};
inline constexpr Requirement cm_private_data_format{
    .id = "RFC4755-6-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement =
        "The private data of connection setup is a Reserved octet, the 24-bit UD QPN and the 32-bit Receive MTU"};
inline constexpr Requirement cm_private_data_reserved_tx{
    .id = "RFC4755-6-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::passive | Test::active,
    .statement = "The Reserved octet in the private data is sent as zero",
    .part_of = {"RFC4755-6-01"}};
inline constexpr Requirement cm_private_data_reserved_rx{
    .id = "RFC4755-6-03",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::sa,
    .test = Test::active,
    .statement = "A receiver ignores the Reserved octet in the private data"};
inline constexpr Requirement cm_accepts_all_modes{
    .id = "RFC4755-7-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::active,
    .statement = "An interface accepts unicast IP over each of the modes that it supports, UD included"};
inline constexpr Requirement cm_resolution_over_ud{
    .id = "RFC4755-7-02",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "Responses to ARP and Neighbor Discovery go in UD packets"};

/// Every requirement of the document, in its order.
inline constexpr std::array all = {&cm_keeps_ud,
                                   &cm_multicast_on_ud,
                                   &cm_queue_pairs,
                                   &cm_flags,
                                   &cm_flags_reserved_tx,
                                   &cm_flags_reserved_rx,
                                   &cm_flags_both,
                                   &ud_only_ignores_flags,
                                   &ud_only_sends_no_flags,
                                   &cm_connection_record,
                                   &cm_setup_carries_ud_qpn,
                                   &cm_reject_carries_ud_qpn,
                                   &cm_crossing_requests,
                                   &cm_teardown,
                                   &cm_service_id,
                                   &cm_encap_type,
                                   &cm_minimum_mtu,
                                   &cm_default_mtu,
                                   &cm_larger_mtu,
                                   &cm_receive_mtu,
                                   &cm_smaller_packets,
                                   &cm_takes_receive_mtu,
                                   &cm_connection_mtu,
                                   &cm_private_data_format,
                                   &cm_private_data_reserved_tx,
                                   &cm_private_data_reserved_rx,
                                   &cm_accepts_all_modes,
                                   &cm_resolution_over_ud};

}  // namespace ipoib::rfc4755

// SPDX-License-Identifier: GPL-2.0-or-later
// The requirements of RFC 4390, DHCP over InfiniBand.
#pragma once

#include <array>

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4390 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement broadcast_reply_requested{
    .id = "RFC4390-2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::dhcp_client,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A client that does not know its IP address yet sets the BROADCAST flag to get a broadcast reply"};
inline constexpr Requirement htype{.id = "RFC4390-2.1-01",
                                   .level = "MUST",
                                   .strength = Strength::must,
                                   .binds = Binds::dhcp_client,
                                   .seen = Seen::wire,
                                   .test = Test::passive,
                                   .statement = "A client sends htype 32, the ARP hardware type of InfiniBand"};
inline constexpr Requirement hlen{.id = "RFC4390-2.1-02",
                                  .level = "MUST",
                                  .strength = Strength::must,
                                  .binds = Binds::dhcp_client,
                                  .seen = Seen::wire,
                                  .test = Test::passive,
                                  .statement = "A client sends hlen 0, although its link-layer address has 20 octets"};
inline constexpr Requirement chaddr_zero{.id = "RFC4390-2.1-03",
                                         .level = "MUST",
                                         .strength = Strength::must,
                                         .binds = Binds::dhcp_client,
                                         .seen = Seen::wire,
                                         .test = Test::passive,
                                         .statement = "A client fills the whole chaddr field with zeros"};
inline constexpr Requirement client_identifier_present{
    .id = "RFC4390-2.1-04",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::dhcp_client,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A client puts the client-identifier option in its messages"};
inline constexpr Requirement client_identifier_format{
    .id = "RFC4390-2.1-05",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::dhcp_client,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "The client identifier has the RFC 4361 form: type 255, a 4-octet IAID and a DUID"};
inline constexpr Requirement broadcast_flag_set{
    .id = "RFC4390-2.2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::dhcp_client,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement =
        "A client without an address sends DHCPDISCOVER and DHCPREQUEST with the BROADCAST flag set and ciaddr 0"};
inline constexpr Requirement broadcast_flag_clear{
    .id = "RFC4390-2.2-02",
    .level = "MUST NOT",
    .strength = Strength::must,
    .binds = Binds::dhcp_client,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "A client that fills in ciaddr, when bound, renewing or rebinding, leaves the BROADCAST flag clear"};
inline constexpr Requirement server_reply{
    .id = "RFC4390-2.2-03",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::dhcp_server,
    .seen = Seen::wire,
    .test = Test::active,
    .statement =
        "A server broadcasts its reply if the flag is set and sends the DHCPACK of a renewal to ciaddr by unicast"};

/// Every requirement of the document, in its order.
inline constexpr std::array all = {&broadcast_reply_requested,
                                   &htype,
                                   &hlen,
                                   &chaddr_zero,
                                   &client_identifier_present,
                                   &client_identifier_format,
                                   &broadcast_flag_set,
                                   &broadcast_flag_clear,
                                   &server_reply};

}  // namespace ipoib::rfc4390

// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP messages of client and server over IPoIB: a client has no hardware address in them, but an identifier. RFC 2131,
// 4.3 and 4.4; RFC 4390, 2.
#pragma once

#include "protocol/build/ipoib.hpp"
#include "protocol/wire/dhcp.hpp"

namespace ipoib::build {

/// What a server gives; times in seconds. RFC 2132, 3.3, 9.2, 9.11 and 9.12.
struct Lease {
    std::uint32_t address = 0, renewal = 5, rebinding = 40, end = 60;
    std::uint32_t mask = 0xffffff00;
};

/// By broadcast, of a client without an address, with the BROADCAST flag: DISCOVER; REQUEST of an address that a server
/// has offered. RFC 2131, 4.4.1; RFC 4390, 2.2.
[[nodiscard]] PacketBuilder dhcp_discover(const Node& client, const Link& link, std::uint32_t xid);
[[nodiscard]] PacketBuilder dhcp_request(const Node& client, const Link& link, std::uint32_t xid, std::uint32_t address,
                                         std::uint32_t server);

/// REQUEST of a client that renews its lease at the server which gave it, and of one that asks any server. RFC 2131,
/// 4.4.5.
[[nodiscard]] PacketBuilder dhcp_renewal(const Node& client, const Node& server, const Link& link, std::uint32_t xid,
                                         std::uint32_t address);
[[nodiscard]] PacketBuilder dhcp_rebinding(const Node& client, const Link& link, std::uint32_t xid,
                                           std::uint32_t address);
/// RELEASE. RFC 2131, 4.4.6.
[[nodiscard]] PacketBuilder dhcp_release(const Node& client, const Node& server, const Link& link, std::uint32_t xid,
                                         std::uint32_t address);

/// OFFER or ACK to a client's message: by broadcast where the client asks for it or has no address, to ciaddr else.
/// RFC 2131, 4.3.1; RFC 4390, 2.2.
[[nodiscard]] PacketBuilder dhcp_reply(const Node& server, const Node& client, const Link& link, wire::DhcpType type,
                                       wire::View<wire::Dhcp> to, const Lease& lease);

}  // namespace ipoib::build

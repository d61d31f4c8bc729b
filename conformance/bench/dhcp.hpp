// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP as cases speak of it: the tester as server, and what it expects of a client; and the other way round. RFC 2131;
// RFC 4390.
#pragma once

#include "conformance/bench/claim.hpp"
#include "conformance/bench/message.hpp"
#include "protocol/build/dhcp.hpp"
#include "protocol/wire/dhcp_message.hpp"

namespace ipoib::conformance {

using build::Lease;

/// OFFER or ACK to a client's message: by broadcast where the client asks for it, to ciaddr else.
[[nodiscard]] Message dhcp_reply(wire::DhcpType type, const wire::Bytes<wire::Dhcp>& to, const Lease& lease);

/// DISCOVER; REQUEST of an address that was offered. Both with the BROADCAST flag.
[[nodiscard]] Message dhcp_discover(std::uint32_t xid);
[[nodiscard]] Message dhcp_request(std::uint32_t xid, std::uint32_t address, std::uint32_t server);
/// REQUEST of a client that renews its lease, and RELEASE, from its address to the DUT, which is the server.
[[nodiscard]] Message dhcp_renewal(std::uint32_t xid, std::uint32_t address);
[[nodiscard]] Message dhcp_release(std::uint32_t xid, std::uint32_t address);
/// The DUT's reply, as a server, in this transaction.
[[nodiscard]] Expectation dhcp_reply_of_dut(wire::DhcpType type, std::uint32_t xid);
/// The DUT's ARP request for an address that neither side has.
[[nodiscard]] Expectation arp_request_for_others();

/// A message of the DUT as a client.
[[nodiscard]] Expectation dhcp_of_dut(wire::DhcpType type);

/// Claims that a field of the fixed part has a value.
template <class T>
[[nodiscard]] Expectation with_dhcp(const Expectation& message, const wire::Field<wire::Dhcp, T>& field,
                                    const std::type_identity_t<T>& value) {
    return claiming_at(
        message, [](const wire::Packet& p) { return wire::dhcp_of(p).data(); }, field, value);
}
[[nodiscard]] bool has_client_identifier(const wire::Packet& packet, const Situation& situation);
/// Claims that the message has a client identifier; and that it has the form of RFC 4361.
[[nodiscard]] Expectation with_client_identifier(const Expectation& message);
[[nodiscard]] Expectation with_duid(const Expectation& message);

}  // namespace ipoib::conformance

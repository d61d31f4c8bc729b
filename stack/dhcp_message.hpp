// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP messages as client and server write, send and receive them. RFC 2131, 2 and 4.1.
#pragma once

#include "protocol/wire/dhcp.hpp"
#include "stack/ip.hpp"

namespace ipoib::stack {

void append_dhcp_option(std::vector<std::uint8_t>& message, std::uint8_t code, wire::Octets value);
/// An option that is one 32-bit number.
void append_dhcp_number(std::vector<std::uint8_t>& message, std::uint8_t code, std::uint32_t value);

/// Sends a message from one of DHCP's ports to the other; its End option is added.
void send_dhcp(Interface& interface, const wire::IpAddress& source, const wire::IpAddress& destination,
               std::uint16_t from_port, std::vector<std::uint8_t> message);
/// The DHCP message of a UDP datagram to this port, whole fixed part and cookie; empty for any other.
[[nodiscard]] wire::Octets dhcp_in(const IpDatagram& datagram, std::uint16_t port) noexcept;

}  // namespace ipoib::stack

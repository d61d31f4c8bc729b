// SPDX-License-Identifier: GPL-2.0-or-later
// A small DHCP server. RFC 2131, 4.3; RFC 4390, 2.2.
#pragma once

#include "protocol/wire/dhcp.hpp"
#include "stack/ip.hpp"

#include <map>

namespace ipoib::stack {

/// Gives addresses of its interface's network, from host number 201 on, to clients that name themselves by an
/// identifier; to each always the same.
class DhcpServer {
public:
    static constexpr std::size_t most_clients = 32;
    explicit DhcpServer(Interface& interface) : interface_(interface) {}

    void start() noexcept { is_started_ = true; }
    /// Forgets its clients.
    void stop() noexcept;
    /// A UDP datagram for this node, of any port.
    void receive(const IpDatagram& datagram);

private:
    /// Zero: there is none left.
    [[nodiscard]] std::uint32_t address_for(wire::Octets identifier, const wire::IpNetwork& network);
    void reply(wire::Octets to, wire::DhcpType type, const wire::IpNetwork& network, std::uint32_t address);

    Interface& interface_;
    bool is_started_ = false;
    std::map<std::vector<std::uint8_t>, std::uint32_t> clients_;
};

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// UDP sockets, as far as a test needs them. RFC 768.
#pragma once

#include "stack/ip.hpp"

#include <deque>

namespace ipoib::stack {

class Sockets {
public:
    static constexpr std::size_t most_sockets = 64, most_datagrams = 256;
    explicit Sockets(Interface& interface) : interface_(interface) {}

    /// Sends one datagram; why not, or empty.
    [[nodiscard]] std::string send(const wire::IpAddress& to, std::uint16_t port, wire::Octets payload,
                                   std::uint8_t hop_limit);
    /// Listens on a port, for one destination address or group or, absent, for all; why not, or empty.
    [[nodiscard]] std::string listen(const std::optional<wire::IpAddress>& address, std::uint16_t port);

    struct Received {
        wire::IpAddress from, to;
        std::uint16_t port = 0;
        std::uint8_t hop_limit = 0;
        std::vector<std::uint8_t> payload;
    };
    /// What came since the last call; the oldest gives way.
    [[nodiscard]] std::vector<Received> take();
    /// False: nobody listens there.
    bool receive(const IpDatagram& datagram);

private:
    struct Socket {
        std::optional<wire::IpAddress> address;
        std::uint16_t port = 0;
        friend bool operator==(const Socket&, const Socket&) = default;
    };
    Interface& interface_;
    std::vector<Socket> sockets_;
    std::deque<Received> received_;
    std::uint16_t source_port_ = 49152;  ///< the first of RFC 6335's dynamic ports
};

}  // namespace ipoib::stack

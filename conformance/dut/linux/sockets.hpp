// SPDX-License-Identifier: GPL-2.0-or-later
// Applications on the host, as far as the tests need some: members of groups, senders, listeners, an echo.
#pragma once

#include "conformance/dut/linux/line_protocol.hpp"

#include <netinet/in.h>

#include <map>
#include <span>

namespace ipoib::host {

/// An IPv4 or IPv6 address as text. On an interface, where a link-local one is.
struct Address {
    sockaddr_storage socket_address{};
    std::string text;
    [[nodiscard]] bool is_v4() const noexcept { return socket_address.ss_family == AF_INET; }
    [[nodiscard]] bool is_multicast() const noexcept;
    [[nodiscard]] socklen_t size() const noexcept { return is_v4() ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }
    [[nodiscard]] const sockaddr* get() const noexcept;
    void set_port(std::uint16_t port) noexcept;
};
[[nodiscard]] std::optional<Address> parse_address(const std::string& text, unsigned interface_index);
[[nodiscard]] std::string text_of(const sockaddr_storage& address);

/// Where sockets are bound to.
struct Link {
    std::string name;
    unsigned index = 0;
};

/// Internet checksum of RFC 1071.
[[nodiscard]] std::uint16_t internet_checksum(std::span<const std::uint8_t> octets);

/// Each method throws Refusal.
class Sockets {
public:
    void join(const Link& link, const Address& group);
    void leave(const Link& link, const Address& group);
    static void send(const Link& link, Address to, std::uint16_t port, std::span<const std::uint8_t> payload, int ttl);
    /// To a group, which is joined, to an address, or to any.
    void listen(const Link& link, const std::optional<Address>& to, std::uint16_t port);
    /// What was received since the last call, as an array of the protocol.
    [[nodiscard]] Json received();
    [[nodiscard]] static bool ping(const Link& link, const Address& to, std::size_t size, milliseconds patience,
                                   const Interruption& interruption);
    void close_all() noexcept;

private:
    void listen_to(const Link& link, const Address& to, std::uint16_t port);
    struct Listener {
        Descriptor socket;
        std::uint16_t port;
    };
    std::map<std::string, Descriptor> memberships_;  ///< by interface and group
    std::map<std::string, Listener> listeners_;      ///< by interface, address and port
};

}  // namespace ipoib::host

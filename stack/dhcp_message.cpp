// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP messages, whoever sends them.
#include "stack/dhcp_message.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

void append_dhcp_option(std::vector<std::uint8_t>& message, std::uint8_t code, Octets value) {
    message.push_back(code);
    message.push_back(static_cast<std::uint8_t>(value.size()));
    append(message, value);
}

void append_dhcp_number(std::vector<std::uint8_t>& message, std::uint8_t code, std::uint32_t value) {
    std::array<std::uint8_t, 4> octets{};
    write_bits(octets.data(), octet(0), 32, value);
    append_dhcp_option(message, code, octets);
}

void send_dhcp(Interface& interface, const IpAddress& source, const IpAddress& destination, std::uint16_t from_port,
               std::vector<std::uint8_t> message) {
    message.push_back(dhcp_option::end);
    const IpHead head{.source = source, .destination = destination, .protocol = IpProtocol::udp};
    const auto to_port = from_port == dhcp_client_port ? dhcp_server_port : dhcp_client_port;
    auto datagram = octets_of(Bytes<Udp>{}
                                  .set(Udp::source, from_port)
                                  .set(Udp::destination, to_port)
                                  .set(Udp::length, static_cast<std::uint16_t>(Udp::size + message.size())));
    append(datagram, message);
    set_checksum(head, datagram);
    (void)interface.ip().send(head, datagram);
}

Octets dhcp_in(const IpDatagram& datagram, std::uint16_t port) noexcept {
    const auto udp = View<Udp>::at(datagram.payload);
    if (!udp || udp[Udp::destination] != port || udp[Udp::length] < Udp::size ||
        udp[Udp::length] > datagram.payload.size())
        return {};
    const auto message = datagram.payload.subspan(Udp::size, udp[Udp::length] - Udp::size);
    const auto dhcp = View<Dhcp>::at(message);
    return dhcp && dhcp[Dhcp::cookie] == Dhcp::magic ? message : Octets{};
}

}  // namespace ipoib::stack

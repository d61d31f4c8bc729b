// SPDX-License-Identifier: GPL-2.0-or-later
// UDP sockets, as far as a test needs them.
#include "stack/udp.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

std::string Sockets::send(const IpAddress& to, std::uint16_t port, Octets payload, std::uint8_t hop_limit) {
    const auto source = interface_.source_for(to);
    if (!source) return "no address to send from";
    const IpHead head{.source = *source, .destination = to, .protocol = IpProtocol::udp, .hop_limit = hop_limit};
    const auto udp = Bytes<Udp>{}
                         .set(Udp::source, source_port_)
                         .set(Udp::destination, port)
                         .set(Udp::length, static_cast<std::uint16_t>(Udp::size + payload.size()));
    auto message = octets_of(udp);
    append(message, payload);
    set_checksum(head, message);
    if (!interface_.policy(family_of(to)).fragments_for_programs && !interface_.ip().fits(head, message))
        return "message too long";
    if (interface_.ip().send(head, message)) return {};
    return interface_.is_running() ? "no way to " + text(to) : "the interface is not running";
}

std::string Sockets::listen(const std::optional<IpAddress>& address, std::uint16_t port) {
    const Socket socket{address, port};
    if (std::find(sockets_.begin(), sockets_.end(), socket) != sockets_.end()) return {};
    if (sockets_.size() >= most_sockets) return "too many sockets";
    sockets_.push_back(socket);
    return {};
}

bool Sockets::receive(const IpDatagram& datagram) {
    const auto udp = View<Udp>::at(datagram.payload);
    if (!udp || udp[Udp::length] < Udp::size || udp[Udp::length] > datagram.payload.size()) return true;
    const auto port = udp[Udp::destination];
    const auto takes = [&](const Socket& socket) {
        return socket.port == port && (!socket.address || *socket.address == datagram.destination);
    };
    if (std::none_of(sockets_.begin(), sockets_.end(), takes)) return false;
    const auto& policy = interface_.policy(family_of(datagram.destination));
    if (!policy.delivers(datagram.destination)) return true;
    const auto payload = datagram.payload.subspan(Udp::size, udp[Udp::length] - Udp::size);
    if (received_.size() >= most_datagrams) received_.pop_front();
    received_.push_back({.from = policy.told_source(datagram.source, datagram.destination),
                         .to = datagram.destination,
                         .port = port,
                         .hop_limit = datagram.hop_limit,
                         .payload = policy.told_payload(payload)});
    return true;
}

std::vector<Sockets::Received> Sockets::take() {
    std::vector<Received> all{std::make_move_iterator(received_.begin()), std::make_move_iterator(received_.end())};
    received_.clear();
    return all;
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Echo requests answered and sent.
#include "stack/echo.hpp"

#include "protocol/wire/icmpv6.hpp"
#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

static_assert(Icmp::size == Icmpv6::size, "an echo message begins alike in both versions");

std::string Echo::ping(const IpAddress& to, std::size_t size, fabric::Duration patience, Answered answered) {
    if (waiting_.size() >= most_waiting) return "too many echo requests wait for their replies";
    const auto source = interface_.source_for(to);
    if (!source) return "no address to send from";
    const auto identifier = next_identifier_++;
    const IpHead head{
        .source = *source, .destination = to, .protocol = to.is_v4() ? IpProtocol::icmp : IpProtocol::icmpv6};
    const auto type = to.is_v4() ? Icmp::echo_request : static_cast<std::uint8_t>(Icmpv6Type::echo_request);
    const auto icmp = Bytes<Icmp>{}.set(Icmp::type, type).set(Icmp::identifier, identifier).set(Icmp::sequence, 1);
    auto message = octets_of(icmp);
    for (std::size_t i = 0; i < size; ++i) message.push_back(static_cast<std::uint8_t>(i));
    set_checksum(head, message);
    const auto timer =
        interface_.loop().after(patience, lifetime_.guard([this, identifier] { done(identifier, false); }));
    waiting_.insert_or_assign(identifier, Waiting{std::move(answered), timer});
    if (interface_.ip().send(head, message)) return {};
    if (const auto found = waiting_.find(identifier); found != waiting_.end()) {
        interface_.loop().cancel(found->second.timer);
        waiting_.erase(found);
    }
    return interface_.is_running() ? "no way to " + text(to) : "the interface is not running";
}

void Echo::done(std::uint16_t identifier, bool is_answered) {
    const auto found = waiting_.find(identifier);
    if (found == waiting_.end()) return;
    interface_.loop().cancel(found->second.timer);
    const auto answered = std::move(found->second.answered);
    waiting_.erase(found);
    answered(is_answered);
}

void Echo::receive_v4(const IpDatagram& datagram) {
    const auto icmp = View<Icmp>::at(datagram.payload);
    if (!icmp || icmp[Icmp::code] != 0) return;
    if (icmp[Icmp::type] == Icmp::echo_request) answer(datagram, IpProtocol::icmp, Icmp::echo_reply);
    if (icmp[Icmp::type] == Icmp::echo_reply) done(icmp[Icmp::identifier], true);
}

void Echo::receive_v6(const IpDatagram& datagram) {
    const auto icmp = View<Icmp>::at(datagram.payload);
    if (!icmp || icmp[Icmp::code] != 0) return;
    const auto type = Icmpv6Type{icmp[Icmp::type]};
    if (type == Icmpv6Type::echo_request)
        answer(datagram, IpProtocol::icmpv6, static_cast<std::uint8_t>(Icmpv6Type::echo_reply));
    if (type == Icmpv6Type::echo_reply) done(icmp[Icmp::identifier], true);
}

/// RFC 1122, 3.2.2.6: from the address that was asked; from an own one when all were. RFC 4443, 4.2.
void Echo::answer(const IpDatagram& datagram, IpProtocol protocol, std::uint8_t reply_type) {
    const auto now = interface_.loop().now();
    if (answered_at_ && now < *answered_at_ + interface_.policy(family_of(datagram.destination)).between_echo_replies)
        return;
    answered_at_ = now;
    const bool is_unicast = interface_.has_address(datagram.destination);
    const auto source = is_unicast ? std::optional{datagram.destination} : interface_.source_for(datagram.source);
    if (!source) return;
    const IpHead head{.source = *source, .destination = datagram.source, .protocol = protocol};
    std::vector<std::uint8_t> message{datagram.payload.begin(), datagram.payload.end()};
    set_field(message, Icmp::type, reply_type);
    set_field(message, Icmp::checksum, 0);
    set_checksum(head, message);
    interface_.ip().send(head, message);
}

void Echo::refuse_port(const IpDatagram& datagram) {
    constexpr std::uint16_t dhcp_server = 67, dhcp_client = 68;
    const auto& policy = interface_.policy(family_of(datagram.destination));
    if (datagram.came_to_group && !policy.answers_groups_with_errors) return;
    const auto udp = View<Udp>::at(datagram.payload);
    const auto port = udp[Udp::destination];
    if (!interface_.has_address(datagram.destination) || datagram.source == IpAddress::v4(0) ||
        datagram.source.octets.is_zero() || port == dhcp_server || port == dhcp_client)
        return;
    constexpr std::uint8_t unreachable = 3, its_port = 3, unreachable6 = 1, its_port6 = 4;
    struct Error {
        IpProtocol protocol;
        std::uint8_t type, code;
        std::size_t most_quoted;  ///< of IP's payload
    };
    const auto error = datagram.destination.is_v4() ? Error{IpProtocol::icmp, unreachable, its_port, Udp::size}
                                                    : Error{IpProtocol::icmpv6, unreachable6, its_port6, 1000};
    const IpHead head{.source = datagram.destination, .destination = datagram.source, .protocol = error.protocol};
    auto message = octets_of(Bytes<Icmp>{}.set(Icmp::type, error.type).set(Icmp::code, error.code));
    append(message, ip_datagram({.source = datagram.source,
                                 .destination = datagram.destination,
                                 .protocol = datagram.protocol,
                                 .hop_limit = datagram.hop_limit},
                                datagram.payload.first(std::min(datagram.payload.size(), error.most_quoted))));
    set_checksum(head, message);
    interface_.ip().send(head, message);
}

}  // namespace ipoib::stack

// SPDX-License-Identifier: GPL-2.0-or-later
// Connections: what each side says.
#include "traffic-gen/profiles/connections.hpp"

#include <utility>

namespace ipoib::traffic {
using namespace wire;

namespace {

build::ConnectionEnd end(std::uint32_t number) {
    constexpr std::uint32_t first_id = 0x100, first_qpn = 0x800000, qpns = 0x100000;
    return {.id = first_id + number, .qpn = first_qpn + number % qpns, .psn = number % qpns};
}

auto unflagged(const build::Node& node) { return node.link_address().set(LinkAddress::flags, 0).octets; }

}  // namespace

Connection::Connection(Stage& stage, const build::Link& link, const build::Node& active, const build::Node& passive,
                       std::uint32_t number)
    : stage_(stage),
      link_(link),
      active_{.node = active, .end = end(3 * number)},
      passive_{.node = passive, .end = end(3 * number + 1)},
      refused_(end(3 * number + 2)) {}

void Connection::resolve() {
    stage_.send(build::arp_request(active_.node, passive_.node.ipv4, link_));
    stage_.send(build::arp_reply(passive_.node, active_.node, link_));
}

void Connection::begin() {
    stage_.send(build::connection_request(active_.node, passive_.node, link_, active_.end));
    accept();
}

void Connection::begin_crossing() {
    constexpr std::uint16_t consumer_reject = 28;
    if (unflagged(active_.node) < unflagged(passive_.node)) std::swap(active_, passive_);
    stage_.send(build::connection_request(active_.node, passive_.node, link_, active_.end));
    stage_.send(build::connection_request(passive_.node, active_.node, link_, refused_));
    stage_.send(build::connection_rejection(active_.node, passive_.node, link_, refused_.id, consumer_reject));
    accept();
}

void Connection::finds_no_service() {
    constexpr std::uint16_t invalid_service_id = 8;
    stage_.send(build::connection_request(active_.node, passive_.node, link_, active_.end));
    auto rejection =
        build::connection_rejection(passive_.node, active_.node, link_, active_.end.id, invalid_service_id);
    stage_.send(rejection.choose(CmRej::private_data, {}));
}

void Connection::echo(std::uint16_t sequence, std::size_t size) {
    say(active_, passive_, build::echo_request(active_.node, passive_.node, link_, sequence, size));
    say(passive_, active_, build::echo_reply(passive_.node, active_.node, link_, sequence, size));
}

void Connection::close() {
    stage_.send(build::disconnection_request(active_.node, passive_.node, link_, active_.end, passive_.end));
    stage_.send(build::disconnection_reply(passive_.node, active_.node, link_, passive_.end, active_.end));
}

void Connection::accept() {
    stage_.send(build::connection_reply(passive_.node, active_.node, link_, passive_.end, active_.end.id));
    stage_.send(build::connection_ready(active_.node, passive_.node, link_, active_.end, passive_.end));
}

void Connection::say(Party& from, Party& to, build::PacketBuilder datagram) {
    const auto psn = (to.end.psn + from.sent++) & 0xffffff;
    const auto message = build::over_connection(std::move(datagram), to.end.qpn, psn);
    stage_.send(message);
    stage_.send(build::acknowledgement(message.get<Lrh>(), message.get<Bth>(), from.end.qpn,
                                       {.psn = psn, .messages = ++to.taken}));
}

}  // namespace ipoib::traffic

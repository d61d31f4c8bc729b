// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about traffic: groups, datagrams, echo, neighbours.
#include "stack/adapter_request.hpp"

#include <algorithm>

namespace ipoib::stack::adapter {
namespace {

using namespace std::chrono_literals;

void join_for(const Request& request, Membership::User user) {
    const auto group = request.address("group");
    if (!group) return request.reply.failed("\"group\" is no address");
    request.interface.membership().join(
        *group, [reply = request.reply](const std::string& reason) { reply.done(reason); }, user);
}

void join(const Request& request) { join_for(request, Membership::User::program); }

void leave(const Request& request) {
    const auto group = request.address("group");
    if (!group) return request.reply.failed("\"group\" is no address");
    request.interface.membership().leave(*group) ? request.reply.ok() : request.reply.failed("not joined");
}

void send(const Request& request) {
    const auto to = request.address("to");
    const auto port = request.number("port", 1, 0xffff);
    const auto payload = wire::parse_octets(request.text("payload").value_or(""));
    const bool has_ttl = request.members.contains("ttl");
    const auto ttl = request.number("ttl", 0, 255);
    if (!to || !port || !payload || (has_ttl && !ttl))
        return request.reply.failed("\"to\", \"port\", \"payload\" in hex and, if at all, \"ttl\" are needed");
    // RFC 1112, 6.1: multicast stays on the link unless asked otherwise.
    const auto usual = to->is_multicast() ? 1u : 64u;
    request.reply.done(request.interface.sockets().send(*to, static_cast<std::uint16_t>(*port), *payload,
                                                        static_cast<std::uint8_t>(ttl.value_or(usual))));
}

void listen(const Request& request) {
    const auto port = request.number("port", 1, 0xffff);
    const auto group = request.address("group"), address = request.address("address");
    const bool is_wrong = (request.members.contains("group") && (!group || !group->is_multicast())) ||
                          (request.members.contains("address") && !address);
    if (!port || is_wrong) return request.reply.failed("\"port\" and, if at all, \"group\" or \"address\" are needed");
    const auto reason = request.interface.sockets().listen(group ? group : address, static_cast<std::uint16_t>(*port));
    if (!reason.empty() || !group) return request.reply.done(reason);
    join_for(request, Membership::User::socket);
}

void received(const Request& request) {
    json datagrams = json::array();
    for (const auto& datagram : request.interface.sockets().take())
        datagrams.push_back({{"from", text(datagram.from)},
                             {"to", text(datagram.to)},
                             {"port", datagram.port},
                             {"payload", wire::hex_octets(datagram.payload, datagram.payload.size())},
                             {"ttl", datagram.hop_limit}});
    request.reply.ok({{"datagrams", datagrams}});
}

void ping(const Request& request) {
    constexpr std::uint64_t usual_size = 56, most = 65507;
    const auto to = request.address("to");
    const auto size = request.number("size", 0, most);
    if (!to || (request.members.contains("size") && !size))
        return request.reply.failed("\"to\" and, if at all, \"size\" are needed");
    const auto patience = std::min<fabric::Duration>(request.patience(), 5s);
    const auto reason = request.interface.echo().ping(*to, size.value_or(usual_size), patience,
                                                      [reply = request.reply](bool is_answered) {
                                                          reply.ok({{"answered", is_answered}});
                                                      });
    if (!reason.empty()) request.reply.failed(reason);
}

void resolve(const Request& request) {
    const auto address = request.address("address");
    if (!address || address->is_multicast()) return request.reply.failed("\"address\" is no address of a node");
    if (!request.interface.is_running()) return request.reply.failed("the interface is not running");
    request.interface.neighbours().resolve(*address, [reply = request.reply](const HardwareAddress* found) {
        found ? reply.ok({{"link_address", text(*found)}}) : reply.failed("nobody answered");
    });
}

void neighbours(const Request& request) {
    json all = json::array();
    for (const auto& [address, link_address] : request.interface.neighbours().list())
        all.push_back({{"address", text(address)}, {"link_address", text(link_address)}});
    request.reply.ok({{"neighbours", all}});
}

void flush_neighbours(const Request& request) {
    request.interface.neighbours().flush();
    request.reply.ok();
}

constexpr std::array<Entry, 9> all_requests{{{"join", join},
                                             {"leave", leave},
                                             {"send", send},
                                             {"listen", listen},
                                             {"received", received},
                                             {"ping", ping},
                                             {"resolve", resolve},
                                             {"neighbours", neighbours},
                                             {"flush_neighbours", flush_neighbours}}};

}  // namespace

std::span<const Entry> traffic_requests() { return all_requests; }

}  // namespace ipoib::stack::adapter

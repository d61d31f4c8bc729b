// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about the node as a whole: what it is, what it has to say, the end.
#include "generated/version.hpp"
#include "stack/adapter_request.hpp"

namespace ipoib::stack::adapter {
namespace {

void hello(const Request& request) {
    constexpr int protocol = 1;
    const auto guid = request.node.hca().config().port_guid;
    request.reply.ok({{"protocol", protocol},
                      {"name", "ipoib-conform " + request.driver},
                      {"version", suite_version},
                      {"interfaces", request.node.names()},
                      {"can", abilities()},
                      {"facts",
                       {{"driver", request.driver},
                        {"firmware", ""},
                        {"kernel", ""},
                        {"device", request.node.hca().config().description},
                        {"guid", wire::hex(guid, 16)}}}});
}

void log(const Request& request) { request.reply.ok({{"lines", request.node.log().lines()}}); }

void health(const Request& request) { request.reply.ok({{"faults", request.node.take_faults()}}); }

/// A program that is no part of the node asks for what only an administrator may.
void unprivileged(const Request& request) {
    const bool is_refused = request.node.policy().protects_setup;
    auto attempts = json::array();
    for (const auto* what : {"set the MTU", "take the interface down", "join a group at the SA"})
        attempts.push_back({{"what", what}, {"refused", is_refused}});
    request.reply.ok({{"attempts", attempts}});
}

/// What was changed ends with the node: children, groups, connections, subscriptions.
void bye(const Request& request) {
    request.node.close();
    request.reply.ok();
}

constexpr std::array<Entry, 5> of_node{
    {{"hello", hello}, {"log", log}, {"health", health}, {"unprivileged", unprivileged}, {"bye", bye}}};

}  // namespace

std::span<const Entry> node_requests() { return of_node; }

}  // namespace ipoib::stack::adapter

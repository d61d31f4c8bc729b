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
                      {"name", "ipoib-conform reference"},
                      {"version", suite_version},
                      {"interfaces", request.node.names()},
                      {"can", abilities()},
                      {"facts",
                       {{"driver", "reference"},
                        {"firmware", ""},
                        {"kernel", ""},
                        {"device", request.node.hca().config().description},
                        {"guid", wire::hex(guid, 16)}}}});
}

void log(const Request& request) { request.reply.ok({{"lines", request.node.log().lines()}}); }

void health(const Request& request) { request.reply.ok({{"faults", request.node.take_faults()}}); }

/// What was changed ends with the node: children, groups, connections, subscriptions.
void bye(const Request& request) {
    request.node.close();
    request.reply.ok();
}

constexpr std::array<Entry, 4> all{{{"hello", hello}, {"log", log}, {"health", health}, {"bye", bye}}};

}  // namespace

std::span<const Entry> node_requests() { return all; }

}  // namespace ipoib::stack::adapter

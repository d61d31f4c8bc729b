// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about an interface: up and down, addresses, mode, partition, scope.
#include "stack/adapter_request.hpp"

namespace ipoib::stack::adapter {
namespace {

void describe(const Request& request) {
    const auto& interface = request.interface;
    json ipv4 = json::array(), ipv6 = json::array(), groups = json::array();
    for (const auto& network : interface.addresses()) (network.address.is_v4() ? ipv4 : ipv6).push_back(text(network));
    for (const auto& group : request.interface.membership().groups()) groups.push_back(text(group));
    request.reply.ok({{"link_address", text(interface.hardware_address())},
                      {"mtu", interface.mtu()},
                      {"ipv4", ipv4},
                      {"ipv6", ipv6},
                      {"up", interface.is_running()},
                      {"mode", interface.is_connected_mode() ? "connected" : "datagram"},
                      {"groups", groups}});
}

/// Answers once the link is there.
void wait_until_running(const Request& request) {
    request.interface.when_running(request.patience(),
                                   [reply = request.reply, &interface = request.interface](bool is) {
                                       is ? reply.ok() : reply.failed(interface.trouble());
                                   });
}

void up(const Request& request) {
    const auto reason = request.interface.up();
    reason.empty() ? wait_until_running(request) : request.reply.failed(reason);
}

void down(const Request& request) {
    request.interface.down();
    request.reply.ok();
}

void restart(const Request& request) {
    request.interface.down();
    up(request);
}

void add_address(const Request& request) {
    const auto network = wire::parse_network(request.text("address").value_or(""));
    if (!network) return request.reply.failed("\"address\" is no address with a prefix length");
    request.reply.done(request.interface.add_address(*network));
}

void remove_address(const Request& request) {
    const auto network = wire::parse_network(request.text("address").value_or(""));
    if (!network) return request.reply.failed("\"address\" is no address with a prefix length");
    request.reply.done(request.interface.remove_address(*network));
}

void set_mtu(const Request& request) {
    constexpr std::uint64_t most = 65535;
    const auto mtu = request.number("mtu", 0, most);
    if (!mtu) return request.reply.failed("\"mtu\" is no MTU");
    request.reply.done(request.interface.set_mtu(*mtu));
}

void set_mode(const Request& request) {
    const auto mode = request.text("mode").value_or("");
    if (mode != "datagram" && mode != "connected") return request.reply.failed("\"mode\" is datagram or connected");
    auto& connections = request.interface.connections();
    mode == "connected" ? connections.enable() : connections.disable();
    request.reply.ok();
}

void set_scope(const Request& request) {
    constexpr std::uint64_t global = 14;
    const auto scope = request.number("scope", 0, global);
    if (!scope) return request.reply.failed("\"scope\" is not 0 (searched for) to 14");
    request.interface.set_scope(static_cast<std::uint8_t>(*scope));
    request.interface.is_up() ? wait_until_running(request) : request.reply.ok();
}

void create_child(const Request& request) {
    const auto p_key = request.number("pkey", 1, 0xffff);
    if (!p_key) return request.reply.failed("\"pkey\" is no P_Key");
    const auto* child = request.node.create_child(static_cast<std::uint16_t>(*p_key));
    if (!child) return request.reply.failed("there is such a child, or no room for one");
    request.reply.ok({{"interface", child->name()}});
}

void delete_child(const Request& request) {
    const auto name = request.interface.name();
    request.node.delete_child(name) ? request.reply.ok() : request.reply.failed("not a child: " + name);
}

void router(const Request& request) {
    const auto enabled = request.members.find("enabled");
    if (enabled == request.members.end() || !enabled->is_boolean())
        return request.reply.failed("\"enabled\" is true or false");
    enabled->get<bool>() ? request.interface.router().enable() : request.interface.router().disable();
    request.reply.ok();
}

/// Whether "start" is true, or "stop"; answered here where neither is, or both.
std::optional<bool> start_or_stop(const Request& request) {
    const auto is_true = [&](const char* name) {
        const auto found = request.members.find(name);
        return found != request.members.end() && found->is_boolean() && found->get<bool>();
    };
    if (is_true("start") != is_true("stop")) return is_true("start");
    request.reply.failed("\"start\" or \"stop\" is true");
    return {};
}

void dhcp(const Request& request) {
    const auto starts = start_or_stop(request);
    if (!starts) return;
    if (!request.interface.is_running()) return request.reply.failed("the interface is not running");
    *starts ? request.interface.dhcp().start() : request.interface.dhcp().stop();
    request.reply.ok();
}

void dhcp_server(const Request& request) {
    const auto starts = start_or_stop(request);
    if (!starts) return;
    *starts ? request.interface.dhcp_server().start() : request.interface.dhcp_server().stop();
    request.reply.ok();
}

void set_timers(const Request& request) {
    constexpr double most = 86400;
    auto timers = request.interface.timers();
    const auto read = [&](const char* name, fabric::Duration& into) {
        const auto found = request.members.find(name);
        if (found == request.members.end()) return true;
        if (!found->is_number()) return false;
        const auto seconds = found->get<double>();
        if (!(seconds > 0 && seconds <= most)) return false;
        into = std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(seconds));
        return into.count() > 0;
    };
    if (!read("reachable", timers.reachable) || !read("gc", timers.gc) || !read("membership", timers.membership))
        return request.reply.failed("timers are seconds");
    request.interface.set_timers(timers);
    request.reply.ok();
}

constexpr std::array<Entry, 15> of_interface{{{"interface", describe},
                                              {"up", up},
                                              {"down", down},
                                              {"restart", restart},
                                              {"add_address", add_address},
                                              {"remove_address", remove_address},
                                              {"set_mtu", set_mtu},
                                              {"set_mode", set_mode},
                                              {"set_scope", set_scope},
                                              {"create_child", create_child},
                                              {"delete_child", delete_child},
                                              {"router", router},
                                              {"dhcp", dhcp},
                                              {"dhcp_server", dhcp_server},
                                              {"timers", set_timers}}};

}  // namespace

std::span<const Entry> interface_requests() { return of_interface; }

}  // namespace ipoib::stack::adapter

// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: the sample node in its own process, on a simulated subnet with a reference stack as its neighbour.
#pragma once

#include "catch2.hpp"
#include "conformance/dut/adapter_process.hpp"
#include "fabric/simulated/fabric.hpp"
#include "fabric/socket/unix_socket.hpp"
#include "stack/node.hpp"

#include <unistd.h>

namespace ipoib::samples::test {

using namespace std::chrono_literals;

inline wire::IpAddress ip(std::string_view text) { return wire::parse_ip(text).value(); }

/// Between a raw port and the subnet: may see and double the frames to the node.
struct Tap : fabric::FrameSink {
    void receive(const fabric::Frame& frame) override {
        if (before) before(frame);
        if (to) to->receive(frame);
    }
    fabric::FrameSink* to = nullptr;
    std::function<void(const fabric::Frame&)> before;
};

/// The neighbour, 10.1.0.1.
struct Peer {
    explicit Peer(fabric::Subnet& subnet)
        : hca(subnet.loop(), {.port_guid = 0x0002c90300100001, .mtu = 5}),
          sa(hca),
          node(hca, sa),
          switch_port(subnet.plug(hca, fabric::NodeRole::other)) {}
    ~Peer() {
        node.close();
        switch_port.unplug();
    }
    fabric::Hca hca;
    fabric::SaClient sa;
    stack::Node node;
    fabric::SwitchPort& switch_port;
};

class SubnetBench {
public:
    static constexpr std::uint64_t node_guid = 0x0002c90300dd0001;
    /// `command` starts the node; "@" in it stands for the path of the raw port.
    explicit SubnetBench(const std::string& command, std::string_view scenario = "default",
                         conformance::AdapterProcess::Remark remark = {})
        : fabric({.scenario = fabric::find_scenario(scenario), .clock = fabric::Loop::Clock::real}),
          path("/tmp/ipoib-sample-" + std::to_string(::getpid()) + ".sock"),
          listener(fabric.loop(), path, [this](std::unique_ptr<fabric::RawPort> made) { accept(std::move(made)); }),
          node(std::in_place, fabric.loop(), with_path(command), 2s, std::move(remark)),
          peer(fabric.subnet()) {
        fabric.subnet().watch([this](fabric::Time, const fabric::Frame& frame, fabric::NodeRole) {
            wire::Packet packet;
            wire::decode(frame.octets(), packet);
            if (watcher) watcher(packet);
        });
        REQUIRE(ib0().add_address({ip("10.1.0.1"), 24}).empty());
        REQUIRE(ib0().up().empty());
        REQUIRE(until([&] { return ib0().is_running(); }));
    }
    ~SubnetBench() {
        watcher = nullptr;  // what it refers to is gone
        tap.before = nullptr;
        disconnect();
    }

    [[nodiscard]] std::string with_path(std::string command) const {
        return command.replace(command.find('@'), 1, path);
    }
    [[nodiscard]] stack::Interface& ib0() { return peer.node.interface(); }
    [[nodiscard]] fabric::SubnetAdministrator& sa() { return fabric.subnet().sa(); }
    bool until(const std::function<bool()>& done, fabric::Duration patience = 20s) {
        return fabric.loop().run_until(done, fabric.loop().now() + patience);
    }
    std::string ask(const std::string& command) {
        const auto reply = node->ask(command, 20s);
        return reply.error.empty() ? reply.line : reply.error;
    }
    /// With its address and an up link.
    void start() { start_by("add 10.1.0.9/24", "up"); }
    void start_by(const std::string& add_address, const std::string& up) {
        CHECK_THAT(ask(add_address), ContainsSubstring("ok"));
        CHECK_THAT(ask(up), ContainsSubstring("ok"));
        REQUIRE(until([&] { return state_of("255.255.255.255") == 1; }));
        REQUIRE(until([&] { return state_of("224.0.0.1") == 1; }));
        REQUIRE(until([&] { return sa().subscriptions() == 4; }));  // two of either node
    }
    /// Waits until the node says so: the SA knows of a member before it does.
    bool is_up() {
        return until([&] { return ask("interface").starts_with("ok up=1"); });
    }
    wire::Gid mgid(std::string_view group) {
        const auto& link = fabric.subnet().scenario().link;
        return wire::mgid_for_ipv4(ip(group).v4(), link.p_key, link.scope);
    }
    /// The node's join state in a group; -1: there is no such group.
    int state_of(std::string_view group) {
        const auto* found = sa().find(mgid(group));
        if (!found) return -1;
        const auto member = found->members.find(wire::Gid::of(std::uint64_t{0xfe80} << 48, node_guid));
        return member == found->members.end() ? 0 : member->second;
    }
    bool ping(std::string_view to, std::size_t size = 56, fabric::Duration patience = 10s) {
        std::optional<bool> answered;
        REQUIRE(ib0().echo().ping(ip(to), size, patience, [&](bool is) { answered = is; }).empty());
        until([&] { return answered.has_value(); });
        return answered.value_or(false);
    }
    /// As if the cable were pulled.
    void disconnect() {
        if (switch_port) switch_port->unplug();
        switch_port = nullptr;
        tap.to = nullptr;
        port.reset();
    }

    fabric::SimulatedFabric fabric;
    std::function<void(const wire::Packet&)> watcher;  ///< of every frame that is sent
    Tap tap;
    fabric::SwitchPort* switch_port = nullptr;
    std::unique_ptr<fabric::RawPort> port;
    unsigned connections = 0;
    std::string path;
    fabric::RawPortListener listener;
    std::optional<conformance::AdapterProcess> node;
    Peer peer;

private:
    void accept(std::unique_ptr<fabric::RawPort> accepted) {
        disconnect();
        ++connections;
        port = std::move(accepted);
        tap.to = port.get();
        switch_port = &fabric.subnet().plug(tap, fabric::NodeRole::other);
        port->deliver_to(switch_port);
        port->on_closed([this](const std::string&) { disconnect(); });
    }
};

}  // namespace ipoib::samples::test

// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: reference stacks on a simulated subnet, and every frame that was sent.
#pragma once

#include "catch2.hpp"
#include "fabric/simulated/fabric.hpp"
#include "stack/adapter.hpp"

namespace ipoib::stack::test {

using namespace std::chrono_literals;
using wire::Gid;
using wire::IpAddress;

inline IpAddress ip(std::string_view text) {
    const auto address = wire::parse_ip(text);
    REQUIRE(address);
    return *address;
}

/// One node: adapter, SA client, stack.
struct Host {
    Host(fabric::Subnet& subnet, std::uint64_t guid, const Policies& policies, const fabric::HcaConfig& like = {})
        : hca(subnet.loop(), with_guid(like, guid)),
          sa(hca),
          node(hca, sa, policies),
          switch_port(&subnet.plug(hca, fabric::NodeRole::other)) {}
    ~Host() {
        node.close();
        switch_port->unplug();
    }
    static fabric::HcaConfig with_guid(fabric::HcaConfig config, std::uint64_t guid) {
        config.port_guid = guid;
        return config;
    }
    [[nodiscard]] Interface& ib0() { return node.interface(); }
    [[nodiscard]] Gid gid() const { return hca.facts().gid; }

    fabric::Hca hca;
    fabric::SaClient sa;
    Node node;
    fabric::SwitchPort* switch_port;
};

/// A frame that somebody sent, decoded.
struct Sent {
    fabric::Time time{};
    fabric::Frame frame;
    wire::Packet packet;
    fabric::NodeRole role{};
};

class World {
public:
    static constexpr std::uint64_t first_guid = 0x0002c90300100000;
    explicit World(std::string_view scenario = "default", const fabric::SubnetConfig& config = {})
        : subnet(loop, *fabric::find_scenario(scenario), config) {
        subnet.watch([this](fabric::Time time, const fabric::Frame& frame, fabric::NodeRole role) {
            if (!keeps_frames) return;
            Sent one{time, frame, {}, role};
            wire::decode(one.frame.octets(), one.packet);
            sent.push_back(one);
        });
    }
    /// Host n (from 1) has 10.1.0.n/24.
    Host& add(const Policies& policies = {}, const fabric::HcaConfig& like = {}) {
        const auto number = hosts.size() + 1;
        fabric::HcaConfig config = like;
        if (like.mtu == fabric::HcaConfig{}.mtu) config.mtu = subnet.scenario().port_mtu;
        auto& host = *hosts.emplace_back(std::make_unique<Host>(subnet, first_guid + number, policies, config));
        const auto address = IpAddress::v4(0x0a010000 + static_cast<std::uint32_t>(number));
        REQUIRE(host.ib0().add_address({address, 24}).empty());
        return host;
    }
    /// Adds and waits until the link is there.
    Host& running(const Policies& policies = {}, const fabric::HcaConfig& like = {}) {
        auto& host = add(policies, like);
        REQUIRE(host.ib0().up().empty());
        REQUIRE(until([&] { return host.ib0().is_running(); }));
        settle();
        return host;
    }
    bool until(const std::function<bool()>& done, fabric::Duration patience = 10s) {
        return loop.run_until(done, loop.now() + patience);
    }
    void settle() { loop.run_for(50ms); }
    bool ping(Host& from, const IpAddress& to, std::size_t size = 56) {
        std::optional<bool> answered;
        const auto reason = from.ib0().echo().ping(to, size, 4s, [&](bool is) { answered = is; });
        CAPTURE(reason);
        REQUIRE(reason.empty());
        until([&] { return answered.has_value(); });
        return answered.value_or(false);
    }
    std::string join(Host& host, const IpAddress& group) {
        std::optional<std::string> answer;
        host.ib0().membership().join(group, [&](const std::string& reason) { answer = reason; });
        REQUIRE(until([&] { return answer.has_value(); }));
        settle();
        return *answer;
    }
    void send(Host& from, const IpAddress& group, std::uint16_t port = 9, std::size_t size = 20) {
        const std::vector<std::uint8_t> payload(size, 0x5a);
        REQUIRE(from.ib0().sockets().send(group, port, payload, 8).empty());
        settle();
    }
    /// Frames sent by stacks since the last clear(), of which `is` is true.
    template <class Is>
    std::vector<const Sent*> all(Is&& is) const {
        std::vector<const Sent*> found;
        for (const auto& one : sent)
            if (one.role == fabric::NodeRole::other && is(one.packet)) found.push_back(&one);
        return found;
    }
    /// Requests to the SA of this kind.
    std::vector<const Sent*> requests(wire::Method method, std::uint16_t attribute) const {
        return all([&](const wire::Packet& packet) {
            return packet.sa && packet.mad[wire::Mad::method] == method &&
                   packet.mad[wire::Mad::attribute_id] == attribute;
        });
    }
    std::vector<const Sent*> joins(const Gid& mgid) const {
        auto found = requests(wire::Method::set, wire::attribute::mc_member_record);
        std::erase_if(found,
                      [&](const Sent* one) { return one->packet.mc_member[wire::McMemberRecord::mgid] != mgid; });
        return found;
    }
    /// IPoIB packets to this MGID.
    std::vector<const Sent*> packets_to(const Gid& mgid) const {
        return all([&](const wire::Packet& packet) { return packet.grh && packet.grh[wire::Grh::dgid] == mgid; });
    }
    void clear() { sent.clear(); }
    [[nodiscard]] Gid mgid(const IpAddress& group) const {
        const auto& link = subnet_link();
        return group.is_v4() ? wire::mgid_for_ipv4(group.v4(), link.p_key, link.scope)
                             : wire::mgid_for_ipv6(group.octets, link.p_key, link.scope);
    }
    [[nodiscard]] const fabric::Partition& subnet_link() const { return subnet.scenario().link; }

    fabric::Loop loop;
    fabric::Subnet subnet;
    std::deque<Sent> sent;
    bool keeps_frames = true;
    std::vector<std::unique_ptr<Host>> hosts;
};

}  // namespace ipoib::stack::test

// SPDX-License-Identifier: GPL-2.0-or-later
// An active adapter with a queue pair that is attached to a group, for the tests.
#pragma once

#include "fabric/node/test_node.hpp"

namespace ipoib::fabric::testing {

using build::PacketBuilder;

inline constexpr std::uint16_t group_mlid = 0xc003;
inline const build::Link plain{};

/// A queue pair that counts what it takes.
struct Taker {
    Taker(Hca& hca, std::uint32_t q_key = 0x0b1b, std::uint16_t p_key = 0xffff)
        : queue_pair(hca.create(q_key, p_key, [this](const Datagram& d) {
              ++count;
              payload = d.packet->payload.size();
          })) {
        REQUIRE(queue_pair != nullptr);
    }
    int count = 0;
    std::size_t payload = 0;
    QueuePair* queue_pair;
};

/// A node with a queue pair attached to a group.
struct Member : Node {
    explicit Member(HcaBehaviour behaviour = {}, HcaConfig config = {.port_guid = test_guid})
        : Node(std::move(config), behaviour), taker(hca) {
        bring_up();
        REQUIRE(hca.attach(*taker.queue_pair, mgid, group_mlid));
    }
    [[nodiscard]] PacketBuilder unicast() const {
        return build::udp(peer(), address(taker.queue_pair->qpn), plain, 100);
    }
    [[nodiscard]] PacketBuilder multicast() const {
        auto packet = build::multicast(peer(), mgid, group_mlid, plain);
        packet.set(Encap::type, EtherType::ipv4).add(std::vector<std::uint8_t>(40));
        return packet;
    }
    /// Whether the queue pair takes the packet.
    bool takes(const PacketBuilder& packet) {
        const auto before = taker.count;
        hca.receive(without_crcs(packet));
        return taker.count == before + 1;
    }
    const Gid mgid = mgid_for_ipv4(0xe0000105, 0xffff, 2);
    Taker taker;
};

}  // namespace ipoib::fabric::testing

// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/node_port.hpp"

#include "fabric/node/test_administrator.hpp"
#include "protocol/wire/crc.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("Tester's port: asks the SA and runs the loop until the answer is there") {
    Administered node;
    NodePort port{node.hca};
    node.hca.tap = [&](const Frame& frame, bool is_sent) {
        if (!is_sent) return;
        Packet packet;
        decode(frame.octets(), packet);
        MadOctets request{};
        std::copy(packet.payload.begin(), packet.payload.end(), request.begin());
        node.loop.after(5ms, [&node, request] { node.deliver(answer_to(request)); });
    };
    CHECK(port.ask_sa(get_member, 1s).is_ok());
    CHECK(node.loop.now() == 5ms);
}

TEST_CASE("Tester's port: an SA that says nothing is asked three times") {
    Administered node;
    NodePort port{node.hca};
    CHECK_FALSE(port.ask_sa(get_member, 1s).is_answered);
    CHECK(node.loop.now() == 3s);
    CHECK(node.requests().size() == 3);
}

TEST_CASE("Tester's port: a stop ends the waiting, and an answer that comes later harms nobody") {
    Administered node;
    NodePort port{node.hca};
    node.loop.after(1ms, [] { Loop::request_stop(); });
    CHECK_FALSE(port.ask_sa(get_member, 1s).is_answered);
    Loop::clear_stop();
    node.deliver(answer_to(node.requests().at(0)));
    CHECK(node.requests(10s).empty());
}

TEST_CASE("Tester's port: has a queue pair of the link, and tells of what it takes") {
    Node node;
    NodePort port{node.hca};
    node.bring_up({0x8123});
    CHECK(port.facts().qpn == 0x48);
    CHECK(port.facts().lid == test_lid);
    CHECK(port.facts().p_keys == std::vector<std::uint16_t>{0x8123});
    std::vector<std::size_t> sizes;
    port.on_datagram([&](Octets frame) { sizes.push_back(frame.size()); });
    const auto packet = [&](std::uint32_t q_key) {
        return without_crcs(build::udp(peer(), node.address(0x48), {.p_key = 0x8123, .q_key = q_key}, 8));
    };
    node.hca.receive(packet(0x80000b1b));
    CHECK(sizes.empty());
    port.set_q_key(0x80000b1b);
    node.hca.receive(packet(0x80000b1b));
    CHECK(sizes == std::vector{packet(0).octets().size()});

    const auto mgid = broadcast_gid(0x8123, 2);
    const auto broadcast =
        without_crcs(build::arp_request(peer(), 1, {.p_key = 0x8123, .q_key = 0x80000b1b, .broadcast_mlid = 0xc001}));
    node.hca.receive(broadcast);
    CHECK(sizes.size() == 1);
    CHECK(port.attach(mgid, 0xc001).empty());
    node.hca.receive(broadcast);
    CHECK(sizes.size() == 2);
    port.detach(mgid, 0xc001);
    node.hca.receive(broadcast);
    CHECK(sizes.size() == 2);
}

TEST_CASE("Tester's port: its datagrams are numbered, each queue pair's by itself, and keep CRCs that are wrong") {
    Node node;
    NodePort port{node.hca};
    node.bring_up({0x8123});
    std::vector<std::vector<std::uint8_t>> sent;
    node.hca.tap = [&](const Frame& frame, bool is_sent) {
        if (is_sent) sent.emplace_back(frame.octets().begin(), frame.octets().end());
    };
    const auto packet = [&](std::uint32_t qpn) {
        return build::udp(node.address(qpn), peer(), {.p_key = 0x8123, .q_key = 0x80000b1b}, 8);
    };
    const auto psn_of = [](Octets frame) {
        Packet decoded;
        decode(frame, decoded);
        return std::uint32_t{decoded.bth[Bth::psn]};
    };
    for (const auto qpn : {0x48u, 0x48u, 0x99u, 0x48u}) CHECK(port.send(packet(qpn).build()).empty());
    CHECK(port.send(packet(0x48).set(Bth::psn, 77).build()).empty());
    auto damaged = packet(0x48).damage_icrc(0x10).build();
    CHECK(port.send(damaged).empty());
    REQUIRE(sent.size() == 6);
    std::vector<std::uint32_t> psns;
    for (const auto& frame : sent) psns.push_back(psn_of(frame));
    CHECK(psns == std::vector<std::uint32_t>{0, 1, 0, 2, 77, 3});
    // What was computed is not: a receiver has nothing to check.
    CHECK(check_crcs(sent[1], Tail::both).icrc == Check::absent);
    CHECK(check_crcs(sent[4], Tail::both).icrc == Check::good);
    CHECK(check_crcs(sent[5], Tail::both).icrc == Check::bad);
    CHECK(check_crcs(sent[5], Tail::both).vcrc == Check::good);
}

TEST_CASE("Tester's port: says why it cannot send or attach") {
    Node node{{.port_guid = test_guid, .attach_limit = 1}};
    NodePort port{node.hca};
    const auto packet = build::udp(peer(), peer(), {}, 8).build();
    CHECK_THAT(port.send(Octets{packet}.first(25)), ContainsSubstring("26 to 4300"));
    CHECK_THAT(port.send(std::vector<std::uint8_t>(4301)), ContainsSubstring("4301"));
    CHECK(port.send(packet) == "the port is not active");
    node.bring_up();
    CHECK(port.send(packet).empty());
    CHECK(node.cable.sent.size() == 1);
    CHECK(port.attach(broadcast_gid(0xffff, 2), 0xc000).empty());
    CHECK_THAT(port.attach(broadcast_gid(0xffff, 5), 0xc001), ContainsSubstring("full"));
    node.hca.connect(nullptr);
    CHECK(port.send(packet) == "the port has no link");
}

}  // namespace
}  // namespace ipoib::fabric

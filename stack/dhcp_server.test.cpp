// SPDX-License-Identifier: GPL-2.0-or-later
// The DHCP server, asked by the client of another node.
#include "protocol/wire/dhcp_message.hpp"
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

namespace {

/// The server's replies of this type.
std::vector<const Sent*> replies(const World& world, DhcpType type) {
    return world.all([type](const Packet& p) {
        return p.udp && p.udp[Udp::source] == dhcp_server_port && dhcp_type(udp_payload(p)) == type;
    });
}

}  // namespace

TEST_CASE("DHCP server: offer and first ACK by broadcast, the ACK of a renewal to the client's address") {
    World world;
    auto& server = world.running();
    auto& client = world.running();
    server.ib0().dhcp_server().start();
    client.ib0().dhcp().start();
    world.settle();
    REQUIRE(replies(world, DhcpType::offer).size() == 1);
    CHECK(replies(world, DhcpType::offer)[0]->packet.is_multicast);
    REQUIRE(replies(world, DhcpType::ack).size() == 1);
    CHECK(replies(world, DhcpType::ack)[0]->packet.is_multicast);
    CHECK(client.ib0().has_address(ip("10.1.0.201")));
    world.clear();
    world.loop.run_for(1801s);
    REQUIRE(replies(world, DhcpType::ack).size() == 1);
    const auto& renewed = replies(world, DhcpType::ack)[0]->packet;
    CHECK_FALSE(renewed.is_multicast);
    CHECK(renewed.ipv4[Ipv4::destination] == 0x0a0100c9);
}

TEST_CASE("DHCP server: each client has an address of its own, and the same again") {
    World world;
    auto& server = world.running();
    server.ib0().dhcp_server().start();
    for (int i = 0; i < 2; ++i) world.running().ib0().dhcp().start();
    world.settle();
    CHECK(world.hosts[1]->ib0().has_address(ip("10.1.0.201")));
    CHECK(world.hosts[2]->ib0().has_address(ip("10.1.0.202")));
    auto& second = world.hosts[2]->ib0();
    second.dhcp().stop();
    world.settle();
    CHECK_FALSE(second.has_address(ip("10.1.0.202")));
    second.dhcp().start();
    world.settle();
    CHECK(second.has_address(ip("10.1.0.202")));
}

TEST_CASE("DHCP server: one that was not started, or was stopped, answers nobody") {
    World world;
    auto& server = world.running();
    auto& client = world.running();
    server.ib0().dhcp_server().start();
    server.ib0().dhcp_server().stop();
    client.ib0().dhcp().start();
    world.settle();
    CHECK(replies(world, DhcpType::offer).empty());
}

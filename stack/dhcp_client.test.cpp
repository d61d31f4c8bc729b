// SPDX-License-Identifier: GPL-2.0-or-later
// The DHCP client, with a server played by hand.
#include "protocol/wire/dhcp_message.hpp"
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

namespace {

constexpr std::uint32_t server_address = 0x0a010001, given = 0x0a0100c8;

/// Host 1 is the server's place, host 2 the client.
struct Office {
    Office() : server(world.running()), client(world.running()) {}

    /// The client's messages of this type since the last clear().
    [[nodiscard]] std::vector<const Sent*> messages(DhcpType type) const {
        return world.all([type](const Packet& p) {
            return p.udp && p.udp[Udp::destination] == dhcp_server_port && dhcp_type(udp_payload(p)) == type;
        });
    }
    /// The only one.
    [[nodiscard]] Sent message(DhcpType type) const {
        const auto all = messages(type);
        REQUIRE(all.size() == 1);
        return *all[0];
    }
    /// Answers it: by broadcast, or to the client's address.
    void answer(const Sent& to, DhcpType type, std::uint32_t lease, bool by_broadcast = true) {
        const auto dhcp = dhcp_of(to.packet);
        build::Node here = server.ib0().self(), there = client.ib0().self();
        const build::Link link = server.ib0().link();
        auto packet = by_broadcast ? build::broadcast(here, link) : build::unicast(here, there, link);
        packet.add(Bytes<Ipv4>{}
                       .set(Ipv4::source, server_address)
                       .set(Ipv4::destination, by_broadcast ? 0xffffffff : dhcp[Dhcp::ciaddr]));
        packet.add(Bytes<Udp>{}.set(Udp::source, dhcp_server_port).set(Udp::destination, dhcp_client_port));
        packet.add(Bytes<Dhcp>{}
                       .set(Dhcp::op, Dhcp::reply)
                       .set(Dhcp::xid, dhcp[Dhcp::xid])
                       .set(Dhcp::yiaddr, given)
                       .set(Dhcp::cookie, Dhcp::magic));
        std::vector<std::uint8_t> options{53, 1,  static_cast<std::uint8_t>(type), 54, 4, 10, 1, 0, 1, 51, 4, 0, 0, 0,
                                          0,  255};
        write_bits(&options[11], At{0}, 32, lease);
        packet.add(options);
        world.clear();
        server.hca.send(packet.build());
        world.settle();
    }
    void begin(std::uint32_t lease) {
        client.ib0().dhcp().start();
        world.settle();
        answer(message(DhcpType::discover), DhcpType::offer, lease);
        answer(message(DhcpType::request), DhcpType::ack, lease);
    }
    [[nodiscard]] bool has_address() { return client.ib0().has_address(IpAddress::v4(given)); }

    World world;
    Host& server;
    Host& client;
};

}  // namespace

TEST_CASE("DHCP client: an address by broadcast, named by an identifier, and given back") {
    Office office;
    office.client.ib0().dhcp().start();
    office.world.settle();
    const auto discover = office.message(DhcpType::discover);
    CHECK(discover.packet.is_multicast);
    CHECK(discover.packet.ipv4[Ipv4::source] == 0);
    CHECK(dhcp_of(discover.packet)[Dhcp::htype] == 32);
    CHECK(dhcp_of(discover.packet)[Dhcp::hlen] == 0);
    CHECK(dhcp_of(discover.packet)[Dhcp::broadcast]);
    CHECK(dhcp_of(discover.packet)[Dhcp::chaddr] == OctetArray<16>{});
    const auto identifier = find_dhcp_option(udp_payload(discover.packet), dhcp_option::client_identifier);
    REQUIRE(identifier);
    CHECK(client_identifier(*identifier));
    office.answer(discover, DhcpType::offer, 3600);
    const auto request = office.message(DhcpType::request);
    CHECK(dhcp_of(request.packet)[Dhcp::broadcast]);
    CHECK(dhcp_of(request.packet)[Dhcp::ciaddr] == 0);
    CHECK(dhcp_number(udp_payload(request.packet), dhcp_option::requested_address) == given);
    CHECK(dhcp_number(udp_payload(request.packet), dhcp_option::server_identifier) == server_address);
    CHECK_FALSE(office.has_address());
    office.answer(request, DhcpType::ack, 3600);
    CHECK(office.has_address());
    REQUIRE(office.world.ping(office.client, IpAddress::v4(server_address)));
    office.world.clear();
    office.client.ib0().dhcp().stop();
    office.world.settle();
    const auto release = office.message(DhcpType::release);
    CHECK_FALSE(release.packet.is_multicast);
    CHECK(dhcp_of(release.packet)[Dhcp::ciaddr] == given);
    CHECK_FALSE(office.has_address());
}

TEST_CASE("DHCP client: renews at half of its lease, then asks everybody, then begins anew") {
    Office office;
    office.begin(40);
    REQUIRE(office.has_address());
    office.world.clear();
    office.world.loop.run_for(19s);
    CHECK(office.messages(DhcpType::request).empty());
    office.world.loop.run_for(2s);
    const auto renewal = office.message(DhcpType::request);
    CHECK_FALSE(renewal.packet.is_multicast);
    CHECK(dhcp_of(renewal.packet)[Dhcp::ciaddr] == given);
    CHECK_FALSE(dhcp_of(renewal.packet)[Dhcp::broadcast]);
    CHECK_FALSE(find_dhcp_option(udp_payload(renewal.packet), dhcp_option::server_identifier));
    office.answer(renewal, DhcpType::ack, 40, false);
    office.world.clear();
    office.world.loop.run_for(36s);
    const auto asked = office.messages(DhcpType::request);
    REQUIRE(asked.size() == 2);
    CHECK_FALSE(asked[0]->packet.is_multicast);
    CHECK(asked[1]->packet.is_multicast);
    CHECK_FALSE(dhcp_of(asked[1]->packet)[Dhcp::broadcast]);
    CHECK(office.has_address());
    office.world.clear();
    office.world.loop.run_for(6s);
    CHECK_FALSE(office.has_address());
    CHECK(office.messages(DhcpType::discover).size() >= 1);
}

TEST_CASE("DHCP client: what is not for it, or refuses, gives no address") {
    Office office;
    office.client.ib0().dhcp().start();
    office.world.settle();
    const auto discover = office.message(DhcpType::discover);
    office.answer(discover, DhcpType::ack, 60);
    CHECK_FALSE(office.has_address());
    office.answer(discover, DhcpType::offer, 60);
    office.answer(office.message(DhcpType::request), DhcpType::nak, 60);
    CHECK_FALSE(office.has_address());
    CHECK(office.messages(DhcpType::discover).size() == 1);
    office.client.ib0().down();
    CHECK_FALSE(office.client.ib0().dhcp().is_started());
}

// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP messages: what RFC 4390 asks of a client, and where a server sends its replies.
#include "protocol/build/dhcp.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/dhcp_message.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

namespace {

const Node client = samples::host(2), server = samples::host(1);
const Link controlled = samples::controlled();
constexpr std::uint32_t xid = 0x12345678, given = 0x0a0100c8;

/// A message taken apart, with the octets that it points into.
struct Decoded {
    explicit Decoded(const PacketBuilder& builder) : octets(builder.build()) {
        decode(octets, packet);
        REQUIRE(dhcp_of(packet));
    }
    [[nodiscard]] std::optional<std::uint32_t> number(std::uint8_t code) const {
        return dhcp_number(udp_payload(packet), code);
    }
    [[nodiscard]] DhcpType type() const { return dhcp_type(udp_payload(packet)).value(); }
    std::vector<std::uint8_t> octets;
    Packet packet;
};

}  // namespace

TEST_CASE("DHCP messages: a client has htype 32, no hardware address, and an identifier of RFC 4361") {
    for (const auto& message :
         {dhcp_discover(client, controlled, xid), dhcp_request(client, controlled, xid, given, server.ipv4),
          dhcp_renewal(client, server, controlled, xid, given), dhcp_rebinding(client, controlled, xid, given),
          dhcp_release(client, server, controlled, xid, given)}) {
        const Decoded one{message};
        const auto dhcp = dhcp_of(one.packet);
        CHECK(dhcp[Dhcp::htype] == 32);
        CHECK(dhcp[Dhcp::hlen] == 0);
        CHECK(dhcp[Dhcp::chaddr] == OctetArray<16>{});
        CHECK(dhcp[Dhcp::xid] == xid);
        const auto identifier = find_dhcp_option(udp_payload(one.packet), dhcp_option::client_identifier);
        REQUIRE(identifier);
        REQUIRE(client_identifier(*identifier));
        CHECK(client_identifier(*identifier)->duid.size() == 2 + 16);
        CHECK(for_each_dhcp_option(udp_payload(one.packet).subspan(Dhcp::size), [](auto, auto) {}).empty());
    }
}

TEST_CASE("DHCP messages: BROADCAST is set as long as the client has no address, and only then") {
    for (const auto& message :
         {dhcp_discover(client, controlled, xid), dhcp_request(client, controlled, xid, given, server.ipv4)}) {
        const Decoded one{message};
        CHECK(one.packet.is_multicast);
        CHECK(one.packet.ipv4[Ipv4::source] == 0);
        CHECK(one.packet.ipv4[Ipv4::destination] == 0xffffffff);
        CHECK(dhcp_of(one.packet)[Dhcp::broadcast]);
        CHECK(dhcp_of(one.packet)[Dhcp::ciaddr] == 0);
    }
    for (const auto& message :
         {dhcp_renewal(client, server, controlled, xid, given), dhcp_rebinding(client, controlled, xid, given),
          dhcp_release(client, server, controlled, xid, given)}) {
        const Decoded one{message};
        CHECK(one.packet.ipv4[Ipv4::source] == given);
        CHECK_FALSE(dhcp_of(one.packet)[Dhcp::broadcast]);
        CHECK(dhcp_of(one.packet)[Dhcp::ciaddr] == given);
    }
    CHECK(Decoded{dhcp_rebinding(client, controlled, xid, given)}.packet.is_multicast);
    CHECK_FALSE(Decoded{dhcp_renewal(client, server, controlled, xid, given)}.packet.is_multicast);
}

TEST_CASE("DHCP messages: a REQUEST says what it is about") {
    const Decoded selecting{dhcp_request(client, controlled, xid, given, server.ipv4)};
    CHECK(selecting.type() == DhcpType::request);
    CHECK(selecting.number(dhcp_option::requested_address) == given);
    CHECK(selecting.number(dhcp_option::server_identifier) == server.ipv4);
    const Decoded renewing{dhcp_renewal(client, server, controlled, xid, given)};
    CHECK(renewing.type() == DhcpType::request);
    CHECK_FALSE(renewing.number(dhcp_option::server_identifier));
    const Decoded release{dhcp_release(client, server, controlled, xid, given)};
    CHECK(release.type() == DhcpType::release);
    CHECK(release.number(dhcp_option::server_identifier) == server.ipv4);
}

TEST_CASE("DHCP messages: a reply goes by broadcast to a client without an address, to ciaddr else") {
    const Lease lease{.address = given, .renewal = 10, .rebinding = 20, .end = 30};
    const auto discover = dhcp_discover(client, controlled, xid);
    const Decoded offer{dhcp_reply(server, client, controlled, DhcpType::offer, discover.get<Dhcp>(), lease)};
    CHECK(offer.packet.is_multicast);
    CHECK(offer.type() == DhcpType::offer);
    CHECK(dhcp_of(offer.packet)[Dhcp::yiaddr] == given);
    CHECK(dhcp_of(offer.packet)[Dhcp::xid] == xid);
    CHECK(offer.number(dhcp_option::renewal_time) == 10);
    CHECK(offer.number(dhcp_option::rebinding_time) == 20);
    CHECK(offer.number(dhcp_option::lease_time) == 30);
    CHECK(offer.number(dhcp_option::subnet_mask) == 0xffffff00);
    const auto renewal = dhcp_renewal(client, server, controlled, xid, given);
    const Decoded ack{dhcp_reply(server, client, controlled, DhcpType::ack, renewal.get<Dhcp>(), lease)};
    CHECK_FALSE(ack.packet.is_multicast);
    CHECK(ack.packet.ipv4[Ipv4::destination] == given);
}

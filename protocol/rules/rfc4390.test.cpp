// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4390: what each rule must catch, and the false alarms that it must not raise.
#include "protocol/rules/test_rules.hpp"
#include "protocol/wire/dhcp.hpp"

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

constexpr auto* right_identifier = "3d 0c ff 00000001 0003 0020 020304";
constexpr auto* server_and_address = "36 04 0a010002 32 04 0a010001";
constexpr auto* end = "ff";

Bytes<Dhcp> message(bool broadcast, std::uint32_t ciaddr) {
    return Bytes<Dhcp>{}
        .set(Dhcp::op, Dhcp::request)
        .set(Dhcp::htype, Dhcp::infiniband)
        .set(Dhcp::xid, 0x12345678)
        .set(Dhcp::broadcast, broadcast)
        .set(Dhcp::ciaddr, ciaddr)
        .set(Dhcp::cookie, Dhcp::magic);
}
PacketBuilder from_client(PacketBuilder headers, const Bytes<Dhcp>& dhcp, DhcpType type, std::string_view options) {
    headers.set(Udp::source, dhcp_client_port).set(Udp::destination, dhcp_server_port).add(dhcp);
    headers.add(golden::octets("3501")).add(std::vector{static_cast<std::uint8_t>(type)});
    return headers.add(golden::octets(options)).add(golden::octets(end));
}
PacketBuilder udp_headers(PacketBuilder packet, std::uint32_t from, std::uint32_t to) {
    return packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from).set(Ipv4::destination, to)).add<Udp>();
}
/// By broadcast, from a client that has no address yet.
PacketBuilder unbound(DhcpType type, std::string_view options = right_identifier, bool flag = true,
                      std::uint32_t ciaddr = 0) {
    return from_client(udp_headers(broadcast(a, plain), 0, 0xffffffff), message(flag, ciaddr), type, options);
}
/// By unicast, from a client that has one.
PacketBuilder bound(DhcpType type, bool flag = false, std::string_view options = right_identifier) {
    return from_client(udp_headers(unicast(a, b, plain), a.ipv4, b.ipv4), message(flag, a.ipv4), type, options);
}
/// From a server, to a client that has no address yet.
PacketBuilder reply(std::uint32_t to, bool flag = true) {
    auto packet = from_client(udp_headers(unicast(b, a, plain), b.ipv4, to), message(flag, 0), DhcpType::offer, "");
    return packet.set(Dhcp::op, Dhcp::reply).set(Udp::source, dhcp_server_port).set(Udp::destination, dhcp_client_port);
}
std::string selecting() { return std::string(right_identifier) + server_and_address; }
/// The rules of the document that looked at the packet.
std::size_t looked_at(const Outcome& outcome) {
    std::size_t count = 0;
    for (const auto& id : outcome.observed) count += id.starts_with("RULE-RFC4390") ? 1 : 0;
    return count;
}

}  // namespace

std::vector<Wrong> rules::testing::wrong_rfc4390() {
    const auto discover = unbound(DhcpType::discover);
    return {
        {"a DISCOVER without BROADCAST", lie(discover, Dhcp::broadcast, false), {"RFC4390-2-01"}},
        {"a selecting REQUEST without BROADCAST", unbound(DhcpType::request, selecting(), false), {"RFC4390-2-01"}},
        {"a rebooting client's REQUEST without BROADCAST",
         unbound(DhcpType::request, std::string(right_identifier) + "32 04 0a010001", false),
         {"RFC4390-2-01"}},
        {"htype of Ethernet", lie(discover, Dhcp::htype, 1), {"RFC4390-2.1-01"}},
        {"hlen 20", lie(discover, Dhcp::hlen, 20), {"RFC4390-2.1-02"}},
        {"a hardware address in chaddr",
         lie(discover, Dhcp::chaddr, OctetArray<16>{0, 0, 0, 0x41, 0xfe, 0x80}),
         {"RFC4390-2.1-03"}},
        {"the last octet of chaddr",
         lie(discover, Dhcp::chaddr,
             [] {
                 OctetArray<16> chaddr{};
                 chaddr[15] = 1;
                 return chaddr;
             }()),
         {"RFC4390-2.1-03"}},
        {"a DISCOVER without identifier", unbound(DhcpType::discover, ""), {"RFC4390-2.1-04"}},
        {"a RELEASE without identifier", bound(DhcpType::release, false, ""), {"RFC4390-2.1-04"}},
        {"an identifier of the hardware address",
         unbound(DhcpType::discover, "3d 09 20 0002c90300100001"),
         {"RFC4390-2.1-05"}},
        {"an identifier without DUID", unbound(DhcpType::discover, "3d 05 ff 00000001"), {"RFC4390-2.1-05"}},
        {"an empty identifier", unbound(DhcpType::discover, "3d 00"), {"RFC4390-2.1-05"}},
        {"a DISCOVER with ciaddr", unbound(DhcpType::discover, right_identifier, true, a.ipv4), {"RFC4390-2.2-01"}},
        {"a selecting REQUEST with ciaddr", unbound(DhcpType::request, selecting(), true, a.ipv4), {"RFC4390-2.2-01"}},
        {"an offer by unicast to who asks for a broadcast", reply(a.ipv4), {"RFC4390-2.2-03"}},
        {"a renewal with BROADCAST", bound(DhcpType::request, true), {"RFC4390-2.2-02"}},
        {"a RELEASE with BROADCAST", bound(DhcpType::release, true), {"RFC4390-2.2-02"}},
    };
}

TEST_CASE("DHCP: what a right client sends breaks nothing") {
    for (const auto& packet :
         {unbound(DhcpType::discover), unbound(DhcpType::request, selecting()), unbound(DhcpType::request),
          bound(DhcpType::request), bound(DhcpType::release), bound(DhcpType::inform)}) {
        const auto outcome = judge(packet.build());
        CHECK(outcome.violated == Ids{});
        CHECK(looked_at(outcome) >= 5);
    }
}

TEST_CASE("DHCP: a capture on the IP network device shows it too") {
    const auto frame = unbound(DhcpType::discover, "").build(Medium::linux_sll);
    CHECK(judge(frame, plain, Medium::linux_sll).violated == Ids{"RFC4390-2.1-04"});
}

TEST_CASE("DHCP: a reply is broadcast to who asks for it, and goes as the server likes to others") {
    CHECK(violated(reply(a.ipv4, false)) == Ids{});
    CHECK(violated(lie(reply(a.ipv4), Dhcp::ciaddr, a.ipv4)) == Ids{});
    CHECK(violated(lie(reply(a.ipv4), Dhcp::giaddr, b.ipv4)) == Ids{});
}

TEST_CASE("False alarm: no answer comes to DECLINE, and INFORM may ask for either kind of answer") {
    CHECK(violated(unbound(DhcpType::decline, selecting(), false)) == Ids{});
    CHECK(violated(unbound(DhcpType::decline, selecting(), true)) == Ids{});
    CHECK(violated(bound(DhcpType::inform, true)) == Ids{});
}

TEST_CASE("False alarm: an identifier in several parts, which belong together") {
    // RFC 3396; the rest of the second one is in `file`, by option 52.
    CHECK(violated(unbound(DhcpType::discover, "3d 03 ff0000 3d 0a 00010004 aabbccddeeff")) == Ids{});
    CHECK(violated(unbound(DhcpType::discover, "34 01 01 3d 03 ff0000")) == Ids{});
}

TEST_CASE("False alarm: a renewing client that rebinds broadcasts with its address") {
    const auto rebinding = from_client(udp_headers(broadcast(a, plain), a.ipv4, 0xffffffff), message(false, a.ipv4),
                                       DhcpType::request, right_identifier);
    CHECK(violated(rebinding) == Ids{});
}

TEST_CASE("False alarm: a client on Ethernet whose address a host answers for renews and releases its lease") {
    for (const auto type : {DhcpType::request, DhcpType::release}) {
        const auto passed_on = bound(type, false, "").set(Dhcp::htype, 1).set(Dhcp::hlen, 6);
        CHECK(looked_at(judge(passed_on.build())) == 0);
        auto own = bound(type, false, "");
        CHECK(violated(own.set(Dhcp::htype, 1)).contains("RFC4390-2.1-01"));
    }
    // A broadcast is not passed on.
    const auto rebinding = from_client(udp_headers(broadcast(a, plain), a.ipv4, 0xffffffff), message(false, a.ipv4),
                                       DhcpType::request, right_identifier);
    CHECK(violated(lie(rebinding, Dhcp::htype, 1)) == Ids{"RFC4390-2.1-01"});
}

TEST_CASE("False alarm: what a relay agent or a server sends is not the client's") {
    auto wrong = unbound(DhcpType::discover, "");
    wrong.set(Dhcp::htype, 1).set(Dhcp::hlen, 6).set(Dhcp::broadcast, false);
    for (const auto& packet : {lie(wrong, Dhcp::giaddr, b.ipv4), lie(wrong, Dhcp::hops, 1),
                               lie(wrong, Dhcp::op, Dhcp::reply), lie(wrong, Udp::source, dhcp_server_port),
                               lie(wrong, Udp::destination, dhcp_client_port), lie(wrong, Dhcp::cookie, 0)})
        CHECK(looked_at(judge(packet.build())) == 0);
    CHECK(looked_at(judge(unbound(DhcpType::offer, "").build())) == 0);
    CHECK(looked_at(judge(lie(wrong, Ipv4::flags, 1).build())) == 0);
}

TEST_CASE("False alarm: an identifier that may stand elsewhere is not missed") {
    CHECK(violated(unbound(DhcpType::discover, "34 01 01")) == Ids{});
    auto frame = unbound(DhcpType::discover, "0c 08 6162636465666768").build();
    frame.resize(frame.size() - 12);
    CHECK(judge(frame).violated == Ids{});
    CHECK(looked_at(judge(frame)) == 5);
}

TEST_CASE("DHCP: a message that is no message is not judged, wherever it ends") {
    const auto frame = unbound(DhcpType::request, selecting()).build();
    for (std::size_t length = 0; length < frame.size(); ++length)
        CHECK(judge(Octets{frame}.first(length)).violated == Ids{});
}

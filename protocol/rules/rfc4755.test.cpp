// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4755: what each rule must catch, and the false alarms that it must not raise.
#include "protocol/build/connection.hpp"
#include "protocol/rules/test_rules.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

constexpr std::uint32_t connected_qpn = 0x777;
constexpr std::uint64_t service_id = 0x0100000000000042;

/// The same packet over a reliable connection.
PacketBuilder over_rc(PacketBuilder packet) { return over_connection(std::move(packet), connected_qpn, 0); }

Bytes<CmPrivateData> private_data() {
    return Bytes<CmPrivateData>{}.set(CmPrivateData::ud_qpn, a.qpn).set(CmPrivateData::receive_mtu, 65524);
}
/// A MAD of communication management from one CM to another.
PacketBuilder cm_packet(std::uint16_t attribute_id) {
    PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::dlid, b.lid).set(Lrh::slid, a.lid));
    packet.add(Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).set(Bth::p_key, 0xffff).set(Bth::dest_qp, 1));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, 0x80010000).set(Deth::src_qp, 1));
    packet.add(Bytes<Mad>{}
                   .set(Mad::base_version, 1)
                   .set(Mad::mgmt_class, MgmtClass::communication)
                   .set(Mad::class_version, 2)
                   .set(Mad::method, Method::send)
                   .set(Mad::attribute_id, attribute_id));
    return packet;
}
PacketBuilder request(std::uint64_t id = service_id, const Bytes<CmPrivateData>& data = private_data()) {
    Bytes<CmReq> req;
    req.set(CmReq::service_id, id).set(CmReq::local_qpn, connected_qpn);
    std::copy(data.octets.begin(), data.octets.end(), req.octets.begin() + CmReq::private_data.at.bit / 8);
    auto packet = cm_packet(cm_attribute::req);
    return packet.add(req);
}
template <class T>
PacketBuilder request_with(const Field<CmPrivateData, T>& field, const std::type_identity_t<T>& value) {
    return request(service_id, private_data().set(field, value));
}

Node with_flags(std::uint8_t flags) {
    auto node = a;
    node.link_flags = flags;
    return node;
}
bool observed(const PacketBuilder& packet, const std::string& id) {
    const auto outcome = judge(packet.build());
    CHECK(outcome.violated == Ids{});
    return outcome.observed.count("RULE-" + id) == 1;
}

}  // namespace

std::vector<Wrong> rules::testing::wrong_rfc4755() {
    const auto echo = over_rc(echo_request(a, b, plain, 1));
    const auto echo6 = over_rc(echo_request6(a, b, plain, 1));
    const auto reply = over_rc(arp_reply(a, b, plain));
    return {
        {"an IPv4 group over a connection", lie(echo, Ipv4::destination, group), {"RFC4755-2.1-01"}},
        {"an IPv6 group over a connection", lie(echo6, Ipv6::destination, local_group6), {"RFC4755-2.1-01"}},
        {"a broadcast over a connection", lie(echo, Ipv4::destination, 0xffffffff), {"RFC4391-4-09", "RFC4755-2.1-01"}},
        {"a Type that is none, over a connection",
         lie(echo, Encap::type, EtherType{0x0004}),
         {"RFC4391-6-04", "RFC4755-4-01"}},
        {"an ARP reply over a connection", reply, {"RFC4755-4-01", "RFC4755-7-02"}},
        {"an ARP reply over an unreliable connection",
         lie(reply, Bth::opcode, Opcode::uc_send_only),
         {"RFC4755-4-01", "RFC4755-7-02"}},
        {"an ARP request over a connection", lie(reply, Arp::operation, Arp::request), {"RFC4755-4-01"}},
        {"an advertisement over a connection", over_rc(neighbour_advertisement(a, b, plain)), {"RFC4755-7-02"}},
        {"no UD QPN in a REQ", request_with(CmPrivateData::ud_qpn, 0), {"RFC4755-3.2-02"}},
        {"the multicast QPN in a REQ", request_with(CmPrivateData::ud_qpn, 0xffffff), {"RFC4755-3.2-02"}},
        {"no private data in a REQ", request(service_id, {}), {"RFC4755-3.2-02", "RFC4755-5.1-01", "RFC4755-6-01"}},
        {"Linux's Service-ID", request(0x1000000000000042), {"RFC4755-3.5-01"}},
        {"a Type in the Service-ID", request(0x0101000000000042), {"RFC4755-3.5-01"}},
        {"a reserved bit in the Service-ID", request(0x0100000001000042), {"RFC4755-3.5-01"}},
        {"no QPN in the Service-ID", request(0x0100000000000000), {"RFC4755-3.5-01"}},
        {"no Receive MTU in a REQ", request_with(CmPrivateData::receive_mtu, 0), {"RFC4755-5.1-01", "RFC4755-6-01"}},
        {"a Receive MTU of nothing in a REQ", request_with(CmPrivateData::receive_mtu, 71), {"RFC4755-5-01"}},
        {"a Receive MTU in host order", request_with(CmPrivateData::receive_mtu, 0xf4ff0000), {"RFC4755-6-01"}},
        {"Reserved set in a REQ", request_with(CmPrivateData::reserved, 1), {"RFC4755-6-02"}},
    };
}

TEST_CASE("RFC 4755: a right REQ breaks nothing") {
    for (const auto* id : {"3.2-02", "3.5-01", "5.1-01", "6-01", "6-02"})
        CHECK(observed(request(), "RFC4755-" + std::string(id)));
    CHECK(violated(request_with(CmPrivateData::receive_mtu, 2048)) == Ids{});
}

TEST_CASE("False alarm: a REQ of another program is not IPoIB's") {
    const Bytes<CmPrivateData> nothing;
    for (const auto id :
         {std::uint64_t{0x0000000001061234}, std::uint64_t{0x0002c90300100001}, std::uint64_t{0x1000000000000000},
          std::uint64_t{0x1000000000000001}, std::uint64_t{0x100005ad00001234}, std::uint64_t{0x1001000000000042}})
        CHECK(violated(request(id, nothing)) == Ids{});
    // Other messages hold other things where a REQ has its ServiceID.
    Bytes<CmRep> rep;
    std::fill(rep.octets.begin(), rep.octets.end(), std::uint8_t{1});
    auto packet = cm_packet(cm_attribute::rep);
    CHECK(violated(packet.add(rep)) == Ids{});
}

TEST_CASE("False alarm: a REQ that is cut off is not judged") {
    auto frame = request().build();
    frame.resize(8 + 12 + 8 + Mad::size + CmReq::size - 1);
    CHECK(judge(frame).violated == Ids{});
}

TEST_CASE("Over a connection: IP to one port, of any size") {
    const auto small = over_rc(echo_request(a, b, plain, 1)), large = over_rc(echo_request(a, b, plain, 1, 3000)),
               small6 = over_rc(echo_request6(a, b, plain, 1));
    for (const auto& packet : {small, large, small6})
        for (const auto* id : {"2.1-01", "4-01"}) CHECK(observed(packet, "RFC4755-" + std::string(id)));
}

TEST_CASE("False alarm: what other programs send over connections is not ARP") {
    const auto arp = over_rc(arp_reply(a, b, plain));
    CHECK(violated(lie(arp, Encap::reserved, 1)) == Ids{});
    CHECK(violated(lie(arp, Arp::hardware, 1)) == Ids{});
    CHECK(violated(lie(arp, Arp::hardware_length, 6)) == Ids{});
    CHECK(violated(lie(arp, Encap::type, EtherType{0x0807})) == Ids{});
    CHECK(violated(lie(arp, Bth::opcode, Opcode::rc_send_middle)) == Ids{});
    auto short_arp = arp;
    CHECK(violated(short_arp.remove<ArpAddresses>()) == Ids{});
}

TEST_CASE("False alarm: a neighbour is probed over the connection to it") {
    auto probe = over_rc(neighbour_advertisement(a, b, plain));
    probe.set(Icmpv6::type, Icmpv6Type::neighbour_solicitation).set(LinkAddressOption::type, 1);
    CHECK(violated(probe) == Ids{});
}

TEST_CASE("Over UD, answers and multicast count where the sender announces connected mode") {
    for (const auto flags : {std::uint8_t{0x80}, std::uint8_t{0x40}, std::uint8_t{0xc0}}) {
        const auto node = with_flags(flags);
        CHECK(observed(arp_reply(node, b, plain), "RFC4755-7-02"));
        CHECK(observed(neighbour_advertisement(node, b, plain), "RFC4755-7-02"));
        CHECK(observed(arp_request(node, b.ipv4, plain), "RFC4755-2.1-01"));
        CHECK(observed(neighbour_solicitation(node, b.ipv6, mlid, plain), "RFC4755-2.1-01"));
        CHECK_FALSE(observed(arp_request(node, b.ipv4, plain), "RFC4755-7-02"));
        CHECK_FALSE(observed(echo_request(node, b, plain, 1), "RFC4755-2.1-01"));
    }
    CHECK_FALSE(observed(arp_reply(a, b, plain), "RFC4755-7-02"));
    CHECK_FALSE(observed(arp_request(a, b.ipv4, plain), "RFC4755-2.1-01"));
    // The target's flags are the other side's.
    CHECK_FALSE(observed(arp_reply(b, with_flags(0x80), plain), "RFC4755-7-02"));
}

TEST_CASE("The flags of connected mode are noted") {
    CHECK(noted(arp_request(with_flags(0x80), b.ipv4, plain), "RFC4755-3.1-01"));
    CHECK(noted(neighbour_solicitation(with_flags(0x40), b.ipv6, mlid, plain), "RFC4755-3.1-01"));
    CHECK(noted(arp_request(with_flags(0xc0), b.ipv4, plain), "RFC4755-3.1-04"));
    CHECK_FALSE(noted(arp_request(with_flags(0x80), b.ipv4, plain), "RFC4755-3.1-04"));
    CHECK_FALSE(observed(arp_request(a, b.ipv4, plain), "RFC4755-3.1-01"));
}

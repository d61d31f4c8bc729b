// SPDX-License-Identifier: GPL-2.0-or-later
// Address resolution of both versions: contents, where they go, caching and revalidation. RFC 4391, 9.
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

namespace {

bool is_arp(const Packet& packet) { return packet.arp_addresses.operator bool(); }
bool is_request(const Packet& packet) { return is_arp(packet) && packet.arp[Arp::operation] == Arp::request; }
bool is_reply(const Packet& packet) { return is_arp(packet) && packet.arp[Arp::operation] == Arp::reply; }
auto is_nd(Icmpv6Type type) {
    return [type](const Packet& packet) { return packet.nd_target && packet.icmpv6[Icmpv6::type] == type; };
}
build::Node as_node(Host& host, std::uint32_t ipv4) {
    auto node = host.ib0().self();
    node.ipv4 = ipv4;
    return node;
}

}  // namespace

TEST_CASE("ARP: a request goes to the broadcast group, its reply to the requester's queue pair") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    world.clear();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    const auto requests = world.all(is_request), replies = world.all(is_reply);
    REQUIRE(requests.size() == 1);
    REQUIRE(replies.size() == 1);
    const auto& request = requests[0]->packet;
    CHECK(request.grh[Grh::dgid] == world.subnet_link().broadcast_gid());
    CHECK(request.encap[Encap::type] == EtherType::arp);
    CHECK(request.encap[Encap::reserved] == 0);
    CHECK(request.arp[Arp::hardware] == 32);
    CHECK(request.arp[Arp::protocol] == 0x0800);
    CHECK(request.arp[Arp::hardware_length] == 20);
    CHECK(request.arp[Arp::protocol_length] == 4);
    CHECK(request.arp_addresses[ArpAddresses::sha_flags] == 0);
    CHECK(request.arp_addresses[ArpAddresses::sha_qpn] == a.ib0().ud_qpn());
    CHECK(request.arp_addresses[ArpAddresses::sha_gid] == a.gid());
    CHECK(request.arp_addresses[ArpAddresses::spa] == 0x0a010001);
    CHECK(request.arp_addresses[ArpAddresses::tha_qpn] == 0);
    CHECK(request.arp_addresses[ArpAddresses::tha_gid].is_zero());
    CHECK(request.arp_addresses[ArpAddresses::tpa] == 0x0a010002);
    const auto& reply = replies[0]->packet;
    CHECK_FALSE(reply.grh);
    CHECK(reply.lrh[Lrh::dlid] == a.hca.facts().lid);
    CHECK(reply.bth[Bth::dest_qp] == a.ib0().ud_qpn());
    CHECK(reply.deth[Deth::q_key] == world.subnet_link().q_key);
    CHECK(reply.arp_addresses[ArpAddresses::sha_gid] == b.gid());
    CHECK(reply.arp_addresses[ArpAddresses::tha_gid] == a.gid());
    CHECK(reply.arp_addresses[ArpAddresses::tha_qpn] == a.ib0().ud_qpn());
    CHECK(reply.arp_addresses[ArpAddresses::tpa] == 0x0a010001);
}

TEST_CASE("ARP: a reply goes to the QPN of the request's hardware address, not to its source") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    world.clear();
    auto request = build::arp_request(as_node(a, 0x0a010001), 0x0a010002, a.ib0().link());
    a.hca.send(request.set(Deth::src_qp, 0x777).set(ArpAddresses::sha_flags, 0x3f).build());
    world.settle();
    REQUIRE(world.all(is_reply).size() == 1);
    CHECK(world.all(is_reply)[0]->packet.bth[Bth::dest_qp] == a.ib0().ud_qpn());
    REQUIRE(b.ib0().neighbours().list().size() == 1);
    CHECK(b.ib0().neighbours().list()[0].second[LinkAddress::flags] == 0);
}

TEST_CASE("ARP: a request with wrong constants, for another address or from our own is not answered") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    const auto good = [&] { return build::arp_request(as_node(a, 0x0a010001), 0x0a010002, a.ib0().link()); };
    const auto answers = [&](const build::PacketBuilder& packet) {
        world.clear();
        a.hca.send(packet.build());
        world.settle();
        return world.all(is_reply).size();
    };
    CHECK(answers(good()) == 1);
    CHECK(answers(good().set(Arp::hardware, 1)) == 0);
    CHECK(answers(good().set(Arp::protocol, 0x0806)) == 0);
    CHECK(answers(good().set(Arp::hardware_length, 6)) == 0);
    CHECK(answers(good().set(Arp::protocol_length, 16)) == 0);
    CHECK(answers(good().set(Arp::operation, 7)) == 0);
    CHECK(answers(good().set(ArpAddresses::tpa, 0x0a010003)) == 0);
    CHECK(answers(good().set(ArpAddresses::spa, 0x0a010002)) == 0);
    // An address probe is answered, and no entry made of it.
    b.ib0().neighbours().flush();
    CHECK(answers(good().set(ArpAddresses::spa, 0)) == 1);
    CHECK(b.ib0().neighbours().list().empty());
    CHECK(answers(good().set(Encap::reserved, 0xffff)) == 1);
}

TEST_CASE("ARP: a request for another node teaches nothing new, but updates what is known") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    auto& c = world.running();
    REQUIRE(world.ping(b, ip("10.1.0.1")));
    auto changed = as_node(a, 0x0a010001);
    changed.qpn = 0x1234;
    a.hca.send(build::arp_request(changed, 0x0a010009, a.ib0().link()).build());
    world.settle();
    REQUIRE(b.ib0().neighbours().list().size() == 1);
    CHECK(b.ib0().neighbours().list()[0].second[LinkAddress::qpn] == 0x1234);
    CHECK(c.ib0().neighbours().list().empty());
}

TEST_CASE("ARP: an old neighbour is asked by unicast, then everyone is, and its new QPN found") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    auto timers = a.ib0().timers();
    timers.reachable = 2s;
    a.ib0().set_timers(timers);
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.clear();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    CHECK(world.all(is_arp).empty());
    world.loop.run_for(3s);
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.settle();
    REQUIRE(world.all(is_request).size() == 1);
    CHECK_FALSE(world.all(is_request)[0]->packet.is_multicast);
    // A restart changes the QPN; packets to the old one are lost until the broadcast probe.
    world.loop.run_for(3s);
    b.ib0().down();
    REQUIRE(b.ib0().up().empty());
    REQUIRE(world.until([&] { return b.ib0().is_running(); }));
    world.clear();
    CHECK_FALSE(world.ping(a, ip("10.1.0.2")));
    CHECK(world.all(is_request).size() == 4);
    CHECK(world.all(is_request).back()->packet.is_multicast);
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("ARP: nobody's address is given up after three requests, and unused neighbours are forgotten") {
    World world;
    auto& a = world.running();
    world.running();
    auto timers = a.ib0().timers();
    timers.gc = 5s;
    a.ib0().set_timers(timers);
    world.clear();
    std::optional<bool> found;
    a.ib0().neighbours().resolve(ip("10.1.0.99"), [&](const HardwareAddress* address) { found = address != nullptr; });
    REQUIRE(world.until([&] { return found.has_value(); }));
    CHECK_FALSE(*found);
    CHECK(world.all(is_request).size() == 3);
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    CHECK(a.ib0().neighbours().list().size() == 1);
    world.loop.run_for(11s);
    CHECK(a.ib0().neighbours().list().empty());
}

TEST_CASE("ND: solicitation and advertisement carry the option with its two zero octets first") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    const auto target = b.ib0().addresses().back().address;
    world.clear();
    REQUIRE(world.ping(a, target));
    const auto solicitations = world.all(is_nd(Icmpv6Type::neighbour_solicitation));
    const auto advertisements = world.all(is_nd(Icmpv6Type::neighbour_advertisement));
    REQUIRE(solicitations.size() == 1);
    REQUIRE(advertisements.size() == 1);
    const auto& asked = solicitations[0]->packet;
    CHECK(asked.grh[Grh::dgid] == world.mgid(IpAddress::v6(solicited_node_group(target.octets))));
    CHECK(asked.ipv6[Ipv6::hop_limit] == 255);
    CHECK(asked.nd_target[NdTarget::target] == target.octets);
    REQUIRE(asked.source_option);
    CHECK(asked.source_option[LinkAddressOption::length] == 3);
    CHECK(asked.source_option[LinkAddressOption::padding] == 0);
    CHECK(asked.source_option[LinkAddressOption::flags] == 0);
    CHECK(asked.source_option[LinkAddressOption::qpn] == a.ib0().ud_qpn());
    CHECK(asked.source_option[LinkAddressOption::gid] == a.gid());
    const auto& told = advertisements[0]->packet;
    CHECK_FALSE(told.grh);
    CHECK(told.bth[Bth::dest_qp] == a.ib0().ud_qpn());
    CHECK(told.icmpv6[Icmpv6::body] == 0x60000000);
    REQUIRE(told.target_option);
    CHECK(told.target_option[LinkAddressOption::qpn] == b.ib0().ud_qpn());
    CHECK(told.target_option[LinkAddressOption::gid] == b.gid());
}

TEST_CASE("ND: messages that came from beyond the link, or have options that do not fit, are ignored") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    const auto target = b.ib0().addresses().back().address.octets;
    const auto mgid = world.mgid(IpAddress::v6(solicited_node_group(target)));
    auto node = as_node(a, 0x0a010001);
    node.ipv6 = a.ib0().addresses().back().address.octets;
    REQUIRE(world.ping(a, IpAddress::v6(target)));
    const auto mlid = world.subnet.sa().find(mgid)->mlid();
    const auto answers = [&](const build::PacketBuilder& packet) {
        world.clear();
        a.hca.send(packet.build());
        world.settle();
        return world.all(is_nd(Icmpv6Type::neighbour_advertisement)).size();
    };
    const auto good = [&] { return build::neighbour_solicitation(node, target, mlid, a.ib0().link()); };
    CHECK(answers(good()) == 1);
    CHECK(answers(good().set(Ipv6::hop_limit, 254)) == 0);
    CHECK(answers(good().set(LinkAddressOption::length, 0)) == 0);
    CHECK(answers(good().set(LinkAddressOption::length, 4)) == 0);
    CHECK(answers(good().set(Icmpv6::checksum, 0x1234)) == 0);
    CHECK(answers(good().set(Icmpv6::code, 1)) == 0);
    // Who asks without an address asks whether it is free: all nodes hear the answer.
    CHECK(answers(good().set(Ipv6::source, Gid{})) == 1);
    CHECK(world.packets_to(world.mgid(ip("ff02::1"))).size() == 1);
}

TEST_CASE("IPv6: the interface identifier is the GUID with the u bit set") {
    World world;
    auto& host = world.add({}, {});
    REQUIRE(host.ib0().up().empty());
    CHECK(text(host.ib0().addresses().back()) == "fe80::202:c903:10:1/64");
    CHECK(answers::interface_id(0x0202c90300100001, answers::is_modified_eui64(0x0202c90300100001)) ==
          0x0202c90300100001);
}

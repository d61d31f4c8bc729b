// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever the wire brings, a node goes on: cut, changed and forged frames, fragments, answers of a hostile SA.
#include "stack/test_stacks.hpp"

#include <random>

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

namespace {

/// One of each kind of frame that a node takes.
std::vector<std::vector<std::uint8_t>> seeds(Host& from, Host& to, const World& world) {
    auto a = from.ib0().self(), b = to.ib0().self();
    a.ipv4 = 0x0a010001;
    b.ipv4 = 0x0a010002;
    a.ipv6 = from.ib0().addresses().back().address.octets;
    b.ipv6 = to.ib0().addresses().back().address.octets;
    const build::Link link = from.ib0().link();
    const auto mgid = world.mgid(IpAddress::v6(solicited_node_group(b.ipv6)));
    const auto mlid = const_cast<World&>(world).subnet.sa().find(mgid)->mlid();
    auto query = build::broadcast(a, link);
    query.add(Bytes<Ipv4>{}
                  .set(Ipv4::source, a.ipv4)
                  .set(Ipv4::destination, 0xe0000001)
                  .set(Ipv4::protocol, IpProtocol::igmp));
    query.add(std::vector<std::uint8_t>{0x11, 1, 0xee, 0xfe, 0, 0, 0, 0});
    auto fragment = build::udp(a, b, link, 64);
    fragment.set(Ipv4::flags, 1);
    auto fragment6 = build::unicast(a, b, link);
    fragment6.add(Bytes<Ipv6>{}
                      .set(Ipv6::source, a.ipv6)
                      .set(Ipv6::destination, b.ipv6)
                      .set(Ipv6::next_header, IpProtocol::fragment));
    fragment6.add(std::vector<std::uint8_t>(64, 0x11));
    return {build::arp_request(a, b.ipv4, link).build(),
            build::arp_reply(a, b, link).build(),
            build::neighbour_solicitation(a, b.ipv6, mlid, link).build(),
            build::neighbour_advertisement(a, b, link).build(),
            build::echo_request(a, b, link, 1).build(),
            build::echo_request6(a, b, link, 1).build(),
            build::udp(a, b, link, 100).build(),
            build::unicast_with_grh(a, b, link).build(),
            fragment.build(),
            fragment6.build(),
            query.build()};
}

}  // namespace

TEST_CASE("Hostile frames: every cut of every kind of frame is survived") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    world.keeps_frames = false;
    for (const auto& seed : seeds(a, b, world)) {
        for (std::size_t size = Lrh::size; size < seed.size(); ++size) {
            // As one packet of its own: the headers up to there, whole in themselves.
            std::vector<std::uint8_t> octets(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size));
            octets.resize((size + 3) / 4 * 4 + 6);
            set_field(octets, Lrh::packet_length, static_cast<std::uint16_t>((octets.size() - 2) / 4));
            a.hca.send(octets);
        }
        world.settle();
    }
    CHECK(b.node.take_faults().empty());
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("Hostile frames: frames changed at random are survived, and nothing grows without bound") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    b.ib0().connections().enable();
    world.keeps_frames = false;
    const auto all = seeds(a, b, world);
    std::mt19937 random{20060401};
    const auto below = [&](std::size_t n) { return random() % n; };
    for (int i = 0; i < 30000; ++i) {
        auto octets = all[below(all.size())];
        const auto headers = std::size_t{28};
        for (auto changes = 1 + below(6); changes > 0; --changes) {
            const auto at = headers + below(octets.size() - headers - 6);
            octets[at] =
                below(2) ? static_cast<std::uint8_t>(random()) : static_cast<std::uint8_t>(octets[at] ^ 1u << below(8));
        }
        std::fill(octets.end() - 6, octets.end(), std::uint8_t{0});
        a.hca.send(octets);
        if (i % 64 == 0) world.loop.run_for(1ms);
    }
    world.loop.run_for(30s);
    CHECK(b.ib0().neighbours().list().size() <= Neighbours::most_neighbours);
    CHECK(b.node.log().lines().size() <= Log::most_lines);
    CHECK(b.node.take_faults().empty());
    b.ib0().neighbours().flush();
    a.ib0().neighbours().flush();
    CHECK(world.ping(a, ip("10.1.0.2")));
    CHECK(world.ping(b, ip("10.1.0.1")));
}

TEST_CASE(
    "Hostile frames: connection messages of random content are survived, and connections stay within their bound") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    b.ib0().connections().enable();
    world.keeps_frames = false;
    std::mt19937 random{4755};
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto service_id = answers::service_id(b.ib0().ud_qpn());
    for (int i = 0; i < 4000; ++i) {
        build::PacketBuilder packet;
        packet.add(Bytes<Lrh>{}.set(Lrh::dlid, b.hca.facts().lid).set(Lrh::slid, a.hca.facts().lid));
        packet.add(Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).set(Bth::p_key, 0xffff).set(Bth::dest_qp, 1));
        packet.add(Bytes<Deth>{}.set(Deth::q_key, 0x80010000).set(Deth::src_qp, 1));
        const auto kind = static_cast<std::uint16_t>(cm_attribute::req + below(8));
        packet.add(Bytes<Mad>{}
                       .set(Mad::base_version, 1)
                       .set(Mad::mgmt_class, MgmtClass::communication)
                       .set(Mad::class_version, 2)
                       .set(Mad::method, Method::send)
                       .set(Mad::attribute_id, kind));
        Bytes<CmReq> body;
        for (auto& octet : body.octets) octet = static_cast<std::uint8_t>(random());
        if (kind == cm_attribute::req) {
            body.set(CmReq::service_id, service_id);
            if (below(2)) body.set(CmReq::transport_service_type, 0);
        } else {
            // Communication IDs count up from one: some are hit.
            body.set(CmReq::reserved32a, below(300)).set(CmReq::local_comm_id, below(3));
        }
        a.hca.send(packet.add(body).build());
        if (i % 16 == 0) world.loop.run_for(1ms);
    }
    CHECK(b.ib0().connections().count() > 0);
    CHECK(b.ib0().connections().count() <= Connections::most_connections);
    world.loop.run_for(60s);
    CHECK(b.node.take_faults().empty());
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("Hostile frames: a flood of requesters fills the neighbour table no further than its bound") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    world.keeps_frames = false;
    auto node = a.ib0().self();
    const build::Link link = a.ib0().link();
    for (std::uint32_t i = 0; i < 5000; ++i) {
        node.ipv4 = 0x0a020000 + i;
        node.gid = Gid::of(a.gid().prefix(), i);
        a.hca.send(build::arp_request(node, 0x0a010002, link).build());
        if (i % 16 == 0) world.loop.run_for(1ms);
    }
    world.loop.run_for(5s);
    CHECK(b.ib0().neighbours().list().size() <= Neighbours::most_neighbours);
    CHECK(b.node.log().lines().size() <= Log::most_lines);
    CHECK(world.ping(b, ip("10.1.0.1")));
}

TEST_CASE("Hostile frames: a packet of an unknown Type is dropped, and the next is taken") {
    World world;
    auto& a = world.running();
    world.running();
    auto from = a.ib0().self(), to = world.hosts[1]->ib0().self();
    from.ipv4 = 0x0a010001;
    to.ipv4 = 0x0a010002;
    for (const auto type : {0x0000, 0x1234, 0x0008, 0x8035, 0xffff, 0x86dd}) {
        a.hca.send(build::echo_request(from, to, a.ib0().link(), 1).set(Encap::type, EtherType(type)).build());
        world.settle();
    }
    const auto replies =
        world.all([&](const Packet& packet) { return packet.icmp && packet.icmp[Icmp::type] == Icmp::echo_reply; });
    CHECK(replies.empty());
    CHECK(world.ping(a, ip("10.1.0.2")));
}

TEST_CASE("Reassembly: fragments in any order make the datagram, and wrong ones end it") {
    Reassembly reassembly;
    const Reassembly::Key key{ip("10.1.0.1"), ip("10.1.0.2"), 7, IpProtocol::udp};
    const std::vector<std::uint8_t> first(16, 1), middle(8, 2), last(5, 3);
    CHECK(reassembly.add(key, 24, false, last, {}).empty());
    CHECK(reassembly.add(key, 0, true, first, {}).empty());
    CHECK(reassembly.add(key, 0, true, first, {}).empty());
    const auto whole = reassembly.add(key, 16, true, middle, {});
    REQUIRE(whole.size() == 29);
    CHECK(whole[15] == 1);
    CHECK(whole[16] == 2);
    CHECK(whole[28] == 3);

    CHECK(reassembly.add(key, 0, true, last, {}).empty());        // no multiple of 8
    CHECK(reassembly.add(key, 65528, false, first, {}).empty());  // beyond the longest datagram
    CHECK(reassembly.add(key, 0, true, {}, {}).empty());          // nothing
    CHECK(reassembly.add(key, 24, false, last, {}).empty());
    CHECK(reassembly.add(key, 32, true, first, {}).empty());  // behind the last: all is dropped
    CHECK(reassembly.add(key, 0, true, first, {}).empty());
    CHECK(reassembly.add(key, 16, true, middle, {}).empty());
    CHECK(reassembly.add(key, 24, false, last, 31s).empty());  // too late: begins anew
    for (std::uint32_t i = 0; i < 1000; ++i) {
        auto other = key;
        other.identification = 100 + i;
        CHECK(reassembly.add(other, 0, true, first, 32s).empty());
    }
}

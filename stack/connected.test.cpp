// SPDX-License-Identifier: GPL-2.0-or-later
// Connected mode: flags, the exchange of connection messages, crossing requests, the end. RFC 4755.
#include "protocol/build/connection.hpp"
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;
using State = Connections::State;

namespace {

template <class Message>
std::vector<View<Message>> messages(const World& world) {
    std::vector<View<Message>> found;
    for (const auto* one : world.all([](const Packet& packet) { return packet.mad.operator bool(); }))
        if (const auto message = one->packet.template get<Message>()) found.push_back(message);
    return found;
}

}  // namespace

TEST_CASE("Connected mode: two nodes announce it in their addresses and connect once they talk") {
    World world{"controlled"};
    auto& a = world.running();
    auto& b = world.running();
    for (auto* host : {&a, &b}) host->ib0().connections().enable();
    CHECK(a.ib0().hardware_address()[LinkAddress::flags] == 0x80);
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.settle();
    CHECK(a.ib0().connections().state_with(b.ib0().hardware_address()) == State::established);
    CHECK(b.ib0().connections().state_with(a.ib0().hardware_address()) == State::established);
    const auto reqs = messages<CmReq>(world);
    const auto reps = messages<CmRep>(world);
    const auto rtus = messages<CmRtu>(world);
    REQUIRE(reqs.size() >= 1);
    REQUIRE(reps.size() >= 1);
    REQUIRE(rtus.size() >= 1);
    // Either may begin: b answers ARP and the echo.
    auto& target = ipoib_private_data(reqs[0])[CmPrivateData::ud_qpn] == a.ib0().ud_qpn() &&
                           reqs[0][CmReq::primary_local_gid] == a.gid()
                       ? b
                       : a;
    auto& beginner = &target == &a ? b : a;
    CHECK(ipoib_service_id(reqs[0])[IpoibServiceId::prefix] == 0x01);
    CHECK(ipoib_service_id(reqs[0])[IpoibServiceId::type] == 0);
    CHECK(ipoib_service_id(reqs[0])[IpoibServiceId::reserved] == 0);
    CHECK(ipoib_service_id(reqs[0])[IpoibServiceId::qpn] == target.ib0().ud_qpn());
    CHECK(ipoib_private_data(reqs[0])[CmPrivateData::reserved] == 0);
    CHECK(ipoib_private_data(reqs[0])[CmPrivateData::ud_qpn] == beginner.ib0().ud_qpn());
    CHECK(ipoib_private_data(reqs[0])[CmPrivateData::receive_mtu] == 2048);
    CHECK(ipoib_private_data(reps[0])[CmPrivateData::ud_qpn] == target.ib0().ud_qpn());
    CHECK(ipoib_private_data(rtus[0])[CmPrivateData::ud_qpn] == beginner.ib0().ud_qpn());
    CHECK(reqs[0][CmReq::transport_service_type] == 0);
    CHECK(reqs[0][CmReq::local_qpn] != beginner.ib0().ud_qpn());
    world.clear();
    a.ib0().connections().disable();
    world.settle();
    CHECK(messages<CmDreq>(world).size() == 1);
    CHECK(messages<CmDrep>(world).size() <= 1);
    CHECK_FALSE(b.ib0().connections().state_with(a.ib0().hardware_address()));
    CHECK(a.ib0().hardware_address()[LinkAddress::flags] == 0);
}

TEST_CASE("Connected mode: a node does not connect to one that has no connected mode") {
    World world;
    auto& a = world.running();
    world.running();
    a.ib0().connections().enable();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    CHECK(messages<CmReq>(world).empty());
}

TEST_CASE("Connected mode: of crossing requests the one to the smaller address wins, and there is one connection") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    for (auto* host : {&a, &b}) host->ib0().connections().enable();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.settle();
    for (auto* host : {&a, &b}) {
        host->ib0().connections().disable();
        host->ib0().connections().enable();
    }
    world.settle();
    world.clear();
    const auto a_address = a.ib0().hardware_address(), b_address = b.ib0().hardware_address();
    a.ib0().connections().wanted(b_address, b.ib0().ud_qpn());
    b.ib0().connections().wanted(a_address, a.ib0().ud_qpn());
    world.settle();
    CHECK(messages<CmReq>(world).size() == 2);
    CHECK(messages<CmRep>(world).size() == 1);
    const auto rejections = messages<CmRej>(world);
    REQUIRE(rejections.size() == 1);
    CHECK(rejections[0][CmRej::reason] == 28);
    const bool is_a_smaller = answers::accepts_crossing(a_address, b_address);
    const auto larger = is_a_smaller ? b.ib0().ud_qpn() : a.ib0().ud_qpn();
    CHECK(ipoib_private_data(rejections[0])[CmPrivateData::ud_qpn] == larger);
    CHECK(a.ib0().connections().state_with(b_address) == State::established);
    CHECK(b.ib0().connections().state_with(a_address) == State::established);
}

TEST_CASE("Connected mode: an interface that goes down ends its connections") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    for (auto* host : {&a, &b}) host->ib0().connections().enable();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.settle();
    world.clear();
    a.ib0().down();
    world.settle();
    REQUIRE(messages<CmDreq>(world).size() == 1);
    CHECK_FALSE(b.ib0().connections().state_with(a.ib0().hardware_address()).has_value());
}

TEST_CASE("Connected mode: a second connection of a peer leaves the first one alone") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    b.ib0().connections().enable();
    const build::Node from{.lid = a.hca.lid(), .gid = a.gid(), .qpn = 0x777};
    const build::Node to{.lid = b.hca.lid(), .gid = b.gid(), .qpn = b.ib0().ud_qpn()};
    for (const std::uint32_t id : {21u, 22u}) {
        world.clear();
        a.hca.send(build::connection_request(from, to, id).build());
        world.settle();
        const auto reps = messages<CmRep>(world);
        REQUIRE(reps.size() == 1);
        a.hca.send(build::connection_ready(from, to, id, reps[0][CmRep::local_comm_id]).build());
        world.settle();
    }
    CHECK(b.ib0().connections().count(State::established) == 2);
    world.clear();
    b.ib0().down();
    world.settle();
    CHECK(messages<CmDreq>(world).size() == 2);
}

TEST_CASE("Connected mode: a REQ that no interface takes is rejected by the communication manager") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    const build::Node from{.lid = a.hca.lid(), .gid = a.gid(), .qpn = 0x777};
    const build::Node to{.lid = b.hca.lid(), .gid = b.gid(), .qpn = b.ib0().ud_qpn()};
    const auto is_rejected = [&](const build::PacketBuilder& req) {
        world.clear();
        a.hca.send(req.build());
        world.settle();
        const auto rejections = messages<CmRej>(world);
        return rejections.size() == 1 && rejections[0][CmRej::reason] == 8 &&
               rejections[0][CmRej::remote_comm_id] == 31;
    };
    CHECK(is_rejected(build::connection_request(from, to, 31)));
    b.ib0().connections().enable();
    const auto other_service = std::uint64_t{0x10} << 56 | to.qpn;
    CHECK(is_rejected(build::connection_request(from, to, 31).set(CmReq::service_id, other_service)));
    CHECK_FALSE(is_rejected(build::connection_request(from, to, 31)));
}

TEST_CASE("Connected mode: IP over a connection is answered") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    b.ib0().connections().enable();
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    const build::Node from{.lid = a.hca.lid(), .gid = a.gid(), .qpn = a.ib0().ud_qpn(), .ipv4 = 0x0a010001};
    const build::Node to{.lid = b.hca.lid(), .gid = b.gid(), .qpn = b.ib0().ud_qpn(), .ipv4 = 0x0a010002};
    a.hca.send(build::connection_request(from, to, 41).build());
    world.settle();
    const auto reps = messages<CmRep>(world);
    REQUIRE(reps.size() == 1);
    world.clear();
    const auto echo = build::echo_request(from, to, a.ib0().link(), 1);
    a.hca.send(build::over_connection(echo, reps[0][CmRep::local_qpn], 0).build());
    world.settle();
    const auto replies = world.all([](const Packet& packet) { return packet.icmp && packet.icmp[Icmp::type] == 0; });
    REQUIRE(replies.size() == 1);
    CHECK(replies[0]->packet.bth[Bth::opcode] == Opcode::ud_send_only);
}

TEST_CASE("Connected mode: what is longer than a datagram goes over the connection, and is answered whole") {
    World world;
    auto& a = world.running();
    auto& b = world.running();
    constexpr std::size_t mtu = 9000;
    for (auto* host : {&a, &b}) {
        host->ib0().connections().enable();
        REQUIRE(host->ib0().set_mtu(mtu).empty());
    }
    REQUIRE(world.ping(a, ip("10.1.0.2")));
    world.settle();
    REQUIRE(a.ib0().connections().count(State::established) >= 1);
    world.clear();
    const std::vector<std::uint8_t> payload(mtu - Ipv4::size - Udp::size);
    auto& sender = a.ib0().mtu_to(ip("10.1.0.2")) == mtu ? a : b;
    const auto to = &sender == &a ? ip("10.1.0.2") : ip("10.1.0.1");
    REQUIRE(sender.ib0().mtu_to(to) == mtu);
    REQUIRE(sender.ib0().sockets().send(to, 9, payload, 8).empty());
    world.settle();
    const auto is = [](Opcode opcode) {
        return [opcode](const Packet& packet) { return packet.bth && packet.bth[Bth::opcode] == opcode; };
    };
    CHECK(world.all(is(Opcode::rc_send_first)).size() == 1);
    CHECK(world.all(is(Opcode::rc_send_middle)).size() == 3);
    CHECK(world.all(is(Opcode::rc_send_last)).size() == 1);
    CHECK(world.all(is(Opcode::rc_acknowledge)).size() == 5);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Sending to IP multicast groups: the table of RFC 4391, 10, row by row, and what follows from it.
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;
using Record = McMemberRecord;

namespace {

std::vector<std::uint8_t> states_of(const std::vector<const Sent*>& requests) {
    std::vector<std::uint8_t> states;
    for (const auto* one : requests) states.push_back(one->packet.mc_member[Record::join_state]);
    return states;
}
using States = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("Egress: a group that exists is asked for, joined as SendOnlyNonMember, and cached") {
    World world{"controlled"};
    auto& sender = world.running();
    auto& listener = world.running();
    const auto group = GENERATE(as<std::string>(), "239.1.2.3", "ff05::1:2", "224.0.0.99");
    CAPTURE(group);
    REQUIRE(world.join(listener, ip(group)).empty());
    REQUIRE(listener.ib0().sockets().listen(ip(group), 9).empty());
    world.clear();
    for (int i = 0; i < 5; ++i) world.send(sender, ip(group));
    const auto mgid = world.mgid(ip(group));
    const auto asked = world.requests(Method::get, attribute::mc_member_record);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0]->packet.mc_member[Record::mgid] == mgid);
    CHECK(states_of(world.joins(mgid)) == States{join_state::send_only_non_member});
    CHECK(listener.ib0().sockets().take().size() == 5);
    const auto packets = world.packets_to(mgid);
    REQUIRE(packets.size() == 5);
    const auto& link = world.subnet_link();
    const auto& packet = packets[0]->packet;
    CHECK(packet.lrh[Lrh::dlid] == world.subnet.sa().find(mgid)->mlid());
    CHECK(packet.lrh[Lrh::sl] == link.sl);
    CHECK(packet.grh[Grh::sgid] == sender.gid());
    CHECK(packet.grh[Grh::traffic_class] == link.traffic_class);
    CHECK(packet.grh[Grh::flow_label] == link.flow_label);
    CHECK(packet.grh[Grh::hop_limit] == link.hop_limit);
    CHECK(packet.bth[Bth::dest_qp] == 0xffffff);
    CHECK(packet.bth[Bth::p_key] == link.p_key);
    CHECK(packet.deth[Deth::q_key] == link.q_key);
}

TEST_CASE("Egress: a member sends at once") {
    World world;
    auto& host = world.running();
    REQUIRE(world.join(host, ip("239.1.2.3")).empty());
    world.clear();
    world.send(host, ip("239.1.2.3"));
    CHECK(world.requests(Method::get, attribute::mc_member_record).empty());
    CHECK(world.packets_to(world.mgid(ip("239.1.2.3"))).size() == 1);
}

TEST_CASE("Egress: a missing group beyond the link falls back to the all-router group where that exists") {
    World world;
    auto& sender = world.running();
    auto& router = world.running();
    const auto group = GENERATE(as<std::string>(), "239.1.2.3", "ff05::1:2", "ff0e::7");
    const auto routers = group.find(':') == std::string::npos ? ip("224.0.0.2") : ip("ff02::2");
    CAPTURE(group);
    REQUIRE(world.join(router, routers).empty());
    world.clear();
    for (int i = 0; i < 3; ++i) world.send(sender, ip(group));
    CHECK(world.packets_to(world.mgid(ip(group))).empty());
    CHECK(world.packets_to(world.mgid(routers)).size() == 3);
    CHECK(states_of(world.joins(world.mgid(routers))) == States{join_state::send_only_non_member});
    CHECK(world.requests(Method::get, attribute::mc_member_record).size() == 2);
    for (const auto* one : world.packets_to(world.mgid(routers)))
        CHECK((one->packet.ipv4 ? IpAddress::v4(one->packet.ipv4[Ipv4::destination])
                                : IpAddress::v6(one->packet.ipv6[Ipv6::destination])) == ip(group));
}

TEST_CASE("Egress: a missing group is dropped where there is no router, and always within the link") {
    World world;
    auto& sender = world.running();
    auto& other = world.running();
    const auto groups_before = world.subnet.sa().groups().size();
    for (const auto* group : {"239.1.2.3", "ff05::1:2"}) world.send(sender, ip(group));
    REQUIRE(world.join(other, ip("224.0.0.2")).empty());
    REQUIRE(world.join(other, ip("ff02::2")).empty());
    world.clear();
    for (const auto* group : {"224.0.0.99", "ff02::99"}) {
        world.send(sender, ip(group));
        world.send(sender, ip(group));
    }
    CHECK(world.all([](const Packet& packet) { return packet.udp.operator bool(); }).empty());
    CHECK(world.requests(Method::get, attribute::mc_member_record).size() == 2);
    CHECK(world.requests(Method::set, attribute::mc_member_record).empty());
    CHECK(world.subnet.sa().groups().size() == groups_before + 2);
}

TEST_CASE("Egress: of two groups with one MGID each has its own way where that is missing") {
    World world;
    auto& sender = world.running();
    auto& router = world.running();
    REQUIRE(world.join(router, ip("ff02::2")).empty());
    const std::vector<std::string> wide_first{"ff05::1:2", "ff02::1:2", "ff05::1:2"},
        near_first{"ff02::1:2", "ff05::1:2"};
    const auto groups = GENERATE_COPY(wide_first, near_first);
    REQUIRE(world.mgid(ip("ff05::1:2")) == world.mgid(ip("ff02::1:2")));
    world.clear();
    for (const auto& group : groups) world.send(sender, ip(group));
    const auto packets = world.packets_to(world.mgid(ip("ff02::2")));
    CHECK(packets.size() == groups.size() - 1);
    for (const auto* one : packets) CHECK(IpAddress::v6(one->packet.ipv6[Ipv6::destination]) == ip("ff05::1:2"));
}

TEST_CASE("Egress: packets of a group that is created later go to it") {
    World world;
    auto& sender = world.running();
    auto& router = world.running();
    auto& listener = world.running();
    const auto group = ip("239.1.2.3");
    const bool has_router = GENERATE(true, false);
    if (has_router) REQUIRE(world.join(router, ip("224.0.0.2")).empty());
    world.send(sender, group);
    REQUIRE(world.join(listener, group).empty());
    world.clear();
    world.send(sender, group);
    CHECK(world.packets_to(world.mgid(group)).size() == 1);
    CHECK(world.packets_to(world.mgid(ip("224.0.0.2"))).empty());
}

TEST_CASE("Egress: a sender falls back again when the group is deleted, and uses no MLID of old") {
    World world;
    auto& sender = world.running();
    auto& router = world.running();
    auto& listener = world.running();
    const auto group = ip("239.1.2.3");
    REQUIRE(world.join(router, ip("224.0.0.2")).empty());
    REQUIRE(world.join(listener, group).empty());
    world.send(sender, group);
    REQUIRE(listener.ib0().membership().leave(group));
    world.settle();
    REQUIRE(world.subnet.sa().find(world.mgid(group)) == nullptr);
    world.clear();
    world.send(sender, group);
    CHECK(world.packets_to(world.mgid(group)).empty());
    CHECK(world.packets_to(world.mgid(ip("224.0.0.2"))).size() == 1);
}

TEST_CASE("Egress: a sender leaves a group that it has not sent to for a while") {
    World world;
    auto& sender = world.running();
    auto& listener = world.running();
    const auto group = ip("239.1.2.3");
    auto timers = sender.ib0().timers();
    timers.membership = 5s;
    sender.ib0().set_timers(timers);
    REQUIRE(world.join(listener, group).empty());
    for (int i = 0; i < 4; ++i) {
        world.send(sender, group);
        world.loop.run_for(3s);
    }
    const auto* at_sa = world.subnet.sa().find(world.mgid(group));
    REQUIRE(at_sa);
    CHECK(at_sa->members.at(sender.gid()) == join_state::send_only_non_member);
    world.clear();
    world.loop.run_for(11s);
    const auto leaves = world.requests(Method::del, attribute::mc_member_record);
    REQUIRE(leaves.size() == 1);
    CHECK(leaves[0]->packet.mc_member[Record::join_state] == join_state::send_only_non_member);
    CHECK_FALSE(at_sa->members.contains(sender.gid()));
    // It still gets there afterwards.
    world.clear();
    world.send(sender, group);
    CHECK(world.packets_to(world.mgid(group)).size() == 1);
}

TEST_CASE("Egress: packets that wait for the SA are bounded and go out in order") {
    World world;
    auto& sender = world.running();
    auto& listener = world.running();
    const auto group = ip("239.1.2.3");
    REQUIRE(world.join(listener, group).empty());
    REQUIRE(listener.ib0().sockets().listen(group, 9).empty());
    for (std::uint8_t i = 0; i < 100; ++i)
        REQUIRE(sender.ib0().sockets().send(group, 9, std::vector<std::uint8_t>(1, i), 1).empty());
    world.settle();
    const auto received = listener.ib0().sockets().take();
    REQUIRE(received.size() == Egress::most_waiting);
    for (std::size_t i = 0; i < received.size(); ++i) CHECK(received[i].payload[0] == 92 + i);
}

TEST_CASE("Egress: a group that is created while the SA was asked is not missed") {
    World world;
    world.subnet.sa().faults.delay = 10ms;
    auto& sender = world.running();
    auto& listener = world.running();
    const auto group = ip("239.1.2.3");
    REQUIRE(listener.ib0().sockets().listen(group, 9).empty());
    REQUIRE(sender.ib0().sockets().send(group, 9, std::vector<std::uint8_t>(4), 1).empty());
    world.loop.run_for(1ms);
    listener.ib0().membership().join(group, [](const std::string&) {});
    world.loop.run_for(2s);
    world.send(sender, group);
    CHECK(listener.ib0().sockets().take().size() >= 1);
}

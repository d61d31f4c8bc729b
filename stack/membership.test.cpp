// SPDX-License-Identifier: GPL-2.0-or-later
// The IP groups that a node listens to, as a host and as a router. RFC 4391, 10 and 11.
#include "protocol/wire/igmp.hpp"
#include "stack/test_stacks.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;
using Record = McMemberRecord;

TEST_CASE("Membership: a join creates the group with the parameters of the broadcast group, a leave ends it") {
    World world{"controlled"};
    auto& host = world.running();
    const auto group = GENERATE(as<std::string>(), "239.1.2.3", "ff15::abcd");
    const auto mgid = world.mgid(ip(group));
    world.clear();
    REQUIRE(world.join(host, ip(group)).empty());
    REQUIRE(world.joins(mgid).size() == 1);
    CHECK(world.joins(mgid)[0]->packet.mc_member[Record::join_state] == join_state::full_member);
    const auto* at_sa = world.subnet.sa().find(mgid);
    REQUIRE(at_sa);
    const auto& link = world.subnet_link();
    CHECK(at_sa->record[Record::p_key] == link.p_key);
    CHECK(at_sa->record[Record::q_key] == link.q_key);
    CHECK(at_sa->record[Record::sl] == link.sl);
    CHECK(at_sa->record[Record::mtu] == link.mtu);
    CHECK(at_sa->record[Record::rate] == link.rate);
    CHECK(at_sa->record[Record::traffic_class] == link.traffic_class);
    CHECK(at_sa->record[Record::flow_label] == link.flow_label);
    CHECK(at_sa->record[Record::hop_limit] == link.hop_limit);
    CHECK(at_sa->record[Record::scope] == link.scope);
    world.clear();
    REQUIRE(host.ib0().membership().leave(ip(group)));
    world.settle();
    const auto leaves = world.requests(Method::del, attribute::mc_member_record);
    REQUIRE(leaves.size() == 1);
    CHECK(leaves[0]->packet.mc_member[Record::join_state] == join_state::full_member);
    CHECK(world.subnet.sa().find(mgid) == nullptr);
    CHECK_FALSE(host.ib0().membership().leave(ip(group)));
}

TEST_CASE("Membership: two IP groups with one MGID share the IB group until the last leaves") {
    World world;
    auto& host = world.running();
    const auto mgid = world.mgid(ip("ff05::7"));
    REQUIRE(mgid == world.mgid(ip("ff02::7")));
    REQUIRE(world.join(host, ip("ff02::7")).empty());
    REQUIRE(world.join(host, ip("ff05::7")).empty());
    REQUIRE(host.ib0().membership().leave(ip("ff02::7")));
    world.settle();
    CHECK(world.subnet.sa().find(mgid) != nullptr);
    REQUIRE(host.ib0().membership().leave(ip("ff05::7")));
    world.settle();
    CHECK(world.subnet.sa().find(mgid) == nullptr);
}

TEST_CASE("Membership: the IB group is left when the last IP group that was to have it is refused") {
    World world;
    auto& host = world.running();
    const auto mgid = world.mgid(ip("ff05::7"));
    REQUIRE(world.join(host, ip("ff02::7")).empty());
    world.subnet.sa().faults.refuse_joins = sa_status::no_resources;
    std::string reason;
    host.ib0().membership().join(ip("ff05::7"), [&](const std::string& told) { reason = told; });
    REQUIRE(host.ib0().membership().leave(ip("ff02::7")));
    world.settle();
    CHECK(reason == "ERR_NO_RESOURCES");
    CHECK(world.subnet.sa().find(mgid) == nullptr);
}

TEST_CASE("Membership: what was left before the link began anew is not kept by an answer that comes after") {
    World world;
    auto& host = world.running();
    world.subnet.sa().faults.drop_next = 1;
    auto& membership = host.ib0().membership();
    membership.join(ip("239.1.2.3"), [](const std::string&) {});
    REQUIRE(membership.leave(ip("239.1.2.3")));
    membership.link_up(Beginning::renewal);
    // The request is repeated after a second.
    world.loop.run_for(2s);
    CHECK(world.subnet.sa().find(world.mgid(ip("239.1.2.3"))) == nullptr);
    CHECK_FALSE(host.ib0().groups().holds(world.mgid(ip("239.1.2.3")), join_state::full_member));
}

TEST_CASE("Membership: a refused join is told to the caller and logged, and nothing stays of it") {
    World world;
    auto& host = world.running();
    world.subnet.sa().faults.refuse_joins = sa_status::no_resources;
    CHECK(world.join(host, ip("239.1.2.3")) == "ERR_NO_RESOURCES");
    CHECK_FALSE(host.ib0().membership().is_member(ip("239.1.2.3")));
    CHECK_THAT(host.node.log().lines().back(), ContainsSubstring("FullMember join of ff12:401b:ffff::f01:203 failed"));
    world.subnet.sa().faults.refuse_joins = 0;
    CHECK(world.join(host, ip("239.1.2.3")).empty());
    CHECK(world.join(host, ip("10.1.0.2")) == "not a multicast group");
}

TEST_CASE("Membership: without room in the adapter's attach table the join fails and is undone at the SA") {
    World world;
    auto& host = world.running({}, {.attach_limit = 4});
    CHECK_THAT(world.join(host, ip("239.1.2.3")), ContainsSubstring("attachments"));
    CHECK(world.subnet.sa().find(world.mgid(ip("239.1.2.3"))) == nullptr);
    CHECK_THAT(host.node.log().lines().back(), ContainsSubstring("attachment"));
}

TEST_CASE("Membership: reports go out where somebody listens to them, and queries are answered") {
    World world;
    auto& host = world.running();
    auto& querier = world.running();
    const auto reports_v4 = [&] {
        return world.all([](const Packet& packet) { return packet.ip_protocol == IpProtocol::igmp; });
    };
    REQUIRE(world.join(host, ip("239.1.2.3")).empty());
    CHECK(reports_v4().empty());
    REQUIRE(world.join(querier, ip("224.0.0.22")).empty());
    REQUIRE(world.join(querier, ip("ff02::16")).empty());
    world.clear();
    REQUIRE(world.join(host, ip("239.1.2.4")).empty());
    REQUIRE(reports_v4().size() == 1);
    std::vector<std::uint32_t> reported;
    for_each_igmp_record(reports_v4()[0]->packet.ip_payload, [&](View<IgmpRecord> record, Octets) {
        CHECK(record[IgmpRecord::type] == group_record::to_exclude);
        reported.push_back(record[IgmpRecord::group]);
    });
    CHECK(reported == std::vector<std::uint32_t>{0xef010204});
    CHECK(internet_checksum(reports_v4()[0]->packet.ip_payload) == 0);
    world.clear();
    // A version 2 query: version 2 reports from then on, to the groups themselves.
    const IpHead head{.source = ip("10.1.0.2"),
                      .destination = ip("224.0.0.1"),
                      .protocol = IpProtocol::igmp,
                      .hop_limit = 1,
                      .has_router_alert = true};
    auto query = Bytes<Igmp>{}.set(Igmp::type, igmp_type::query).set(Igmp::max_resp_time, 10);
    set_checksum(head, query.octets);
    REQUIRE(querier.ib0().ip().send(head, query.octets));
    world.settle();
    std::vector<std::uint32_t> version_2;
    for (const auto* one : reports_v4())
        if (const auto igmp = View<Igmp>::at(one->packet.ip_payload); igmp[Igmp::type] == igmp_type::report_v2)
            version_2.push_back(igmp[Igmp::group]);
    CHECK(version_2 == std::vector<std::uint32_t>{0xef010203, 0xef010204});
}

TEST_CASE("Router: it is NonMember of the groups that exist and of those created later") {
    World world;
    auto& router = world.running();
    auto& host = world.running();
    REQUIRE(world.join(host, ip("239.1.2.3")).empty());
    router.ib0().router().enable();
    world.settle();
    REQUIRE(world.join(host, ip("ff15::9")).empty());
    const auto states = [&](std::string_view group) -> int {
        const auto* at_sa = world.subnet.sa().find(world.mgid(ip(group)));
        if (!at_sa) return -1;
        const auto found = at_sa->members.find(router.gid());
        return found == at_sa->members.end() ? 0 : found->second;
    };
    CHECK(states("239.1.2.3") == join_state::non_member);
    CHECK(states("ff15::9") == join_state::non_member);
    CHECK((states("224.0.0.2") & join_state::full_member) != 0);
    CHECK((states("ff02::2") & join_state::full_member) != 0);
    REQUIRE(router.ib0().sockets().listen({}, 9).empty());
    world.send(host, ip("239.1.2.3"));
    CHECK(router.ib0().sockets().take().size() == 1);
    // Its membership does not keep a group alive.
    REQUIRE(host.ib0().membership().leave(ip("239.1.2.3")));
    world.settle();
    CHECK(states("239.1.2.3") == -1);
    router.ib0().router().disable();
    world.settle();
    CHECK(states("ff15::9") == 0);
    CHECK(states("224.0.0.2") == -1);
}

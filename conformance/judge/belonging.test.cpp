// SPDX-License-Identifier: GPL-2.0-or-later
// Whose a packet is, and what is known of whom: queue pairs and connections that end, ports with several GIDs, and
// knowledge that the capture cannot have.
#include "conformance/judge/test_story.hpp"
#include "protocol/build/connection.hpp"
#include "protocol/wire/cm.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr auto address = "239.1.2.3";
constexpr std::uint32_t another_q_key = 0x11111111;
constexpr ConnectionEnd ours{.id = 0x100, .qpn = 0x404, .psn = 1}, theirs{.id = 0x200, .qpn = 0x405, .psn = 1};

Story resolved() {
    auto story = both_up();
    return story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link));
}
Story connected() {
    auto story = resolved();
    const auto link = story.link;
    return story(connection_request(a, b, link, ours))(connection_reply(b, a, link, theirs, ours.id))(
        connection_ready(a, b, link, ours, theirs));
}
/// What looks like IPoIB, with a mistake that shows whether it is taken for that.
PacketBuilder marked(PacketBuilder packet) { return packet.set(Encap::reserved, 7); }
PacketBuilder tunnel(const Story& story, const Node& from, const Node& to) {
    return marked(echo_request(from, to, story.link, 1)).set(Deth::q_key, another_q_key);
}
/// An echo request whose GRH names the port of `named`.
PacketBuilder naming(const Story& story, const Node& from, const Node& to, const Node& named) {
    auto place = to;
    place.gid = named.gid;
    return unicast_with_grh(from, place, story.link)
        .add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, to.ipv4))
        .add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request));
}
const auto is_taken_for_ipoib = Ids{"RFC4391-6-02"};

}  // namespace

TEST_CASE("Belonging: a connection is IPoIB's from its REQ until it ends") {
    auto story = connected();
    const auto link = story.link;
    const auto data = [&] { return over_connection(marked(echo_request(a, b, link, 1)), theirs.qpn, 2); };
    SECTION("open") { CHECK(violated(story(data())) == is_taken_for_ipoib); }
    SECTION("ended by a DREQ") {
        story(disconnection_request(b, a, link, theirs, ours));
        CHECK(violated(story(data())) == Ids{});
    }
    SECTION("its numbers are another program's, which asks at a Service-ID of its own") {
        constexpr std::uint64_t srp = 0x0002c90300123456;
        auto request = connection_request(b, a, link, {.id = 0x300, .qpn = theirs.qpn, .psn = 1});
        CHECK(violated(story(request.set(CmReq::service_id, srp))(data())) == Ids{});
    }
    SECTION("the GRH names a port behind another router that uses the same number") {
        auto packet = over_connection(marked(naming(story, a, b, c)), theirs.qpn, 2);
        CHECK(violated(story(packet)) == Ids{});
    }
}

TEST_CASE("Belonging: a request for a connection that is rejected makes none") {
    auto story = resolved();
    const auto link = story.link;
    constexpr std::uint16_t consumer_reject = 28;
    story(connection_request(a, b, link, ours))(connection_rejection(b, a, link, ours.id, consumer_reject));
    CHECK(violated(story(over_connection(marked(echo_request(b, a, link, 1)), ours.qpn, 2))) == Ids{});
}

TEST_CASE("Belonging: a queue pair that its interface has given back may be another program's") {
    auto story = resolved();
    const auto link = story.link;
    auto anew = b;
    anew.qpn = b.qpn + 0x100;
    SECTION("the one that was announced last is IPoIB's, whatever Q_Key comes") {
        CHECK(violated(story(tunnel(story, a, b))) == Ids{"RFC4391-13-02", "RFC4391-6-02", "RFC4391-9.1.2-03"});
    }
    SECTION("the one before only with the link's Q_Key") {
        story(arp_request(anew, a.ipv4, link))(arp_reply(a, anew, link));
        CHECK(violated(story(tunnel(story, c, b))) == Ids{});
        CHECK(violated(story(marked(echo_request(c, b, link, 1)))).contains("RFC4391-6-02"));
    }
    SECTION("after a leave whose answer is not captured") {
        const auto record = group_record(b, link, link.broadcast_gid(), 0, 1);
        story(mc_member(b, sa, Method::del, 0x77, record, mask::join));
        CHECK(violated(story(tunnel(story, c, b))) == Ids{});
    }
    SECTION("after its port was down, until it announces itself anew") {
        story.found(b);
        CHECK(violated(story(tunnel(story, c, b))) == Ids{});
        CHECK(violated(story(marked(echo_request(c, b, link, 1)))).contains("RFC4391-6-02"));
    }
    SECTION("when the GRH names another port") {
        auto packet = naming(story, c, b, a);
        CHECK(violated(story(marked(packet).set(Deth::src_qp, 0x999).set(Deth::q_key, another_q_key))) == Ids{});
    }
}

TEST_CASE("Belonging: what RDMA programs send to an IP group is theirs, from queue pairs of their own") {
    auto story = both_up();
    story.join(a, story.group(address), mlid);
    const auto to_group = [&](std::uint32_t qpn) {
        auto packet = multicast(a, story.group(address), mlid, story.link).set(Deth::src_qp, qpn);
        return packet.set(Encap::type, EtherType{0x4d50}).set(Encap::reserved, 0x4147);
    };
    SECTION("of another program") { CHECK(violated(story(to_group(a.qpn + 1))) == Ids{}); }
    SECTION("of another program, in a capture that cuts frames") {
        constexpr std::size_t kept = 96;
        auto packet = to_group(a.qpn + 1);
        story.cut(packet.add(std::vector<std::uint8_t>(std::size_t{100}, std::uint8_t{0x55})), kept);
        CHECK(violated(story) == Ids{});
    }
    SECTION("some of it looks like a Type") {
        const auto counter = [&](std::uint32_t number) {
            return to_group(a.qpn + 1)
                .set(Encap::type, EtherType{static_cast<std::uint16_t>(number << 8)})
                .set(Encap::reserved, 0);
        };
        for (std::uint32_t number = 1; number < 20; ++number) story(counter(number));
        CHECK(violated(story) == Ids{});
    }
    SECTION("of IPoIB itself") {
        story(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story(to_group(a.qpn))) == is_taken_for_ipoib);
    }
}

TEST_CASE("Belonging: a join of the broadcast group that is not a FullMember's may be another program's") {
    Story story;
    const auto broadcast = story.link.broadcast_gid();
    story.join(a, broadcast, story.link.broadcast_mlid, join_state::send_only_non_member);
    SECTION("on a port that is not seen on the link") {
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4391-5-02"});
    }
    SECTION("who uses the link needs more") {
        CHECK(violated(story(arp_request(a, b.ipv4, story.link))) == Ids{"RFC4391-5-02-state"});
    }
    SECTION("whose port is a FullMember by what the SA answers") {
        auto record =
            group_record(a, story.link, broadcast, story.link.broadcast_mlid, join_state::send_only_non_member);
        story(mc_member(a, sa, Method::set, 0x99, record, mask::join));
        record.set(McMemberRecord::join_state, join_state::full_member | join_state::send_only_non_member);
        story(mc_member(sa, a, Method::get_resp, 0x99, record, mask::join));
        CHECK(violated(story(arp_request(a, b.ipv4, story.link))) == Ids{});
    }
}

TEST_CASE("Belonging: who has an answer heeds no second one to the same question") {
    auto story = both_up();
    const auto group = story.group(address);
    const auto record = [&](std::uint16_t told) {
        return group_record(a, story.link, group, told, join_state::full_member);
    };
    const auto asks = [&] { story(mc_member(a, sa, Method::set, 0x77, record(mlid), mask::join)); };
    const auto answers = [&](std::uint16_t told, std::uint16_t status = 0) {
        story(mc_member(sa, a, Method::get_resp, 0x77, record(told), mask::join).set(Mad::status, status));
    };
    asks();
    answers(mlid);
    SECTION("late, and of before") {
        answers(mlid + 1);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
    SECTION("the first was lost on its way") {
        answers(mlid + 1);
        CHECK(violated(story(story.to_group(a, address, mlid + 1))) == Ids{});
    }
    SECTION("a refusal") {
        answers(0, sa_status::denied);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
    SECTION("but who has asked again does") {
        asks();
        answers(mlid + 1);
        // What was queued is on its way still.
        CHECK(violated(Story{story}(story.to_group(a, address, mlid))) == Ids{});
        story.pass(2);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{"RFC4391-10-03"});
    }
    SECTION("and one that says the same takes nothing away") {
        answers(mlid);
        CHECK(violated(story(story.to_group(a, address, mlid + 1))) == Ids{"RFC4391-10-03"});
    }
}

TEST_CASE("Belonging: a join that gives all parameters creates a group only if there was none") {
    auto story = both_up();
    const auto group = story.group(address);
    auto other = story.link;
    ++other.sl;
    const auto record = group_record(a, other, group, mlid, join_state::full_member);
    const auto create = [&](Story& to) -> Story& {
        auto asked = record;
        asked.set(McMemberRecord::mlid, 0);
        to(mc_member(a, sa, Method::set, 0x55, asked, mask::join | mask::create));
        return to(mc_member(sa, a, Method::get_resp, 0x55, record, mask::join | mask::create));
    };
    SECTION("nothing tells") {
        CHECK(violated(create(story)) == Ids{});
        CHECK(undecided(story).contains("RFC4391-10-17-sl"));
    }
    SECTION("the SA has said so before") {
        story.exchange(a, Method::get, group, 0, 0, sa_status::no_records);
        CHECK(violated(create(story)).contains("RFC4391-10-17-sl"));
    }
    SECTION("a report says so afterwards") {
        create(story)(group_report(sa, b, trap::multicast_group_created, group));
        CHECK(violated(story).contains("RFC4391-10-17-sl"));
    }
    SECTION("what the user says of the link says nothing of the group") {
        const auto broadcast = group_record(a, story.link, story.link.broadcast_gid(), story.link.broadcast_mlid, 1);
        inspection::Options options;
        options.assume = [&](state::Subnet& subnet) {
            subnet.assume(state::parameters_of(View<McMemberRecord>::at(broadcast.octets)), state::Source::assumed,
                          state::whole_record | state::facts(state::Fact::broadcast_gid));
        };
        const auto all = [](std::size_t) { return true; };
        Story late;
        CHECK_FALSE(violated(judged(create(late), all, options)).contains("RFC4391-10-17-sl"));
        late(group_report(sa, b, trap::multicast_group_created, group));
        CHECK(violated(judged(late, all, options)).contains("RFC4391-10-17-sl"));
    }
}

TEST_CASE("Belonging: a refused join takes nothing away from who may have been a member before the capture") {
    Story story;
    const auto group = story.group(address);
    SECTION("seen on the link before") { story(arp_request(a, b.ipv4, story.link)); }
    SECTION("not seen before") {}
    story.join(a, group, mlid, join_state::full_member, sa_status::denied)(story.to_group(a, address, mlid));
    CHECK_FALSE(violated(story).contains("RFC4391-10-08-refused"));
    CHECK(undecided(story).contains("RFC4391-10-08-refused"));
}

TEST_CASE("Belonging: a join of the broadcast group may be another program's, of a port that was on the link before") {
    Story story;
    const auto group = story.group(address);
    story.join_link(a).join_link(b);
    SECTION("and in the group that it sends to") {
        story.join(b, group, mlid)(story.to_group(a, address, mlid));
        CHECK(undecided(story) == Ids{"RFC4391-10-02", "RFC4391-10-08"});
    }
    SECTION("and in one of which the capture tells nothing") {
        story(story.to_group(a, address, mlid));
        CHECK(undecided(story) == Ids{"RFC4391-10-01", "RFC4391-10-02", "RFC4391-10-08"});
    }
    SECTION("and has subscribed to reports of groups") {
        story.join(a, group, mlid, join_state::send_only_non_member)(story.to_group(a, address, mlid)).pass(40);
        story(story.to_group(a, address, mlid));
        CHECK(undecided(story) == Ids{"RFC4391-10-12"});
    }
    SECTION("and in the group that it is asked in") {
        const auto asked = solicited_node_group(a.ipv6);
        story.join(b, mgid_for_ipv6(asked, story.link.p_key, story.link.scope), mlid, join_state::send_only_non_member);
        story(neighbour_solicitation(b, a.ipv6, mlid, story.link))(neighbour_advertisement(a, b, story.link));
        CHECK(undecided(story).contains("RFC4392-1.2-03"));
    }
    SECTION("and knew its neighbour") {
        auto anew = b;
        anew.qpn = b.qpn + 0x100;
        story(arp_request(c, a.ipv4, story.link))(arp_reply(a, c, story.link));
        story(arp_request(c, b.ipv4, story.link))(arp_reply(anew, c, story.link))(echo_request(a, b, story.link, 1));
        CHECK(undecided(story).contains("RFC4391-9.1.1-04-ipv4"));
    }
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Belonging: nobody was in a group before it was created") {
    Story story;
    const auto group = story.group(address);
    story.join_link(a).join_link(b);
    SECTION("created since the port has joined the link") {
        story.join(b, group, mlid)(group_report(sa, b, trap::multicast_group_created, group));
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{"RFC4391-10-08"});
    }
    SECTION("created before") {
        Story late;
        late(group_report(sa, b, trap::multicast_group_created, group)).join_link(a).join_link(b);
        CHECK(violated(late(late.to_group(a, address, mlid))) == Ids{});
    }
}

TEST_CASE("Belonging: the number of a transaction that has ended may be used again") {
    auto story = both_up();
    const auto group = story.group(address);
    const auto record = group_record(a, story.link, group, mlid, join_state::full_member);
    constexpr std::uint64_t always = 0x1234;
    const auto asks = [&](Method method) { story(mc_member(a, sa, method, always, record, mask::join)); };
    const auto answers = [&](std::uint16_t status) {
        story(mc_member(sa, a, Method::get_resp, always, record, mask::join).set(Mad::status, status));
    };
    asks(Method::get);
    answers(sa_status::no_records);
    asks(Method::set);
    answers(sa_status::denied);
    asks(Method::set);
    SECTION("and answered otherwise") {
        answers(0);
        story(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{});
        CHECK(observed(story).contains("RFC4391-10-08"));
    }
    SECTION("and the answer is not captured") {
        story(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story).contains("RFC4391-10-08-refused"));
    }
}

TEST_CASE("Belonging: of two GIDs at one LID either makes the port a member") {
    auto story = both_up();
    auto alias = a;
    alias.gid = Gid::of(a.gid.prefix(), a.gid.interface_id() + 0x100);
    story.up(alias)(arp_request(alias, b.ipv4, story.link));
    story.join(a, story.group(address), mlid);
    CHECK(violated(story(story.to_group(alias, address, mlid))) == Ids{});
}

TEST_CASE("Belonging: who has answered a question that is not captured may know more than the capture") {
    auto story = resolved();
    const auto link = story.link;
    auto anew = b;
    anew.qpn = b.qpn + 0x100;
    SECTION("nothing unseen") { CHECK_FALSE(violated(story(echo_request(a, anew, link, 1))).empty()); }
    SECTION("an answer to an unseen request") {
        story(arp_reply(a, anew, link))(echo_request(a, anew, link, 1));
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Belonging: how an SL is found is not defined") {
    auto story = resolved();
    story.path(a, b, 3);
    CHECK(violated(story(echo_request(a, b, story.link, 1).set(Lrh::sl, 5))) == Ids{});
    CHECK(undecided(story) == Ids{"RFC4391-9.1.2-05"});
}

TEST_CASE("Belonging: a packet tells the LID of the way back, also one that is not captured") {
    Story story;
    story.up(a).up(b)(arp_request(a, b.ipv4, story.link)).path(a, c);
    const auto by_another_lid = [](Story of) {
        return of(naming(of, a, c, c).set(Lrh::dlid, static_cast<std::uint16_t>(c.lid + 1)));
    };
    SECTION("of a port whose packets are all seen") {
        story.up(c)(arp_request(c, a.ipv4, story.link))(arp_reply(a, c, story.link));
        const auto told = by_another_lid(story)(echo_request(c, a, story.link, 1));
        CHECK(violated(told).count("RFC4391-9.1.2-01") == 1);
    }
    SECTION("of one that nothing is known of") {
        CHECK(violated(by_another_lid(story)) == Ids{});
        CHECK(undecided(by_another_lid(story)).count("RFC4391-9.1.2-01") == 1);
    }
}

TEST_CASE("Belonging: an interface that was seen before the scope of any broadcast-GID is on no link yet") {
    Story story;
    const auto usual = samples::controlled();
    auto wide = usual;
    wide.scope = usual.scope == 5 ? 2 : 5;
    // One link's interfaces resolve each other, another link's broadcast-GID is the first to be seen.
    story(neighbour_solicitation(b, a.ipv6, 0xc008, usual))(neighbour_advertisement(a, b, usual));
    story(arp_request(c, sa.ipv4, wide))(neighbour_solicitation(a, b.ipv6, 0xc008, usual));
    CHECK(violated(story) == Ids{});
}

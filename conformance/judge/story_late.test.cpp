// SPDX-License-Identifier: GPL-2.0-or-later
// Stories in which something comes late, or its port could not act: nobody is to be blamed for that.
#include "conformance/judge/test_story.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mgid.hpp"

namespace ipoib::testing {
namespace {

constexpr const char* address = "239.1.2.3";
constexpr std::uint32_t address_number = 0xef010203;

/// A request whose answer comes when it is called for.
struct Slow {
    Story& story;
    const Node& port;
    Method method;
    Gid mgid;
    std::uint16_t group_mlid;
    std::uint8_t state;
    std::uint64_t transaction;

    [[nodiscard]] PacketBuilder packet(const Node& from, const Node& to, Method as, std::uint16_t told) const {
        const auto record = build::group_record(port, story.link, mgid, told, state);
        return mc_member(from, to, as, transaction, record, mask::join);
    }
    void ask() const { story(packet(port, sa, method, 0)); }
    void answer(const Node& to) const {
        story(packet(sa, to, method == Method::del ? Method::delete_resp : Method::get_resp, group_mlid));
    }
    void answer() const { answer(port); }
};

PacketBuilder acknowledged(const Node& by, std::uint16_t number, const Gid& mgid) {
    auto report = group_report(sa, by, number, mgid);
    return report.set(Mad::method, Method::report_resp).set(Lrh::slid, by.lid).set(Lrh::dlid, sa.lid);
}

}  // namespace

TEST_CASE("Late: an answer to an older request says nothing of what was granted since") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid);
    SECTION("a leave of the broadcast group, before the join that was granted") {
        const Slow leave{story, a, Method::del, story.link.broadcast_gid(), story.link.broadcast_mlid, 1, 0x901};
        leave.ask();
        story.join_link(a);
        leave.answer();
        story.pass(20)(arp_request(a, b.ipv4, story.link))(udp(a, b, story.link, 32));
        CHECK(violated(story) == Ids{});
    }
    SECTION("a leave of a group") {
        story.join(a, group, mlid, 4);
        const Slow leave{story, a, Method::del, group, mlid, 4, 0x902};
        leave.ask();
        story.join(a, group, mlid, 4);
        leave.answer();
        story.pass(20)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
    }
    SECTION("a join that was given up, of the group that was before") {
        const Slow join{story, a, Method::set, group, mlid + 1, 4, 0x903};
        join.ask();
        story.pass(5).join(a, group, mlid, 4);
        join.answer();
        story.pass(20)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
    }
    SECTION("but the answer to the last one does") {
        story.join(a, group, mlid, 4).leave(a, group, mlid, 4).pass(20)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused"});
    }
}

TEST_CASE("Late: who is taken out of a group by another's hand does not hear of it") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid).join(a, group, mlid, 4);
    const Slow leave{story, a, Method::del, group, mlid, 4, 0x904};
    leave.answer(c);
    story.pass(20)(story.to_group(a, address, mlid));
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Late: an answer of an administrator that is not known leaves open what it said") {
    auto story = both_up();
    const auto group = story.group(address);
    auto other = sa;
    other.lid = 0x77;
    const auto record = build::group_record(a, story.link, group, mlid, 4);
    story(mc_member(other, a, Method::get_resp, 0x905, record, mask::join)).pass(2)(story.to_group(a, address, mlid));
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Late: a refused FullMember is still the sender that it was") {
    Story story;
    story.join_link(a).join_link(b);
    const auto group = story.group(address);
    story.join(b, group, mlid).join(a, group, mlid, 1, sa_status::denied).pass(2)(story.to_group(a, address, mlid));
    CHECK(violated(story) == Ids{});
    CHECK(undecided(story).contains("RFC4391-10-08-refused"));
}

TEST_CASE("Duty: who could not do it is not blamed") {
    auto story = both_up();
    const auto link = story.link;
    const auto group = story.group(address);
    story.join(b, group, mlid, 4)(igmp(b, igmp_type::report_v2, address_number, mlid, link));
    const auto speaks = [&] { story(arp_request(b, a.ipv4, link)); };
    SECTION("a host that is gone") { story.pass(60); }
    SECTION("one that was away") {
        story.pass(60);
        const auto leaves_it_open = violated(story);
        CHECK(leaves_it_open == Ids{});
        speaks();
        CHECK(violated(story) == Ids{"RFC4391-10-15"});
        return;
    }
    SECTION("its link was down") {
        story.found(b).pass(40);
        speaks();
    }
    const auto stops = [&] {
        story.join(b, story.group("224.0.0.2"), mlid + 1, 4);
        story(igmp(b, igmp_type::leave, address_number, mlid + 1, link));
    };
    SECTION("who has had the time, and stops") {
        story.pass(40);
        stops();
        CHECK(violated(story) == Ids{"RFC4391-10-15"});
        return;
    }
    SECTION("who has not had the time, and stops") {
        story.pass(20);
        stops();
        story.pass(40);
        speaks();
    }
    SECTION("the group is gone") {
        story(group_report(sa, a, trap::multicast_group_deleted, group))
            .octets(acknowledged(a, trap::multicast_group_deleted, group).build())
            .pass(40);
        speaks();
    }
    SECTION("it has left it") {
        story.leave(b, group, mlid, 4).pass(40);
        speaks();
    }
    SECTION("it joins other groups, one after another") {
        for (std::uint16_t i = 1; i <= 40; ++i) {
            const auto other = "239.9.9." + std::to_string(i);
            story.join(b, story.group(other.c_str()), static_cast<std::uint16_t>(mlid + i)).pass(1);
        }
        speaks();
        const auto leaves_it_open = violated(story);
        CHECK(leaves_it_open == Ids{});
        story.pass(40);
        speaks();
        CHECK(violated(story) == Ids{"RFC4391-10-15"});
        return;
    }
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Duty: to ask for a subscription is all that a sender can do") {
    Story story;
    story.up(a).up(b).join(b, story.group(address), mlid).join(a, story.group(address), mlid, 4);
    story(story.to_group(a, address, mlid));
    const auto ask = [&](std::uint16_t number, std::uint64_t transaction) {
        story(subscription(a, sa, Method::set, transaction, number, {}));
    };
    const auto refuse = [&](std::uint16_t number, std::uint64_t transaction) {
        auto answer = subscription(sa, a, Method::get_resp, transaction, number, {});
        story(answer.set(Mad::status, sa_status::denied));
    };
    SECTION("both are refused") {
        for (const auto& [number, transaction] :
             {std::pair{trap::multicast_group_created, 0x910}, std::pair{trap::multicast_group_deleted, 0x911}}) {
            ask(number, static_cast<std::uint64_t>(transaction));
            refuse(number, static_cast<std::uint64_t>(transaction));
        }
        story.pass(40)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
    }
    SECTION("one is asked for, again and again") {
        for (int i = 0; i < 6; ++i) {
            ask(trap::multicast_group_created, 0x920);
            story.pass(8)(story.to_group(a, address, mlid));
        }
        CHECK(violated(story) == Ids{});
    }
    SECTION("one is asked for, and granted, for ever") {
        for (int i = 0; i < 20; ++i)
            story.subscribe(a, trap::multicast_group_created).pass(8)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-12"});
    }
    SECTION("only one was ever asked for") {
        story.subscribe(a, trap::multicast_group_created).pass(70)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-12"});
    }
}

TEST_CASE("Duty: an MGID stands for several groups, and who listens to one of them stays") {
    auto story = both_up();
    const auto link = story.link;
    const auto one = parse_gid("ff02::1:3").value(), other = parse_gid("ff05::1:3").value();
    const auto mgid = mgid_for_ipv6(one, link.p_key, link.scope);
    story.join(b, mgid, mlid);
    const auto says = [&](const Gid& group, std::uint8_t type) { story(mld_report(b, type, group, mlid, link)); };
    story.join(b, mgid_for_ipv6(all_mldv2_routers(), link.p_key, link.scope), mlid, 4);
    says(one, group_record::to_exclude);
    says(other, group_record::to_exclude);
    says(other, group_record::to_include);
    const auto later = [&] { story.pass(40)(arp_request(b, a.ipv4, link)); };
    SECTION("one is left") {
        later();
        CHECK(violated(story) == Ids{});
    }
    SECTION("none is left") {
        says(one, group_record::to_include);
        later();
        CHECK(violated(story) == Ids{"RFC4391-10-20"});
    }
}

TEST_CASE("Duty: every node stays in the group of all nodes, which it does not report") {
    auto story = both_up();
    const auto link = story.link;
    const auto all = parse_gid("ff05::1").value();
    story.join(b, mgid_for_ipv6(all, link.p_key, link.scope), mlid);
    story.join(b, mgid_for_ipv6(all_mldv2_routers(), link.p_key, link.scope), mlid, 4);
    for (const auto type : {group_record::to_exclude, group_record::to_include})
        story(mld_report(b, type, all, mlid, link));
    story.pass(40)(arp_request(b, a.ipv4, link));
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Late: what was queued before a group changed its place is on its way still") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
    story.join(b, group, mlid + 1).join(a, group, mlid + 1, 4);
    SECTION("for a moment") {
        story(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
    }
    SECTION("not for ever") {
        story.pass(5)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-03"});
    }
}

TEST_CASE("Late: an answer of the manager before is no new beginning") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid);
    const Slow old{story, a, Method::set, group, mlid + 1, 4, 0x930};
    old.ask();
    // Another one has taken over, and grants the same at its own LID.
    auto other = sa;
    other.lid = 0x77;
    const auto record = build::group_record(a, story.link, group, mlid, 4);
    story(mc_member(a, other, Method::set, 0x931, record, mask::join));
    story(mc_member(other, a, Method::get_resp, 0x931, record, mask::join));
    old.answer();
    story.pass(20)(story.to_group(a, address, mlid));
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Late: a broadcast group that has come back with another MLID alone leaves its link judged") {
    auto story = both_up();
    auto elsewhere = story.link;
    elsewhere.broadcast_mlid = story.link.broadcast_mlid + 5;
    const auto again = [&](const Node& port, std::uint64_t transaction) {
        const auto record = broadcast_record(port, elsewhere);
        story(mc_member(port, sa, Method::set, transaction, record, mask::join));
        story(mc_member(sa, port, Method::get_resp, transaction, record, mask::join));
    };
    again(a, 0x940);
    again(b, 0x941);
    story.pass(5);
    auto wrong = arp_request(a, b.ipv4, elsewhere);
    CHECK(violated(story(wrong.set(Deth::q_key, 0x80004242u))).contains("RFC4391-9.1.2-03"));
}

TEST_CASE("Late: a LID that nobody else has may be another one of a port whose LMC is not known") {
    // Beside the port's own, and nobody's.
    auto far = c;
    far.lid = 0x40;
    const auto sends_beside = [&](Story story) {
        story(arp_request(far, a.ipv4, story.link))(arp_reply(a, far, story.link));
        auto packet = unicast_with_grh(a, far, story.link);
        packet.add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, far.ipv4));
        packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request));
        story(packet.set(Lrh::dlid, 0x41))(echo_request(far, a, story.link, 1));
        return violated(story).count("RFC4391-9.1.2-01");
    };
    Story story;
    story.up(a).up(b).path(a, far);
    CHECK(sends_beside(Story{story}.join_link(far)) == 0);
    CHECK(sends_beside(Story{story}.up(far)) == 1);
}

TEST_CASE("Late: an interface that has joined the link of another scope is on that") {
    auto story = both_up();
    auto wide = story.link;
    wide.scope = 5;
    wide.broadcast_mlid = 0xc077;
    story(arp_request(a, b.ipv4, story.link));
    const auto sends = [&](Story of) {
        of.pass(2)(arp_request(a, b.ipv4, wide))(udp_to_group(a, address_number, mlid, wide, 32));
        return violated(of).count("RFC4391-4-11");
    };
    CHECK(sends(story) == 1);
    story.join(a, wide.broadcast_gid(), wide.broadcast_mlid);
    CHECK(sends(story) == 0);
}

TEST_CASE("Late: who keeps the Q_Key that all others have left behind needs time to hear of the new one") {
    Story story;
    const auto link = story.link;
    auto request = arp_request(c, b.ipv4, link);
    request.set(Deth::q_key, 0x80004242u);
    const auto others_go_on = [&](int seconds) {
        story(request).pass(seconds)(arp_request(a, b.ipv4, link));
        story(arp_request(b, a.ipv4, link));
        return violated(story(request)).count("RFC4391-9.1.2-03-others");
    };
    story(arp_request(a, b.ipv4, link))(arp_request(b, a.ipv4, link));
    SECTION("a second") { CHECK(others_go_on(1) == 0); }
    SECTION("long") { CHECK(others_go_on(6) == 1); }
}

TEST_CASE("Changed: a broadcast group that has come back with other parameters binds each port from when it was told") {
    constexpr std::uint32_t other_q_key = 0x80004391;
    constexpr const char* q_key_of_link = "RFC4391-9.1.2-03";
    auto story = both_up();
    auto now = story.link;
    now.q_key = other_q_key;
    now.mtu = 3;
    const auto joins = [&](const Node& port) {
        const auto record = broadcast_record(port, now);
        const auto transaction = 0x950u + port.lid;
        story(mc_member(port, sa, Method::set, transaction, record, mask::join));
        story(mc_member(sa, port, Method::get_resp, transaction, record, mask::join));
    };
    const auto sends = [&](const build::Link& as) { return violated(Story{story}(udp(a, b, as, 32))); };
    joins(b);
    SECTION("who has not asked since goes on as before") {
        story.pass(100);
        CHECK(sends(story.link) == Ids{});
    }
    SECTION("who was told needs time") {
        joins(a);
        story.pass(3)(arp_request(a, b.ipv4, now));
        CHECK(sends(story.link) == Ids{});
        CHECK(sends(now) == Ids{});
    }
    SECTION("who was told long ago has it") {
        joins(a);
        story.pass(40)(arp_request(a, b.ipv4, now));
        CHECK(sends(now) == Ids{});
        CHECK(sends(story.link).contains(q_key_of_link));
        CHECK(violated(Story{story}(udp(a, b, now, 1500))).contains("RFC4391-7-05"));
    }
    SECTION("a group that has stayed has the Q_Key that it had") {
        story.join(a, story.group(address), mlid, 4);
        joins(a);
        story.pass(40)(arp_request(a, b.ipv4, now));
        const auto sends_to_group = [&](std::uint32_t q_key) {
            auto packet = story.to_group(a, address, mlid);
            return violated(Story{story}(packet.set(Deth::q_key, q_key))).contains(q_key_of_link);
        };
        CHECK_FALSE(sends_to_group(story.link.q_key));
        CHECK(sends_to_group(0x80004242));
    }
    SECTION("who is told that it is as it was has that") {
        joins(a);
        story.pass(10);
        story.join_link(a).pass(40)(arp_request(a, b.ipv4, story.link));
        CHECK(sends(story.link) == Ids{});
        CHECK(sends(now).contains(q_key_of_link));
    }
    SECTION("who has asked otherwise may know either") {
        joins(a);
        const auto record = broadcast_record(a, story.link);
        story(mc_member(a, sa, Method::get, 0x970, record, mask::mgid));
        story(mc_member(sa, a, Method::get_resp, 0x970, record, mask::mgid)).pass(40);
        story(arp_request(a, b.ipv4, now));
        CHECK(sends(story.link) == Ids{});
        CHECK(sends(now) == Ids{});
    }
}

}  // namespace ipoib::testing

// SPDX-License-Identifier: GPL-2.0-or-later
// Questions of IP and their answers, groups and their records, over a link's life: what rules must catch.
#include "conformance/judge/test_story.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mgid.hpp"

#include <tuple>

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr auto address = "239.1.2.3";
constexpr std::uint32_t override_flag = 0x20000000;

Gid solicited(const Story& story) {
    return mgid_for_ipv6(parse_gid("ff02::1:ff10:2").value(), story.link.p_key, story.link.scope);
}
PacketBuilder echo_reply6(const Node& from, const Node& to, const Story& story) {
    auto packet = echo_request6(from, to, story.link, 1);
    return packet.set(Icmpv6::type, Icmpv6Type{129});
}
PacketBuilder echo_to_group(const Node& from, const Story& story, const char* group = address) {
    constexpr std::uint16_t number = 0x7707;
    auto packet = multicast(from, story.group(group), mlid, story.link);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, parse_ipv4(group).value()));
    return packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request).set(Icmp::identifier, number));
}
PacketBuilder answer_to_group(const Node& from, const Node& to, const Story& story) {
    constexpr std::uint16_t number = 0x7707;
    auto packet = unicast(from, to, story.link);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, to.ipv4));
    return packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_reply).set(Icmp::identifier, number));
}
/// The IP packet of `packet` behind other octets than the encapsulation header.
PacketBuilder behind(std::string_view header, const PacketBuilder& packet, PacketBuilder headers) {
    const auto frame = packet.build();
    Packet decoded;
    decode(frame, decoded);
    auto octets = golden::octets(header);
    const auto datagram = decoded.payload.subspan(Encap::size);
    octets.insert(octets.end(), datagram.begin(), datagram.end());
    return headers.remove<Encap>().add(octets);
}

}  // namespace

TEST_CASE("Answers: an echo of ICMPv6 that was asked for with another Q_Key") {
    auto story = both_up();
    story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link));
    auto question = echo_request6(a, b, story.link, 1);
    SECTION("wrong key") {
        story(question.set(Deth::q_key, 0x80004242u))(echo_reply6(b, a, story));
        CHECK(violated(story).count("RFC4391-3-01") == 1);
    }
    SECTION("right key") {
        story(question)(echo_reply6(b, a, story));
        CHECK(violated(story) == Ids{});
        CHECK(observed(story).count("RFC4391-3-01") == 1);
    }
}

TEST_CASE("Answers: an advertisement without an option answers a solicitation in a group") {
    auto story = both_up();
    story.join(b, solicited(story), mlid).join(a, solicited(story), mlid, 4);
    auto answer = neighbour_advertisement(b, a, story.link);
    auto bare = answer;
    bare.remove<LinkAddressOption>();
    SECTION("without") {
        story(neighbour_solicitation(a, b.ipv6, mlid, story.link));
        CHECK(violated(story(bare)) == Ids{"RFC4391-9.3-01-answer"});
    }
    SECTION("with") {
        story(neighbour_solicitation(a, b.ipv6, mlid, story.link));
        CHECK(violated(story(answer)) == Ids{});
        CHECK(observed(story).count("RFC4391-9.3-01-answer") == 1);
    }
    SECTION("unasked") { CHECK(violated(story(bare)) == Ids{}); }
}

TEST_CASE("Answers: an advertisement with another port's GID") {
    auto story = both_up();
    story.up(c)(arp_request(c, a.ipv4, story.link))(arp_request(b, a.ipv4, story.link));
    auto answer = neighbour_advertisement(b, a, story.link);
    answer.set(LinkAddressOption::gid, c.gid).set(Icmpv6::body, override_flag);
    SECTION("its own") { CHECK(violated(story(answer)).count("RFC4391-9.1.1-07-nd-port") == 1); }
    SECTION("one that may be a proxy's") {
        answer.set(Icmpv6::body, 0);
        CHECK(violated(story(answer)).count("RFC4391-9.1.1-07-nd-port") == 0);
    }
}

TEST_CASE("Groups: other groups have the broadcast group's parameters, or those of their record") {
    auto story = both_up();
    story.join(b, story.group(address), mlid).join(a, story.group(address), mlid, 4);
    auto packet = story.to_group(a, address, mlid);
    SECTION("the same") {
        CHECK(violated(story(packet)) == Ids{});
        CHECK(observed(story).count("RFC4391-4.1-09-tclass") == 1);
    }
    SECTION("TClass") { CHECK(violated(story(packet.set(Grh::traffic_class, 0))) == Ids{"RFC4391-4.1-09-tclass"}); }
    SECTION("FlowLabel") { CHECK(violated(story(packet.set(Grh::flow_label, 7))) == Ids{"RFC4391-4.1-09-flow-label"}); }
    SECTION("HopLimit") { CHECK(violated(story(packet.set(Grh::hop_limit, 9))) == Ids{"RFC4391-4.1-09-hop-limit"}); }
}

TEST_CASE("Groups: the SA tells two members of one group two MLIDs") {
    auto story = both_up();
    const auto group = story.group(address);
    SECTION("while the first is a member") {
        story.join(b, group, mlid).join(a, group, 0xc0aa, 4);
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4392-1.2.1.2-03-joins"});
    }
    SECTION("of a group that was made anew") {
        story.join(b, group, mlid).leave(b, group, mlid).join(a, group, 0xc0aa, 1);
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{});
    }
    SECTION("one MLID") {
        story.join(b, group, mlid).join(a, group, mlid, 4);
        CHECK(violated(story) == Ids{});
        CHECK(observed(story).count("RFC4392-1.2.1.2-03-joins") == 1);
    }
}

TEST_CASE("Groups: a sender gives its subscription up and sends on") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid)).pass(31);
    const auto give_up = [&] {
        for (const auto& [from, to, method] : {std::tuple{a, sa, Method::set}, std::tuple{sa, a, Method::get_resp}}) {
            auto packet = subscription(from, to, method, 0x7000, trap::multicast_group_deleted, {});
            story(packet.set(InformInfo::subscribe, 0));
        }
    };
    SECTION("sends on") {
        give_up();
        story(story.to_group(a, address, mlid)).pass(31)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-12"});
    }
    SECTION("sends no more") {
        give_up();
        story.pass(40);
        CHECK(violated(story) == Ids{});
    }
    SECTION("subscribes again") {
        give_up();
        story(story.to_group(a, address, mlid)).subscribe(a, trap::multicast_group_deleted).pass(40);
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Answers: to an echo in a group that the answerer has not joined") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid)(arp_request(b, a.ipv4, story.link));
    SECTION("a sender alone") {
        story.join(b, group, mlid, join_state::send_only_non_member)(echo_to_group(a, story));
        CHECK(violated(story(answer_to_group(b, a, story))) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4392-1.2-03"});
    }
    SECTION("a member") {
        story.join(b, group, mlid)(echo_to_group(a, story));
        CHECK(violated(story(answer_to_group(b, a, story))) == Ids{});
        CHECK(observed(story).count("RFC4392-1.2-03") == 1);
    }
    SECTION("it was asked by unicast, too") {
        auto alone = echo_to_group(a, story);
        auto packet = unicast(a, b, story.link);
        packet.add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, b.ipv4));
        packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request).set(Icmp::identifier, 0x7707));
        story(alone)(packet);
        CHECK(violated(story(answer_to_group(b, a, story))) == Ids{});
    }
    SECTION("a router has passed it on to another group") {
        story(echo_to_group(a, story));
        auto again = echo_to_group(a, story);
        const auto routers = story.group("224.0.0.2");
        story.join(a, routers, mlid)(again.set(Grh::dgid, routers));
        CHECK(undecided(story(answer_to_group(b, a, story))).count("RFC4392-1.2-03") == 0);
    }
    SECTION("from an address of another port") {
        story(echo_to_group(a, story));
        auto answer = answer_to_group(b, a, story);
        CHECK(undecided(story(answer.set(Ipv4::source, c.ipv4))).count("RFC4392-1.2-03") == 0);
    }
}

TEST_CASE("Frames: IP that stands behind no header of RFC 4391") {
    auto story = both_up();
    const auto link = story.link;
    story(arp_request(a, b.ipv4, link))(arp_reply(b, a, link));
    const auto v4 = echo_request(a, b, link, 1), v6 = echo_request6(a, b, link, 1);
    const auto to_b = unicast(a, b, link);
    SECTION("none") {
        for (const auto& ip : {v4, v6}) {
            auto wrong = story;
            CHECK(violated(wrong(behind("", ip, to_b))) == Ids{"RFC4391-6-01-interface"});
        }
    }
    SECTION("Ethernet's") {
        story(behind("000000000000 000000000000 0800", v4, to_b));
        CHECK(violated(story) == Ids{"RFC4391-6-01-interface"});
    }
    SECTION("none, in a group") {
        const auto group = story.group(address);
        story.join(a, group, mlid);
        story(behind("", v4, multicast(a, group, mlid, link)));
        CHECK(violated(story).count("RFC4391-6-01") == 1);
    }
    SECTION("another program's: another Q_Key, another queue pair, another Type") {
        auto other_key = behind("", v4, to_b), other_pair = other_key;
        story(other_key.set(Deth::q_key, 0x11111111))(other_pair.set(Bth::dest_qp, 0x99));
        story(behind("88470000 00000140", v4, to_b))(behind("65580000 000000000000 000000000000 0800", v4, to_b));
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Groups: packets that were redirected go to their own group once it is created") {
    auto story = both_up();
    const auto group = story.group(address), routers = story.group("224.0.0.2");
    story.join(b, routers, mlid).join(a, routers, mlid, 4).exchange(a, Method::get, group, 0, 0, sa_status::no_records);
    auto redirected = story.to_group(a, address, mlid);
    redirected.set(Grh::dgid, routers);
    story(redirected).join(b, group, 0xc010)(group_report(sa, a, trap::multicast_group_created, group));
    auto acknowledged = group_report(a, sa, trap::multicast_group_created, group);
    acknowledged.set(Mad::method, Method::report_resp);
    SECTION("told long ago") { CHECK(violated(story(acknowledged).pass(6)(redirected)) == Ids{"RFC4391-10-13"}); }
    SECTION("told just now") { CHECK(violated(story(acknowledged)(redirected)) == Ids{}); }
    SECTION("not told") { CHECK(violated(story.pass(6)(redirected)) == Ids{}); }
    SECTION("its join is refused") {
        story(acknowledged).join(a, group, 0, 4, sa_status::denied).pass(6)(redirected);
        CHECK(violated(story) == Ids{});
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
// What an SM that has started anew explains. It asks its ports to register by Subnet Management Packets, which the
// evidence of a run does not hold, and which many captures do not show.
#include "conformance/judge/test_story.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr const char* address = "239.1.2.3";
constexpr std::uint16_t new_mlid = 0xc0aa;

Ids violated_as_evidence(const Story& story) {
    return violated(judged(story, [](std::size_t) { return true; }, {.is_whole = true}));
}

/// A port that was on the link before the first frame.
Story lives_on() {
    Story story;
    story(arp_request(a, b.ipv4, story.link));
    return story;
}

PacketBuilder echo_to(const Gid& group, const Node& from, const Story& story) {
    auto packet = multicast(from, group, mlid, story.link);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, parse_ipv4(address).value()));
    return packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request).set(Icmp::identifier, 0x7707));
}
PacketBuilder echo_back(const Node& from, const Node& to, const Story& story) {
    auto packet = unicast(from, to, story.link);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, to.ipv4));
    return packet.add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_reply).set(Icmp::identifier, 0x7707));
}

}  // namespace

TEST_CASE("Restart: a group that is made anew has another MLID") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid).pass(5);
    SECTION("another port is the first to join it") { story.join(b, group, new_mlid).join(a, group, new_mlid); }
    SECTION("its member is the first") { story.join(a, group, new_mlid).join(b, group, new_mlid); }
    SECTION("its member does not come back") { story.join(b, group, new_mlid).pass(60); }
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: a group that did not exist is the administrator's now") {
    auto story = both_up();
    const auto group = story.group(address);
    story.exchange(a, Method::get, group, 0, 0, sa_status::no_records).pass(5);
    story.join(a, group, mlid, join_state::send_only_non_member)(story.to_group(a, address, mlid));
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: it takes longer than a moment") {
    auto story = both_up();
    const auto group = story.group(address);
    SECTION("a group has another MLID") {
        story.join(a, group, mlid).join(b, group, new_mlid);
        CHECK(violated_as_evidence(story) == Ids{"RFC4392-1.2.1.2-03-joins"});
    }
    SECTION("a group that did not exist is there") {
        story.exchange(a, Method::get, group, 0, 0, sa_status::no_records);
        story.join(a, group, mlid, join_state::send_only_non_member);
        CHECK(violated_as_evidence(story) == Ids{"RFC4392-1.3.2.1-01"});
    }
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: a port that has come to the link since knows no MLID from before") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, new_mlid)(story.to_group(a, address, mlid));
    CHECK(violated_as_evidence(story).contains("RFC4391-10-03"));
}

TEST_CASE("Restart: a port sends to the MLID that it knows until it is asked to register") {
    auto story = lives_on();
    const auto group = story.group(address);
    story.join(b, group, new_mlid)(story.to_group(a, address, mlid));
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: a port goes by the broadcast group that it knows until it is asked to register") {
    auto story = lives_on();
    const auto before = story.link;
    story.link.q_key = 0x80001234;
    story.join_link(b)(arp_request(a, b.ipv4, before)).join_link(a)(arp_request(a, b.ipv4, story.link));
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: a join again that is refused takes no membership away") {
    auto story = lives_on();
    const auto group = story.group(address);
    SECTION("of a group") { story.join(a, group, mlid, 1, sa_status::no_resources)(story.to_group(a, address, mlid)); }
    SECTION("of the broadcast group") {
        story.join(a, story.link.broadcast_gid(), story.link.broadcast_mlid, 1, sa_status::no_resources);
        story(arp_request(a, b.ipv4, story.link));
    }
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

TEST_CASE("Restart: who joins the broadcast group again is in its groups still") {
    auto story = lives_on();
    const auto group = story.group(address);
    SECTION("as a sender") {
        story.join_link(a)(story.to_group(a, address, mlid)).pass(40)(story.to_group(a, address, mlid));
    }
    SECTION("as a receiver") {
        story.join_link(a).join(b, group, mlid)(echo_to(group, b, story))(echo_back(a, b, story));
    }
    CHECK(violated_as_evidence(story) == Ids{});
    CHECK(violated(story) == Ids{});
}

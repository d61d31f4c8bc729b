// SPDX-License-Identifier: GPL-2.0-or-later
// Rules that need what earlier frames have told: what each must catch, and what it must not.
#include "conformance/judge/test_story.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/smp.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr auto address = "239.1.2.3";
constexpr std::uint32_t address_number = 0xef010203;
constexpr std::uint16_t leave_mlid = 0xc009;

/// Two ports come up, resolve each other, use a group and leave it, all as the texts want it.
Story life() {
    auto story = both_up();
    const auto link = story.link;
    const auto group = story.group(address), routers = story.group("224.0.0.2");
    story(arp_request(a, b.ipv4, link)).path(b, a, 3)(arp_reply(b, a, link)).path(a, b, 3);
    for (std::uint16_t i = 1; i < 4; ++i) story(echo_request(a, b, link, i))(echo_reply(b, a, link, i));
    story.join(b, group, mlid)(igmp(b, igmp_type::report_v2, address_number, mlid, link));
    story.join(a, group, mlid, join_state::send_only_non_member);
    for (int i = 0; i < 5; ++i) story(story.to_group(a, address, mlid));
    story.join(b, routers, leave_mlid, join_state::send_only_non_member);
    story(igmp(b, igmp_type::leave, address_number, leave_mlid, link)).leave(b, group, mlid);
    story.leave(a, group, mlid, join_state::send_only_non_member);
    return story.pause(60 * second)(echo_request(a, b, link, 9))(echo_reply(b, a, link, 9));
}

}  // namespace

TEST_CASE("Story: a right life breaks nothing, and shows what one packet cannot") {
    const auto story = life();
    CHECK(violated(story) == Ids{});
    const auto seen = observed(story);
    for (const auto* id : {"RFC4391-3-01",     "RFC4391-5-01",          "RFC4391-5-02-sends",    "RFC4391-9-01",
                           "RFC4391-9.1-01",   "RFC4391-9.1.1-04-ipv4", "RFC4391-9.1.1-05",      "RFC4391-9.1.1-07",
                           "RFC4391-9.1.2-01", "RFC4391-9.1.2-05",      "RFC4391-10-01",         "RFC4391-10-02",
                           "RFC4391-10-03",    "RFC4391-10-08",         "RFC4391-10-08-refused", "RFC4391-10-12",
                           "RFC4391-10-15",    "RFC4391-10-20",         "RFC4392-1.2-03",        "RFC4392-4.1-01",
                           "RFC4392-4.2.5-02"}) {
        CAPTURE(id);
        CHECK(seen.count(id) == 1);
    }
}

TEST_CASE("Story: a capture that lacks frames never shows more violations") {
    const auto story = life();
    const auto whole = violated(story);
    const auto count = story.moments().size();
    for (std::size_t at = 0; at < count; ++at) {
        CAPTURE(at);
        CHECK(violated(judged(story, [&](std::size_t i) { return i >= at; })) == whole);
        CHECK(violated(judged(story, [&](std::size_t i) { return i < at; })) == whole);
        CHECK(violated(judged(story, [&](std::size_t i) { return i != at; })) == whole);
    }
}

TEST_CASE("Story: frames that come twice, or two by two in the wrong order, change nothing") {
    const auto story = life();
    Judge doubled{rules::every(), 0}, swapped{rules::every(), 0};
    auto feed = [number = std::uint64_t{0}](Judge& judge, const testing::Moment& moment) mutable {
        judge.frame({.number = ++number,
                     .time_ns = moment.time,
                     .link_type = capture::LinkType::infiniband,
                     .octets = moment.octets,
                     .wire_length = static_cast<std::uint32_t>(moment.octets.size())});
    };
    for (const auto& moment : story.moments()) {
        feed(doubled, moment);
        feed(doubled, moment);
    }
    for (std::size_t i = 0; i + 1 < story.moments().size(); i += 2) {
        feed(swapped, story.moments()[i + 1]);
        feed(swapped, story.moments()[i]);
    }
    CHECK(violated(doubled) == Ids{});
    CHECK(violated(swapped) == Ids{});
}

TEST_CASE("Story: sending to a group without asking the SA, without a join, or after a refusal") {
    auto story = both_up();
    const auto group = story.group(address);
    SECTION("never asked") {
        story.join(b, group, mlid);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{"RFC4391-10-02", "RFC4391-10-08"});
    }
    SECTION("a group that nobody has created") {
        CHECK(violated(story(story.to_group(a, address, mlid))) ==
              Ids{"RFC4391-10-01", "RFC4391-10-02", "RFC4391-10-08"});
    }
    SECTION("refused") {
        story.join(b, group, mlid).join(a, group, mlid, 4, sa_status::denied);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused"});
    }
    SECTION("left long ago") {
        story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        story.leave(a, group, mlid, 4).pass(20);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused"});
    }
    SECTION("left long ago by a clock that may have been set in between") {
        story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        story.leave(a, group, mlid, 4).pause(20 * second)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused"});
    }
    SECTION("left just now: what was queued may still come") {
        story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid)).leave(a, group, mlid, 4);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
    SECTION("the start is not captured") {
        Story late;
        CHECK(violated(late(late.to_group(a, address, mlid))) == Ids{});
    }
    SECTION("an answer whose request is not there: others may be missing as well") {
        const auto record = build::group_record(a, story.link, story.group("239.9.9.9"), 0xc020, 4);
        story(mc_member(sa, a, Method::get_resp, 0x4242, record, mask::join));
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
}

TEST_CASE("Story: a sender that has heard the report of its group's deletion") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
    SECTION("which may be a late one, of the group that was before its join") {
        story(group_report(sa, a, trap::multicast_group_deleted, group));
        auto late = group_report(sa, a, trap::multicast_group_deleted, group);
        story(late.set(Mad::method, Method::report_resp).set(Lrh::slid, a.lid).set(Lrh::dlid, sa.lid)).pass(20);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
    story.pass(11)(group_report(sa, a, trap::multicast_group_deleted, group));
    SECTION("has not been told without the acknowledgement") {
        story.pass(20);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
    auto heard = group_report(sa, a, trap::multicast_group_deleted, group);
    heard.set(Mad::method, Method::report_resp).set(Lrh::slid, a.lid).set(Lrh::dlid, sa.lid);
    story(heard);
    SECTION("may have packets queued") { CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{}); }
    SECTION("sends on") {
        story.pass(20);
        CHECK(violated(story(story.to_group(a, address, mlid))) ==
              Ids{"RFC4391-10-08", "RFC4391-10-08-refused", "RFC4392-1.3.2.3-02"});
    }
    SECTION("joins it again") {
        story.pass(20).join(a, group, mlid, 4);
        CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{});
    }
}

TEST_CASE("Story: without the record of the broadcast group the others tell its Q_Key") {
    Story story;
    const auto link = story.link;
    auto odd = arp_request(c, b.ipv4, link);
    odd.set(Deth::q_key, 0x80004242u);
    SECTION("one other may be the one that is wrong") {
        CHECK(violated(story(arp_request(a, b.ipv4, link))(odd)) == Ids{});
    }
    story(arp_request(a, b.ipv4, link))(arp_request(b, a.ipv4, link))(odd).pass(6);
    SECTION("two that agree may be behind the times") { CHECK(violated(story(odd)) == Ids{}); }
    SECTION("two that go on to agree are not") {
        CHECK(violated(story(arp_request(a, b.ipv4, link))(odd)) == Ids{"RFC4391-9.1.2-03-others"});
    }
}

TEST_CASE("Story: the DLID is the MLID that the SA told this port") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, 4);
    CHECK(violated(story(story.to_group(a, address, 0xc055))) == Ids{"RFC4391-10-03"});
    SECTION("a group made anew has another, which a sender that has not heard of it need not know") {
        auto other = both_up();
        other.join(a, group, mlid, 4).join(b, group, 0xc055);
        CHECK(violated(other(other.to_group(a, address, mlid))) == Ids{});
    }
}

TEST_CASE("Story: the broadcast group is used without a join") {
    Story story;
    const auto link = story.link;
    const auto refuse = [&](Story& of) {
        of.join(a, link.broadcast_gid(), link.broadcast_mlid, 1, sa_status::denied)(arp_request(a, b.ipv4, link));
    };
    // Of a port that may have been on the link before, another program may have asked once more.
    refuse(story);
    CHECK(violated(story) == Ids{});
    CHECK(undecided(story) == Ids{"RFC4391-5-02-sends"});
    Story cold;
    refuse(cold.found(a));
    CHECK(violated(cold) == Ids{"RFC4391-5-02-sends"});
    Story missing;
    missing.found(a).exchange(a, Method::get, link.broadcast_gid(), 0, 0, sa_status::no_records);
    CHECK(violated(missing(arp_request(a, b.ipv4, link))) == Ids{"RFC4391-5-02-sends"});
    // The host of the SM may have created it without a packet.
    CHECK(undecided(missing) == Ids{"RFC4391-5-01"});
}

TEST_CASE("Story: a port that has left the broadcast group uses the link") {
    auto story = both_up();
    const auto link = story.link;
    story(arp_request(a, b.ipv4, link))(arp_reply(b, a, link));
    story.leave(a, link.broadcast_gid(), link.broadcast_mlid).pass(20);
    story(arp_request(a, b.ipv4, link));
    CHECK(violated(story(echo_request(a, b, link, 1))) == Ids{"RFC4391-5-02-sends", "RFC4392-4.2.5-02"});
}

// RFC 4861, 4.3: what a message does not take is ignored.
TEST_CASE("Story: an option that its message does not take tells nobody's address") {
    auto story = both_up();
    const auto link = story.link;
    story.join(a, mgid_for_ipv6(parse_gid("ff02::1:ff10:2").value(), link.p_key, link.scope), mlid, 4);
    story(echo_request6(b, a, link, 1));
    auto question = neighbour_solicitation(a, b.ipv6, mlid, link);
    story(question.set(LinkAddressOption::type, LinkAddressOption::target));
    story(echo_request6(a, b, link, 1));
    CHECK(undecided(story) == Ids{});
    CHECK(violated(story) == Ids{"RFC4391-9.3-02"});
}

TEST_CASE("Story: unicast goes where ARP and the SA have said") {
    auto story = both_up();
    const auto link = story.link;
    story(arp_request(a, b.ipv4, link))(arp_reply(b, a, link)).path(a, b, 3);
    auto packet = echo_request(a, b, link, 1);
    SECTION("another QPN") { CHECK(violated(story(packet.set(Bth::dest_qp, 0x99u))) == Ids{"RFC4391-9.1.1-04-ipv4"}); }
    SECTION("another port's LID") {
        story.up(c);
        CHECK(violated(story(packet.set(Lrh::dlid, c.lid))) == Ids{"RFC4391-9.1-01", "RFC4391-9.1.2-01"});
    }
    SECTION("another QPN for IPv6") {
        story.join(a, mgid_for_ipv6(parse_gid("ff02::1:ff10:2").value(), link.p_key, link.scope), mlid, 4);
        story(neighbour_advertisement(b, a, link));
        auto packet6 = echo_request6(a, b, link, 1);
        CHECK(violated(story(packet6.set(Bth::dest_qp, 0x99u))) == Ids{"RFC4391-9.1.1-04-ipv6"});
    }
    SECTION("another SL") { CHECK(undecided(story(packet.set(Lrh::sl, 0))) == Ids{"RFC4391-9.1.2-05"}); }
    SECTION("a receiver that has come back with another QPN") {
        auto again = b;
        again.qpn = 0x77;
        story(arp_request(again, a.ipv4, link));
        CHECK(violated(story(echo_request(a, again, link, 1))(packet)) == Ids{});
    }
    SECTION("a reply to another QPN than the request announced") {
        auto reply = arp_reply(b, a, link);
        story(arp_request(a, b.ipv4, link));
        CHECK(violated(story(reply.set(Bth::dest_qp, 0x99u))) == Ids{"RFC4391-9.1.1-05"});
    }
    SECTION("a way on which the receiver's packets came") {
        auto from_there = echo_reply(b, a, link, 1);
        story(from_there.set(Lrh::sl, 5));
        CHECK(violated(story(packet.set(Lrh::sl, 5))) == Ids{});
    }
    SECTION("a router that was resolved, to an address that another port has announced") {
        auto router = c;
        router.qpn = 0x4a;
        story.up(router)(arp_request(router, a.ipv4, link));
        CHECK(violated(story(packet.set(Lrh::dlid, router.lid).set(Bth::dest_qp, router.qpn))) == Ids{});
    }
}

TEST_CASE("Story: a receiver in another subnet is reached with a GRH") {
    const auto told = [](std::uint64_t own, std::uint64_t other) {
        Story story;
        auto near = a, far = b;
        near.gid = Gid::of(own, a.gid.interface_id());
        far.gid = Gid::of(other, 0x0002c90300100099u);
        far.ipv4 = 0x0a010063;
        story.up(near).up(b)(arp_request(near, far.ipv4, story.link))(arp_reply(far, near, story.link));
        return std::tuple{story, near, far};
    };
    constexpr std::uint64_t here = 0xfec0000000000007u, there = 0xfec0000000000001u, usual = 0xfe80000000000000u;
    {
        auto [story, near, far] = told(here, there);
        CHECK(violated(story(echo_request(near, far, story.link, 1))).count("RFC4391-9.1-02") == 1);
    }
    {
        auto [story, near, far] = told(here, there);
        CHECK(violated(story(unicast_with_grh(near, far, story.link))).count("RFC4391-9.1-02") == 0);
    }
    // By the default prefix every port may be called, too. A subnet that has it, as its ports say, has no other.
    {
        auto [story, near, far] = told(here, usual);
        CHECK(violated(story(echo_request(near, far, story.link, 1))).count("RFC4391-9.1-02") == 0);
    }
    {
        auto [story, near, far] = told(usual, there);
        CHECK(violated(story(echo_request(near, far, story.link, 1))).count("RFC4391-9.1-02") == 1);
    }
}

TEST_CASE("Story: a GID that is another port's in the sender's link-layer address") {
    auto story = both_up();
    auto request = arp_request(a, b.ipv4, story.link);
    CHECK(violated(story(request.set(ArpAddresses::sha_gid, b.gid))).count("RFC4391-9.1.1-07") == 1);
}

TEST_CASE("Story: an answer to a packet with another Q_Key, and by a port outside of the group") {
    auto story = both_up();
    const auto link = story.link;
    auto request = arp_request(a, b.ipv4, link);
    SECTION("wrong key") {
        story(request.set(Deth::q_key, 0x80004242u))(arp_reply(b, a, link));
        CHECK(violated(story).count("RFC4391-3-01") == 1);
    }
    SECTION("a right one besides explains the answer") {
        story(arp_request(a, b.ipv4, link))(request.set(Deth::q_key, 0x80004242u))(arp_reply(b, a, link));
        CHECK(violated(story).count("RFC4391-3-01") == 0);
    }
    SECTION("not in the group") {
        const auto solicited = mgid_for_ipv6(parse_gid("ff02::1:ff10:2").value(), link.p_key, link.scope);
        story.join(a, solicited, mlid, 4)(neighbour_solicitation(a, b.ipv6, mlid, link));
        CHECK(violated(story(neighbour_advertisement(b, a, link))) == Ids{"RFC4392-1.2-03"});
    }
}

TEST_CASE("Story: one queue pair, one P_Key") {
    auto story = both_up();
    auto packet = echo_request(a, b, story.link, 1);
    story(arp_request(a, b.ipv4, story.link))(echo_request(a, b, story.link, 1));
    CHECK(violated(story(packet.set(Bth::p_key, 0x9999))).count("RFC4392-4.1-01") == 1);
}

TEST_CASE("Story: asking the SA for every packet") {
    auto story = both_up();
    const auto group = story.group(address);
    SECTION("one after the other") {
        for (int i = 0; i < 5; ++i) story.join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-11"});
    }
    SECTION("as often as a cache may forget") {
        for (int i = 0; i < 5; ++i) story.join(a, group, mlid, 4)(story.to_group(a, address, mlid)).pass(60);
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Story: a table that names one MGID twice, and creation by a join that may not create") {
    auto story = both_up();
    const auto group = story.group(address);
    SECTION("creation") {
        story.exchange(a, Method::get, group, 0, 0, sa_status::no_records);
        story.join(a, group, mlid, join_state::send_only_non_member);
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4392-1.3.2.1-01"});
    }
    SECTION("one MGID with two MLIDs") {
        std::vector<std::uint8_t> records;
        for (const std::uint16_t one : {mlid, leave_mlid}) {
            const auto record = build::group_record(a, story.link, group, one, 0);
            records.insert(records.end(), record.octets.begin(), record.octets.end());
            records.resize((records.size() + 7) / 8 * 8);
        }
        auto packet = mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, 0x500);
        packet.add(Bytes<Rmpp>{}
                       .set(Rmpp::version, 1)
                       .set(Rmpp::type, RmppType::data)
                       .set(Rmpp::active, true)
                       .set(Rmpp::first, true)
                       .set(Rmpp::last, true)
                       .set(Rmpp::segment_number, 1)
                       .set(Rmpp::payload_length, static_cast<std::uint32_t>(SaHeader::size + records.size())));
        packet.add(Bytes<SaHeader>{}.set(SaHeader::attribute_offset, 7)).add(records);
        packet.add(std::vector<std::uint8_t>(SaHeader::data_size - records.size()));
        story(mc_member(a, sa, Method::get_table, 0x500, Bytes<McMemberRecord>{}, 0))(packet);
        CHECK(violated(story).count("RFC4392-1.2.1.2-03") == 1);
    }
    SECTION("refused, as it must be") {
        story.exchange(a, Method::get, group, 0, 0, sa_status::no_records);
        story.join(a, group, mlid, join_state::send_only_non_member, sa_status::invalid_request);
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Story: a sender whose join creates the group has not looked for it") {
    auto story = both_up();
    const auto group = story.group(address);
    constexpr auto senders = join_state::send_only_full_member;
    story.exchange(b, Method::get, group, 0, 0, sa_status::no_records);
    SECTION("another one has found it missing") {
        story.join(a, group, mlid, senders)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-09"});
        CHECK(undecided(story).count("RFC4391-10-02-creates") == 1);
    }
    SECTION("it has looked itself") {
        story.exchange(a, Method::get, group, 0, 0, sa_status::no_records);
        story.join(a, group, mlid, senders)(story.to_group(a, address, mlid));
        CHECK(undecided(story).count("RFC4391-10-02-creates") == 0);
    }
    SECTION("False alarm: the group is there") {
        story.join(b, group, mlid, join_state::full_member);
        story.join(a, group, mlid, senders)(story.to_group(a, address, mlid));
        CHECK(undecided(story).count("RFC4391-10-02-creates") == 0);
    }
    SECTION("False alarm: who receives may create") {
        story.join(a, group, mlid, join_state::full_member)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{});
    }
}

TEST_CASE("Story: ports that do not fit the link's MTU or its partition") {
    Story story;
    Bytes<PortInfo> info;
    info.set(PortInfo::lid, a.lid)
        .set(PortInfo::gid_prefix, samples::default_prefix)
        .set(PortInfo::port_state, PortState::active)
        .set(PortInfo::neighbor_mtu, 3);
    story(port_info(a, sa, Method::get_resp, info)).up(a);
    CHECK(violated(story) == Ids{"RFC4391-4.1-03"});

    Story unassigned;
    constexpr std::size_t data = 64;
    std::vector<std::uint8_t> table(mad_size - Mad::size);
    table[data - Mad::size] = 0xff;
    table[data - Mad::size + 1] = 0xff;
    auto keys = mad(a, sa, MgmtClass::subn_lid_routed, Method::get_resp, smp_attribute::p_key_table, 5);
    unassigned(keys.add(table)).up(a);
    CHECK(violated(unassigned) == Ids{});

    // Only who says how long the table is has shown all of it.
    Story whole;
    std::vector<std::uint8_t> node(mad_size - Mad::size);
    node[data - Mad::size + NodeInfo::partition_cap.at.bit / 8 + 1] = 32;
    auto about = mad(a, sa, MgmtClass::subn_lid_routed, Method::get_resp, smp_attribute::node_info, 4);
    whole(about.add(node))(keys).up(a);
    CHECK(violated(whole) == Ids{"RFC4391-5-08"});
}

TEST_CASE("Duty: senders subscribe, receivers join and leave, in thirty seconds") {
    Story story;
    const auto link = story.link;
    const auto group = story.group(address);
    const auto later = [&](std::int64_t seconds) {
        story.pass(seconds);
        // It lives still.
        for (const auto& host : {a, b}) story(arp_request(host, (host.lid == a.lid ? b : a).ipv4, link));
    };
    SECTION("no subscription, if the clock was not set in between") {
        story.up(a).up(b).join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        story.pause(60 * second)(arp_request(a, b.ipv4, link));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4391-10-12"});
    }
    SECTION("no subscription") {
        story.up(a).up(b).join(b, group, mlid).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        later(29);
        CHECK(violated(story) == Ids{});
        later(2);
        CHECK(violated(story) == Ids{"RFC4391-10-12"});
    }
    SECTION("a subscription for that group alone will do") {
        story.up(a).up(b).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        story.subscribe(a, trap::multicast_group_created, group).subscribe(a, trap::multicast_group_deleted, group);
        later(40);
        CHECK(violated(story) == Ids{});
    }
    SECTION("IP listens, and the port does not join") {
        story = both_up();
        story.join(b, group, mlid, 4)(igmp(b, igmp_type::report_v2, address_number, mlid, link));
        later(31);
        CHECK(violated(story) == Ids{"RFC4391-10-15"});
    }
    SECTION("IP listens no more, and the port does not leave") {
        story = both_up();
        story.join(b, group, mlid)(igmp(b, igmp_type::report_v2, address_number, mlid, link));
        story.join(b, story.group("224.0.0.2"), leave_mlid, 4);
        story(igmp(b, igmp_type::leave, address_number, leave_mlid, link));
        later(31);
        CHECK(violated(story) == Ids{"RFC4391-10-20"});
    }
    SECTION("nothing is said of a port that the capture loses sight of") {
        story = both_up();
        story.join(b, group, mlid, 4)(igmp(b, igmp_type::report_v2, address_number, mlid, link));
        story(mc_member(sa, b, Method::get_resp, 0x777, broadcast_record(b, link), mask::join));
        later(31);
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Duty: a router asks for the groups, subscribes, and joins each new one") {
    Story story;
    const auto group = story.group(address), other = story.group("239.7.7.7");
    const auto later = [&] {
        story.pass(31);
        story(arp_request(a, b.ipv4, story.link));
    };
    story.up(a).up(b).join(b, group, mlid);
    story(arp_request(a, b.ipv4, story.link));
    // Only who asks for the groups, and speaks as one, is taken for a router.
    story(rip(a, story.link));
    const auto ask = [&] {
        story(mc_member(a, sa, Method::get_table, 0x900, Bytes<McMemberRecord>{}, 0));
        story(mc_member(sa, a, Method::get_table_resp, 0x900, Bytes<McMemberRecord>{}, 0));
    };
    SECTION("a receiver that joins as NonMember is none") {
        story.exchange(a, Method::set, group, mlid, join_state::non_member);
        later();
        CHECK(violated(story) == Ids{});
    }
    ask();
    SECTION("right") {
        story.subscribe(a, trap::multicast_group_created).join(a, other, mlid, join_state::non_member);
        CHECK(violated(story) == Ids{});
        CHECK(observed(story).count("RFC4391-11-02") == 1);
    }
    SECTION("no wildcard subscription") {
        story.exchange(a, Method::set, group, mlid, join_state::non_member);
        later();
        CHECK(violated(story) == Ids{"RFC4391-11-04"});
    }
    SECTION("no wildcard subscription, where the SM asks it to register anew") {
        story.subscribe(a, trap::multicast_group_created).join(a, group, mlid, join_state::non_member);
        const auto info = Bytes<PortInfo>{}
                              .set(PortInfo::gid_prefix, a.gid.prefix())
                              .set(PortInfo::lid, a.lid)
                              .set(PortInfo::port_state, PortState::active)
                              .set(PortInfo::client_reregister, true);
        story(port_info(sa, a, Method::set, info))(port_info(a, sa, Method::get_resp, info)).join_link(a);
        story.join(a, group, mlid, join_state::non_member);
        later();
        CHECK(violated(story) == Ids{"RFC4391-11-04"});
    }
    SECTION("who leaves all that it followed routes no more") {
        story.subscribe(a, trap::multicast_group_created).join(a, group, mlid, join_state::non_member);
        story.leave(a, group, mlid, join_state::non_member);
        story(group_report(sa, a, trap::multicast_group_created, other));
        later();
        CHECK(violated(story) == Ids{});
    }
    SECTION("nor who has been down") {
        story.subscribe(a, trap::multicast_group_created).join(a, group, mlid, join_state::non_member);
        story.up(a)(group_report(sa, a, trap::multicast_group_created, other));
        later();
        CHECK(violated(story) == Ids{});
    }
    SECTION("told of a group, and no join") {
        story.subscribe(a, trap::multicast_group_created).join(a, group, mlid, join_state::non_member);
        story(group_report(sa, a, trap::multicast_group_created, other));
        later();
        CHECK(violated(story) == Ids{"RFC4391-11-03"});
    }
    SECTION("told of a group, and joined") {
        story.subscribe(a, trap::multicast_group_created).join(a, group, mlid, join_state::non_member);
        story(group_report(sa, a, trap::multicast_group_created, other)).join(a, other, 0xc020, join_state::non_member);
        later();
        CHECK(violated(story) == Ids{});
    }
}

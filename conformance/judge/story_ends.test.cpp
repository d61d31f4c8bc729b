// SPDX-License-Identifier: GPL-2.0-or-later
// What was right once and is over: a value of before, seconds after the port was told of another one, and a duty that a
// change renews and the port does not do again.
#include "conformance/judge/test_story.hpp"
#include "protocol/build/connection.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr auto address = "239.1.2.3";
constexpr std::uint16_t new_mlid = 0xc0aa;
constexpr std::int64_t long_after = 8;  // s

Node with_qpn(Node node, std::uint32_t qpn) {
    node.qpn = qpn;
    return node;
}
Story resolved() {
    auto story = both_up();
    return story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link)).pass(4);
}
/// The SM asks the port to register anew, and it answers.
Story& asked_to_register(Story& story, const Node& port, bool answers = true) {
    const auto info = Bytes<PortInfo>{}
                          .set(PortInfo::gid_prefix, port.gid.prefix())
                          .set(PortInfo::lid, port.lid)
                          .set(PortInfo::port_state, PortState::active)
                          .set(PortInfo::client_reregister, true);
    story(port_info(sa, port, Method::set, info));
    return answers ? story(port_info(port, sa, Method::get_resp, info)) : story;
}

/// As adapters number them: each queue pair by one from 0, and those of a port anew from `index` on.
Story numbered(const Story& story, std::uint16_t lid, std::size_t index) {
    Story all;
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> next;
    for (std::size_t i = 0; i < story.moments().size(); ++i) {
        const auto& moment = story.moments()[i];
        Packet packet;
        decode(moment.octets, packet);
        if (i == index) std::erase_if(next, [&](const auto& one) { return one.first.first == lid; });
        const auto psn = next[{packet.lrh[Lrh::slid], packet.deth[Deth::src_qp]}]++;
        all.pause(moment.time - all.now() - 1'000'000);
        all.octets(PacketBuilder::of(packet).choose(Bth::psn, psn).build());
    }
    return all;
}

}  // namespace

TEST_CASE("Ends: the queue pairs of a port that was down, which begin at 0 again") {
    auto story = both_up();
    for (int i = 0; i < 3; ++i) story.path(b, a).pass(1);
    story(arp_request(b, a.ipv4, story.link)).pass(2);
    const auto restart = story.moments().size() + 2;  // behind what tells that it is down
    asked_to_register(story.found(b), b).path(b, a).pass(long_after)(arp_request(b, a.ipv4, story.link)).path(b, a);
    CHECK(violated(numbered(story, b.lid, restart)) == Ids{"RFC4391-5-02-sends"});
}

TEST_CASE("Ends: what a request without an answer leaves open, once it is asked again and answered") {
    auto story = both_up();
    const auto group = story.group(address);
    const auto record = build::group_record(a, story.link, group, 0, 4);
    story(mc_member(a, sa, Method::set, 0x700, record, mask::join)).pass(4);
    story.join(a, group, mlid, 4)(story.to_group(a, address, mlid)).leave(a, group, mlid, 4);
    story.pass(20)(story.to_group(a, address, mlid));
    CHECK(violated(story).contains("RFC4391-10-08"));
}

TEST_CASE("Ends: a membership in a group that the SA does not know any more") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, 4)(story.to_group(a, address, mlid)).pass(4);
    const auto record = build::group_record(a, story.link, group, 0, 0);
    story(mc_member(a, sa, Method::get, 0x700, record, McMemberRecord::component::mgid));
    story(mc_member(sa, a, Method::get_resp, 0x700, record, McMemberRecord::component::mgid)
              .set(Mad::status, sa_status::no_records));
    story.pass(long_after)(story.to_group(a, address, mlid));
    CHECK(violated(story).contains("RFC4391-10-08"));
}

TEST_CASE("Ends: the queue pair of who had an address before it moved") {
    auto story = resolved();
    auto now = c;
    now.ipv4 = b.ipv4;
    story.up(c).pass(4)(arp_request(a, b.ipv4, story.link))(arp_reply(now, a, story.link));
    SECTION("at the port that has it now") {
        now.qpn = b.qpn + 0x1000;
        story.pass(long_after)(echo_request(a, now, story.link, 1));
        CHECK(violated(story) == Ids{"RFC4391-9.1.1-04-ipv4"});
    }
    SECTION("at its own port, which may route") {
        CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{});
    }
}

TEST_CASE("Ends: the queue pair of who had a LID before") {
    auto story = resolved();
    auto now = c;
    now.lid = b.lid;
    now.qpn = b.qpn + 0x1000;
    story.up(now)(arp_request(now, b.ipv4, story.link));
    story(arp_request(a, now.ipv4, story.link))(arp_reply(now, a, story.link));
    auto packet = echo_request(a, now, story.link, 1);
    story.pass(long_after)(packet.set(Bth::dest_qp, b.qpn));
    CHECK(violated(story) == Ids{"RFC4391-9.1.1-04-ipv4"});
}

TEST_CASE("Ends: the queue pair of before") {
    auto story = resolved();
    const auto now = with_qpn(b, 0x777);
    SECTION("that the sender was told is another one now") {
        story(arp_request(a, b.ipv4, story.link))(arp_reply(now, a, story.link));
        SECTION("long after") {
            CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{"RFC4391-9.1.1-04-ipv4"});
        }
        SECTION("at once") {
            story(echo_request(a, b, story.link, 1));
            CHECK(violated(story) == Ids{});
            CHECK(undecided(story) == Ids{});
        }
        SECTION("the new one") {
            CHECK(violated(story.pass(long_after)(echo_request(a, now, story.link, 1))) == Ids{});
        }
        SECTION("which is announced again") {
            story.pass(4)(arp_request(b, a.ipv4, story.link));
            CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{});
        }
    }
    SECTION("that the sender has used the new one instead of") {
        story(arp_request(now, c.ipv4, story.link))(echo_request(a, now, story.link, 1));
        CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{"RFC4391-9.1.1-04-ipv4"});
    }
    SECTION("of which only another port was told") {
        story(arp_reply(now, c, story.link));
        CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{});
    }
    SECTION("where two interfaces answer for one address") {
        story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link))(arp_reply(now, a, story.link));
        CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 1))) == Ids{});
    }
}

TEST_CASE("Ends: the DLID of before") {
    auto story = resolved();
    auto moved = b;
    moved.lid = 0x55;
    story.path(a, b)(echo_request(a, b, story.link, 1)).pass(2);
    story.path(a, moved);
    SECTION("long after") {
        CHECK(violated(story.pass(long_after)(echo_request(a, b, story.link, 2))).contains("RFC4391-9.1.2-01"));
    }
    SECTION("at once") { CHECK(violated(story(echo_request(a, b, story.link, 2))) == Ids{}); }
    SECTION("whose port goes on to send from there") {
        story.pass(long_after)(echo_reply(b, a, story.link, 1));
        CHECK(violated(story(echo_request(a, b, story.link, 2))) == Ids{});
    }
}

TEST_CASE("Ends: a membership, where the SM asks for registration") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, 4)(story.to_group(a, address, mlid)).pass(2);
    const auto subscribes = [&] {
        story.subscribe(a, trap::multicast_group_created).subscribe(a, trap::multicast_group_deleted);
    };
    SECTION("that is not asked for again") {
        asked_to_register(story, a).join_link(a);
        subscribes();
        story.pass(long_after)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused"});
    }
    SECTION("that of the broadcast group") {
        asked_to_register(story, a).pass(long_after)(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story) == Ids{"RFC4391-5-02-sends"});
    }
    SECTION("that of the broadcast group, which a router joins as NonMember alone") {
        asked_to_register(story, a).join(a, story.link.broadcast_gid(), story.link.broadcast_mlid, 2);
        story.pass(long_after)(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story) == Ids{"RFC4391-5-02-state"});
    }
    SECTION("that of the broadcast group, which it joins to send only") {
        asked_to_register(story, a).join(a, story.link.broadcast_gid(), story.link.broadcast_mlid, 4);
        story.pass(long_after)(echo_request(a, b, story.link, 1));
        CHECK(violated(story) == Ids{"RFC4391-5-02-again"});
    }
    SECTION("that is asked for again") {
        asked_to_register(story, a).join_link(a).join(a, group, mlid, 4);
        subscribes();
        story.pass(long_after)(story.to_group(a, address, mlid))(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{});
    }
    SECTION("and the port does not answer") {
        asked_to_register(story, a, false).pass(long_after)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{});
    }
    SECTION("and it does not subscribe again") {
        asked_to_register(story, a).join_link(a).join(a, group, mlid, 4)(story.to_group(a, address, mlid));
        story.pass(45)(story.to_group(a, address, mlid)).pass(1)(story.to_group(a, address, mlid));
        CHECK(violated(story) == Ids{"RFC4391-10-12"});
    }
}

TEST_CASE("Ends: the Q_Key of before") {
    auto story = both_up();
    const auto before = story.link;
    story(arp_request(a, b.ipv4, before)).pass(2);
    story.link.q_key = 0x80001234;
    story.join_link(b).join_link(a);
    SECTION("long after") {
        CHECK(violated(story.pass(long_after)(arp_request(a, b.ipv4, before))).contains("RFC4391-9.1.2-03"));
    }
    SECTION("at once") { CHECK(violated(story(arp_request(a, b.ipv4, before))) == Ids{}); }
    SECTION("one that it never was") {
        auto other = before;
        other.q_key = 0x80009999;
        CHECK(violated(story(arp_request(a, b.ipv4, other))).contains("RFC4391-9.1.2-03"));
    }
}

TEST_CASE("Ends: the Q_Key of before, in what only its queue pairs tell to be of IPoIB") {
    auto story = resolved();
    const auto before = story.link;
    story.link.q_key = 0x80001234;
    for (const auto& port : {a, b}) asked_to_register(story, port).join_link(port);
    story.pass(long_after)(echo_request(a, b, before, 1));
    CHECK(violated(story).contains("RFC4391-9.1.2-03"));
}

TEST_CASE("Ends: a port that must register anew keeps its queue pairs") {
    auto story = resolved();
    asked_to_register(story, a).join_link(a);
    auto other = story.link;
    other.q_key = 0x80009999;
    CHECK(violated(story(echo_request(a, b, other, 1))).contains("RFC4391-9.1.2-03"));
}

TEST_CASE("Ends: no life ends where the SM asks a port to register that has just come up") {
    Story story;
    for (const auto& port : {a, b}) asked_to_register(story.found(port), port).join_link(port);
    story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link));
    auto packet = echo_request(a, b, story.link, 1);
    CHECK(violated(story(packet.set(Bth::dest_qp, 0x99u))) == Ids{"RFC4391-9.1.1-04-ipv4"});
}

TEST_CASE("Ends: what a group had before it was made anew") {
    auto story = both_up();
    const auto group = story.group(address);
    const auto joins = [&](std::uint16_t group_mlid) {
        story.join(b, group, group_mlid).join(a, group, group_mlid, 4);
    };
    joins(mlid);
    story(story.to_group(a, address, mlid)).pass(2);
    SECTION("its MLID") {
        joins(new_mlid);
        SECTION("long after") {
            CHECK(violated(story.pass(long_after)(story.to_group(a, address, mlid))).contains("RFC4391-10-03"));
        }
        SECTION("at once") { CHECK(violated(story(story.to_group(a, address, mlid))) == Ids{}); }
        SECTION("one that it never had") {
            CHECK(violated(story(story.to_group(a, address, 0xc0ee))).contains("RFC4391-10-03"));
        }
    }
    SECTION("its TClass") {
        const auto usual = story.link.traffic_class;
        constexpr std::uint8_t special = 0x44;
        const auto in_group = [&] { return story.to_group(a, address, mlid).set(Grh::traffic_class, special); };
        story.link.traffic_class = special;
        joins(mlid);
        story(in_group()).pass(2);
        story.link.traffic_class = usual;
        joins(mlid);
        SECTION("long after") { CHECK(violated(story.pass(long_after)(in_group())) == Ids{"RFC4391-4.1-09-tclass"}); }
        SECTION("at once") { CHECK(violated(story(in_group())) == Ids{}); }
    }
}

TEST_CASE("Ends: the prefix of before") {
    auto story = both_up();
    const auto is_given = [&](std::uint64_t prefix) {
        const auto info = Bytes<PortInfo>{}
                              .set(PortInfo::gid_prefix, prefix)
                              .set(PortInfo::lid, a.lid)
                              .set(PortInfo::port_state, PortState::active);
        story(port_info(sa, a, Method::set, info))(port_info(a, sa, Method::get_resp, info));
    };
    auto before = a;
    before.gid = Gid::of(0xfec0000000000001, a.gid.interface_id());
    is_given(before.gid.prefix());
    story.pass(1)(arp_request(before, b.ipv4, story.link)).pass(1);
    is_given(0xfec0000000000002);
    SECTION("long after") {
        story.pass(long_after)(arp_request(before, b.ipv4, story.link));
        CHECK(violated(story).contains("RFC4391-9.1.1-07-prefix"));
    }
    SECTION("at once") {
        CHECK(violated(story(arp_request(before, b.ipv4, story.link))).count("RFC4391-9.1.1-07-prefix") == 0);
    }
}

TEST_CASE("Ends: the Service-ID of before") {
    auto story = resolved();
    const auto now = with_qpn(b, 0x777);
    story(arp_request(a, b.ipv4, story.link))(arp_reply(now, a, story.link));
    SECTION("long after") {
        story.pass(long_after)(connection_request(a, b, 0x10));
        CHECK(violated(story).contains("RFC4755-3.5-01-former"));
    }
    SECTION("at once") { CHECK(violated(story(connection_request(a, b, 0x10))) == Ids{}); }
    SECTION("that of now") { CHECK(violated(story.pass(long_after)(connection_request(a, now, 0x10))) == Ids{}); }
}

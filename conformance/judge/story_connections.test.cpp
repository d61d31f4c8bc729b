// SPDX-License-Identifier: GPL-2.0-or-later
// Connections from their request on: what rules must catch in them, and what they must not.
#include "conformance/judge/test_story.hpp"
#include "protocol/build/connection.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr std::uint32_t id = 0x10, a_rc = 0x1041, b_rc = 0x1042;

/// Two ports that have resolved each other, and announce connected mode.
Story resolved() {
    Story story;
    story.up(a).up(b);
    return story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link));
}
template <class Message>
PacketBuilder with_mtu(PacketBuilder packet, std::uint32_t mtu) {
    const auto octets = packet.build();
    Packet decoded;
    decode(octets, decoded);
    auto data = decoded.get<Message>()[Message::private_data];
    for (std::size_t i = 0; i < 4; ++i) data[4 + i] = static_cast<std::uint8_t>(mtu >> (24 - 8 * i));
    return packet.set(Message::private_data, data);
}
/// A connection between them, and the Receive MTU that each has stated.
Story connected(std::uint32_t of_a, std::uint32_t of_b) {
    auto story = resolved();
    story(with_mtu<CmReq>(connection_request(a, b, story.link, {.id = id, .qpn = a_rc}), of_a));
    return story(with_mtu<CmRep>(connection_reply(b, a, story.link, {.id = id + 1, .qpn = b_rc}, id), of_b));
}
PacketBuilder ping(const Story& story, std::size_t size) {
    return over_connection(echo_request(a, b, story.link, 1, size), b_rc, 0);
}
}  // namespace

TEST_CASE("Story: answers to a request for a connection") {
    auto story = resolved();
    const auto link = story.link;
    story(connection_request(a, b, 0x10));
    auto reply = connection_reply(b, a, 0x10);
    SECTION("right") { CHECK(violated(story(reply)) == Ids{}); }
    SECTION("rejected without a QPN") {
        auto other = b;
        other.qpn = 0;
        CHECK(violated(story(connection_rejection(other, a, 0x10, 28))) == Ids{"RFC4755-3.2-03"});
    }
    SECTION("rejected by an adapter where nobody listens") {
        auto other = b;
        other.qpn = 0;
        CHECK(violated(story(connection_rejection(other, a, 0x10, 8))) == Ids{});
        // It may have been set to connected mode since, and from it before it rejects again.
        auto flagged = b;
        flagged.link_flags = 0x80;
        CHECK(violated(story(arp_request(flagged, a.ipv4, link))) == Ids{});
        story(connection_request(a, b, 0x11))(connection_rejection(other, a, 0x11, 8));
        CHECK(violated(story(arp_request(flagged, a.ipv4, link))) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4755-3.1-06"});
    }
    SECTION("Reserved not zero") {
        auto data = connection_reply(b, a, 0x10).build();
        Packet decoded;
        decode(data, decoded);
        auto private_data = decoded.get<CmRep>()[CmRep::private_data];
        private_data[0] = 1;
        story(reply.set(CmRep::private_data, private_data));
        CHECK(violated(story) == Ids{"RFC4755-6-02-rep"});
    }
    SECTION("another QPN than ARP has told") {
        auto other = b;
        other.qpn = 0x99;
        CHECK(violated(story(connection_reply(other, a, 0x10))) == Ids{"RFC4755-3.2-02-rep"});
    }
}

TEST_CASE("Story: a packet that is larger than its receiver takes, and than any connection takes by default") {
    constexpr std::size_t headers = 28;  // IPv4 and ICMP
    SECTION("just as large as was agreed on") {
        auto story = connected(9000, 3000);
        CHECK(violated(story(ping(story, 2996 - headers))) == Ids{});
        CHECK(observed(story).count("RFC4755-5-02") == 1);
    }
    SECTION("larger") {
        auto story = connected(9000, 3000);
        CHECK(violated(story(ping(story, 2997 - headers))) == Ids{"RFC4755-5-02"});
    }
    SECTION("who states less takes the default all the same, if nothing is agreed on") {
        auto story = connected(1500, 1500);
        CHECK(violated(story(ping(story, 2044 - headers))) == Ids{});
    }
    SECTION("the connection has ended, its queue pair may be another's") {
        auto story = connected(9000, 3000);
        story(disconnection_request(a, b, story.link, {.id = id, .qpn = a_rc}, {.id = id + 1, .qpn = b_rc}));
        CHECK(violated(story(ping(story, 2997 - headers))) == Ids{});
    }
    SECTION("of a connection whose setting up was not captured nothing is known") {
        auto story = resolved();
        CHECK(observed(story(ping(story, 4000))).count("RFC4755-5-02") == 0);
    }
}

TEST_CASE("Story: a Receive MTU that is too small for IP, or for IPv6 where that is used") {
    CHECK(violated(connected(1, 2048)) == Ids{"RFC4755-5-01"});
    CHECK(violated(connected(2048, 71)) == Ids{"RFC4755-5-01-rep"});
    CHECK(violated(connected(72, 72)) == Ids{});
    CHECK(violated(connected(2048, 0x80000001)) == Ids{"RFC4755-6-01-rep"});
    auto small = connected(1283, 2048), right = connected(1284, 2048), of_other = connected(2048, 1283);
    const auto use = [](Story& story) { story(over_connection(echo_request6(a, b, story.link, 1), b_rc, 0)); };
    for (auto* story : {&small, &right, &of_other}) use(*story);
    CHECK(violated(small) == Ids{"RFC4755-5-01-ipv6"});
    CHECK(violated(right) == Ids{});
    CHECK(violated(of_other) == Ids{});
}

TEST_CASE("Story: a connection at the UD queue pair") {
    auto story = resolved();
    CHECK(violated(story(connection_request(a, b, story.link, {.id = id, .qpn = a.qpn}))) == Ids{"RFC4755-2.2-01-req"});
    auto answered = resolved();
    answered(connection_request(a, b, answered.link, {.id = id, .qpn = a_rc}));
    CHECK(violated(answered(connection_reply(b, a, answered.link, {.id = id + 1, .qpn = b.qpn}, id))) ==
          Ids{"RFC4755-2.2-01-rep"});
}

TEST_CASE("Story: a REQ that names the connection's queue pair as that of UD") {
    const auto request = [](const Story& story) {
        auto wrong = a;
        wrong.qpn = a_rc;
        return connection_request(wrong, b, story.link, {.id = id, .qpn = a_rc});
    };
    auto story = resolved();
    CHECK(violated(story(request(story))) == Ids{"RFC4755-3.2-02-own"});
    // Nothing tells which of the two is meant.
    Story unannounced;
    CHECK(violated(unannounced(request(unannounced))) == Ids{});
}

TEST_CASE("Story: the requester rejects what was replied") {
    auto story = connected(2048, 2048);
    const auto rejection = [&](const Node& from) {
        auto packet = connection_rejection(from, b, story.link, id + 1, 28);
        return packet.set(CmRej::local_comm_id, id).set(CmRej::message, 1);
    };
    SECTION("right") {
        CHECK(violated(story(rejection(a))) == Ids{});
        CHECK(observed(story).count("RFC4755-3.2-03") == 1);
    }
    SECTION("without a QPN") {
        auto nobody = a;
        nobody.qpn = 0;
        CHECK(violated(story(rejection(nobody))) == Ids{"RFC4755-3.2-03"});
    }
}

TEST_CASE("Story: a connection is in the partition that was asked for") {
    auto story = connected(2048, 2048);
    auto packet = ping(story, 56);
    CHECK(violated(story(packet.set(Bth::p_key, 0xffff))) == Ids{"RFC4392-4.1-01-connection"});
}

TEST_CASE("Story: IP over a connection without the header of four octets") {
    auto story = connected(2048, 2048);
    const auto right = ping(story, 56);
    const auto with = [&](std::vector<std::uint8_t> octets) {
        const auto frame = right.build();
        Packet decoded;
        decode(frame, decoded);
        const auto datagram = decoded.payload.subspan(Encap::size);
        octets.insert(octets.end(), datagram.begin(), datagram.end());
        auto packet = over_connection(unicast(a, b, story.link), b_rc, 0);
        return packet.remove<Encap>().add(octets);
    };
    SECTION("right") {
        CHECK(violated(story(right)) == Ids{});
        CHECK(observed(story).count("RFC4391-6-01-connection") == 1);
    }
    SECTION("two octets") { CHECK(violated(story(with({0x08, 0x00}))) == Ids{"RFC4391-6-01-connection"}); }
    SECTION("none") { CHECK(violated(story(with({}))) == Ids{"RFC4391-6-01-connection"}); }
    SECTION("another program's connection") {
        auto packet = with({});
        CHECK(violated(story(packet.set(Bth::dest_qp, 0x999))) == Ids{});
    }
}

TEST_CASE("Story: two REQs cross") {
    auto story = resolved();
    const auto request = [&](const Node& from, const Node& to, std::uint32_t one, std::uint32_t qpn) {
        story(connection_request(from, to, story.link, {.id = one, .qpn = qpn}));
    };
    const auto accept = [&](const Node& from, const Node& to, std::uint32_t one, std::uint32_t qpn) {
        story(connection_reply(from, to, story.link, {.id = one + 1, .qpn = qpn}, one));
    };
    SECTION("the larger accepts") {
        request(b, a, 0x20, b_rc);
        request(a, b, id, a_rc);
        accept(b, a, id, 0x1052);
        CHECK(violated(story) == Ids{"RFC4755-3.3-01"});
    }
    SECTION("the larger accepts, and may have asked after it was asked") {
        request(a, b, id, a_rc);
        request(b, a, 0x20, b_rc);
        accept(b, a, id, 0x1052);
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4755-3.3-01"});
    }
    SECTION("the smaller accepts") {
        request(a, b, id, a_rc);
        request(b, a, 0x20, b_rc);
        accept(a, b, 0x20, 0x1051);
        CHECK(violated(story) == Ids{});
        CHECK(observed(story).count("RFC4755-3.3-01") == 1);
    }
    SECTION("its own had been rejected") {
        request(b, a, 0x20, b_rc);
        request(a, b, id, a_rc);
        story(connection_rejection(a, b, story.link, 0x20, 28));
        accept(b, a, id, 0x1052);
        CHECK(violated(story) == Ids{});
    }
}

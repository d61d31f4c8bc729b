// SPDX-License-Identifier: GPL-2.0-or-later
// Each trouble by a story that has it and nothing else, and by one that looks alike and is healthy.
#include "conformance/judge/test_story.hpp"
#include "conformance/links/account.hpp"
#include "protocol/build/dhcp.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/port_info.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::testing;

namespace {

/// What `links` finds in a story, but for what the rules themselves find.
struct Told {
    Ids names;
    std::string text;
    std::vector<state::Sight> frames;
    std::size_t ports = 0;
    std::size_t findings = 0;
};

Told told(const Story& story) {
    links::Observer observer;
    Judge judge{conformance::selected_rules({}), 0, observer.listener()};
    judge.set_onlooker(observer.onlooker());
    tell(judge, story, [](std::size_t) { return true; });
    Told found;
    for (const auto& one : links::account_of(judge, observer).findings) {
        if (!one.rule.empty()) continue;
        found.names.insert(one.name);
        ++found.findings;
        found.text += one.text;
        found.frames = one.frames;
        found.ports = one.ports.size();
        CHECK(!one.frames.empty());
        CHECK(one.link == "fe80::/0x8123");
    }
    return found;
}

Node with_address(Node node, std::uint32_t address) {
    node.ipv4 = address;
    return node;
}

/// a, b and c on the link; a and c have told their own addresses where they speak.
Story three_up() {
    auto story = both_up();
    story.up(c);
    for (const auto trap_number : {trap::multicast_group_created, trap::multicast_group_deleted})
        story.subscribe(c, trap_number);
    return story;
}

/// a asks for b's address, and these answer.
void resolves(Story& story, std::initializer_list<Node> who) {
    story(arp_request(a, b.ipv4, story.link));
    for (const auto& one : who) story(arp_reply(one, a, story.link));
}

}  // namespace

TEST_CASE("Troubles: two hosts with one address") {
    const auto other = with_address(c, b.ipv4);
    auto story = three_up();
    for (int i = 0; i < 3; ++i) {
        resolves(story, {b, other});
        story.pass(20);
    }
    const auto found = told(story);
    CHECK(found.names == Ids{"duplicate-address"});
    CHECK(found.ports == 2);
    CHECK_THAT(found.text, ContainsSubstring("both answer who has 10.1.0.2"));
    // One takes over from the other, which is silent from then on.
    story = three_up();
    resolves(story, {b});
    story.pass(20)(arp_request(other, b.ipv4, story.link));
    resolves(story, {other});
    story(echo_request(a, other, story.link, 1))(echo_reply(other, a, story.link, 1));
    CHECK(told(story).names.empty());
    // And gives it back, as hosts that fail over do.
    story.pass(20);
    resolves(story, {b});
    CHECK(told(story).names.empty());
    // One port, under the prefix of its subnet and under the default one.
    auto by_prefix = b;
    by_prefix.gid = Gid::of(0xfec0'0000'0000'0001, b.gid.interface_id());
    story = three_up();
    for (int i = 0; i < 3; ++i) {
        resolves(story, {b, by_prefix});
        story.pass(20);
    }
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: one question with two answers is enough, and an announcement is none") {
    const auto other = with_address(c, b.ipv4);
    auto story = three_up();
    resolves(story, {b, other});
    const auto found = told(story);
    CHECK(found.names == Ids{"duplicate-address"});
    CHECK(found.frames.size() == 1);
    // An address that moves, and comes back after three seconds.
    story = three_up();
    resolves(story, {b});
    story.pass(60)(arp_request(other, b.ipv4, story.link)).pass(3)(arp_request(b, b.ipv4, story.link));
    CHECK(told(story).names.empty());
    // Two questions of one host, before and after it has moved.
    story = three_up();
    resolves(story, {b});
    resolves(story, {other});
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: two hosts with addresses of their own that both have a third") {
    const auto shared = b.ipv4 + 100;
    auto story = three_up();
    story(arp_request(b, a.ipv4, story.link))(arp_request(c, a.ipv4, story.link));
    for (int i = 0; i < 3; ++i) {
        resolves(story, {with_address(b, shared), with_address(c, shared)});
        story(arp_request(a, shared, story.link));
        story(arp_reply(with_address(b, shared), a, story.link))(arp_reply(with_address(c, shared), a, story.link));
        story.pass(20);
    }
    CHECK(told(story).names == Ids{"duplicate-address"});
}

TEST_CASE("Troubles: who asks whether an IPv6 address is free, and is told that it is not, has none") {
    // RFC 4862, 5.4: from nobody, and the answer goes to all nodes.
    const auto all_nodes = Gid::of(0xff02000000000000, 1);
    auto asker = c;
    asker.ipv6 = Gid{};
    const auto is_told = [](const Story& story) { return told(story).names.contains("duplicate-address"); };
    auto story = three_up();
    story(neighbour_solicitation(asker, b.ipv6, mlid, story.link));
    CHECK_FALSE(is_told(story));
    auto answer = neighbour_advertisement(b, a, story.link).set(Ipv6::destination, all_nodes);
    auto itself = story;
    CHECK_FALSE(is_told(itself(neighbour_advertisement(c, a, story.link).set(NdTarget::target, b.ipv6))));
    auto late = story;
    CHECK_FALSE(is_told(late.pass(5)(answer)));
    CHECK(is_told(story(answer)));
    CHECK_THAT(told(story).text, ContainsSubstring("asks whether anybody has fe80"));
}

TEST_CASE("Troubles: routers that share an anycast address") {
    auto story = three_up();
    const auto of_both = Gid::of(0xfd00000000000000, 0);
    constexpr std::uint8_t router = 0x80, solicited = 0x40, override = 0x20;
    const auto answers = [&](Node from, std::uint8_t flags) {
        from.ipv6 = of_both;
        story(neighbour_advertisement(from, a, story.link).set(Icmpv6::body, std::uint32_t{flags} << 24));
    };
    for (int i = 0; i < 3; ++i) {
        story(neighbour_solicitation(a, of_both, mlid, story.link));
        for (const auto& one : {b, c}) answers(one, router | solicited);
        story.pass(20);
    }
    CHECK(!told(story).names.contains("duplicate-address"));
    story(neighbour_solicitation(a, of_both, mlid, story.link));
    for (const auto& one : {b, c}) answers(one, solicited | override);
    CHECK(told(story).names.contains("duplicate-address"));
}

TEST_CASE("Troubles: two hosts that announce one address in turns") {
    const auto other = with_address(c, b.ipv4);
    auto story = three_up();
    for (int i = 0; i < 3; ++i) {
        story(arp_request(b, a.ipv4, story.link)).pass(2);
        story(arp_request(other, a.ipv4, story.link)).pass(2);
    }
    const auto found = told(story);
    CHECK(found.names == Ids{"duplicate-address"});
    CHECK_THAT(found.text, ContainsSubstring("announce 10.1.0.2 in turns"));
}

TEST_CASE("Troubles: a host that answers for one address on both of its rails") {
    auto story = three_up();
    story(arp_request(c, a.ipv4, story.link));
    for (int i = 0; i < 3; ++i) {
        resolves(story, {b, with_address(c, b.ipv4)});
        story.pass(20);
    }
    const auto found = told(story);
    CHECK(found.names == Ids{"arp-flux"});
    CHECK_THAT(found.text, ContainsSubstring("arp_ignore"));
    // Each rail answers for both addresses: one host, one finding.
    for (int i = 0; i < 3; ++i) {
        story(arp_request(a, c.ipv4, story.link));
        for (const auto& one : {b, c}) story(arp_reply(with_address(one, c.ipv4), a, story.link));
        story.pass(20);
    }
    const auto both = told(story);
    CHECK(both.findings == 1);
    CHECK_THAT(both.text, ContainsSubstring("both answer who has 10.1.0.2, 10.1.0.3. "));
    // Four rails are one host, too.
    auto four = three_up();
    auto rails = std::vector{b, c};
    for (std::uint16_t number = 5; number < 7; ++number) {
        rails.push_back(samples::host(number));
        four.up(rails.back());
    }
    for (const auto& owner : rails)
        for (int i = 0; i < 2; ++i) {
            four(arp_request(a, owner.ipv4, four.link));
            for (const auto& one : rails) four(arp_reply(with_address(one, owner.ipv4), a, four.link));
        }
    const auto all = told(four);
    CHECK(all.names == Ids{"arp-flux"});
    CHECK(all.findings == 1);
    CHECK(all.ports == 4);
    CHECK_THAT(all.text, ContainsSubstring(" all answer who has 10.1.0.2, "));
    // A second address of a port is no flux.
    story = three_up();
    resolves(story, {b});
    story(arp_request(a, b.ipv4 + 100, story.link))(arp_reply(with_address(b, b.ipv4 + 100), a, story.link));
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: an address has moved, and old unicast goes on") {
    const auto other = with_address(c, b.ipv4);
    auto story = three_up();
    resolves(story, {b});
    story(arp_request(other, b.ipv4, story.link));
    auto healthy = story;
    story(udp(a, b, story.link, 32)).pass(6);
    CHECK(told(story).names.empty());
    for (int i = 0; i < 3; ++i) story(udp(a, b, story.link, 32)).pass(1);
    const auto found = told(story);
    CHECK(found.names == Ids{"moved-address"});
    CHECK(found.frames.size() == 3);
    CHECK_THAT(found.text, ContainsSubstring("still sends to 10.1.0.2"));
    healthy.pass(6)(udp(a, other, story.link, 32));
    CHECK(told(healthy).names.empty());
    // It moves on, and the sender stays where it was at first.
    auto moves = three_up();
    const auto third = with_address(a, b.ipv4);
    resolves(moves, {b});
    moves(arp_request(other, b.ipv4, moves.link)).pass(60)(arp_request(third, c.ipv4, moves.link)).pass(10);
    CHECK(told(moves(udp(c, b, moves.link, 32))).names == Ids{"moved-address"});
    // Said to one alone first, then to all.
    auto late = three_up();
    resolves(late, {b});
    late(arp_reply(other, c, late.link))(arp_request(other, b.ipv4, late.link)).pass(10);
    CHECK(told(late(udp(a, b, late.link, 32))).names == Ids{"moved-address"});
    // Where it was it is answered still.
    story(echo_reply(b, a, story.link, 1));
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: P_Keys that a port loses") {
    const auto table = [](std::initializer_list<std::uint16_t> p_keys) {
        return p_key_table(a, sa, Method::get_resp, std::vector<std::uint16_t>(p_keys));
    };
    const auto begun = three_up()(table({0xffff, 0x8123, 0x8005}));
    const auto after = [&](std::initializer_list<std::uint16_t> p_keys) {
        auto story = begun;
        story(table(p_keys))(arp_request(a, b.ipv4, story.link));
        return told(story);
    };
    const auto lost = after({0xffff, 0x8005});
    CHECK(lost.names == Ids{"p-key-lost"});
    CHECK_THAT(lost.text, ContainsSubstring("has lost the P_Key 0x8123") && ContainsSubstring("has sent 1 packet"));
    CHECK(after({0xffff, 0x0123, 0x8005}).names == Ids{"p-key-limited"});
    // Told again, moved, with another one besides, or without one that its links have no use for.
    CHECK(after({0xffff, 0x8123, 0x8005}).names.empty());
    CHECK(after({0xffff, 0x8005, 0x8123}).names.empty());
    CHECK(after({0xffff, 0x8123, 0x8005, 0x8006}).names.empty());
    CHECK(after({0xffff, 0x8123}).names.empty());
    auto back = begun;
    back(table({0xffff, 0x8005}))(table({0xffff, 0x8005, 0x8123}));
    CHECK(told(back).names.empty());
}

TEST_CASE("Troubles: another P_Key at index 0") {
    auto story = three_up();
    const auto table = [](std::uint16_t first, std::uint16_t second) {
        return p_key_table(a, sa, Method::get_resp, std::array{first, second});
    };
    story(table(0x8123, 0xffff))(table(0xffff, 0x8123));
    const auto found = told(story);
    CHECK(found.names == Ids{"p-key-replaced"});
    CHECK_THAT(found.text, ContainsSubstring("0xffff has replaced 0x8123"));
}

TEST_CASE("Troubles: silent after a failover") {
    auto story = three_up();
    resolves(story, {b});
    story(arp_request(b, a.ipv4, story.link)).pass(2);
    for (const auto& port : {a, b, c})
        story(port_info(sa, port, Method::set,
                        Bytes<PortInfo>{}.set(PortInfo::lid, port.lid).set(PortInfo::client_reregister, true)));
    for (const auto& port : {a, b, c}) story.join_link(port);
    auto healthy = story;
    for (int i = 0; i < 4; ++i) story(arp_request(a, b.ipv4, story.link)).pass(5);
    const auto found = told(story);
    CHECK(found.names == Ids{"silent-after-failover"});
    CHECK_THAT(found.text, ContainsSubstring("10.1.0.2") && ContainsSubstring("4 times"));
    for (int i = 0; i < 4; ++i) {
        healthy(arp_request(a, b.ipv4, story.link)).pass(5);
        if (i == 2) healthy(arp_reply(b, a, story.link));
    }
    CHECK(told(healthy).names.empty());
    // Who has spoken since and is gone later, and who was gone before.
    auto later = story, before = three_up();
    resolves(before, {b});
    for (auto* one : {&later, &before}) *one = three_up();
    resolves(later, {b});
    const auto anew = [](Story& of) {
        for (const auto& port : {a, b, c})
            of(port_info(sa, port, Method::set,
                         Bytes<PortInfo>{}.set(PortInfo::lid, port.lid).set(PortInfo::client_reregister, true)));
        for (const auto& port : {a, b, c}) of.join_link(port);
    };
    anew(later);
    later(arp_request(b, a.ipv4, later.link)).pass(600);
    resolves(before, {b});
    for (int i = 0; i < 4; ++i) before(arp_request(a, b.ipv4, before.link)).pass(5);
    anew(before);
    for (auto* one : {&later, &before}) {
        for (int i = 0; i < 4; ++i) (*one)(arp_request(a, b.ipv4, one->link)).pass(5);
        CHECK(told(*one).names.empty());
    }
    // Who was asked once or twice may just have been slow.
    auto early = three_up();
    resolves(early, {b});
    CHECK(told(early.pass(60)).names.empty());
}

TEST_CASE("Troubles: large echo requests are lost, small ones arrive") {
    auto story = three_up();
    resolves(story, {b});
    std::uint16_t sequence = 0;
    const auto pings = [&](Story& of, std::size_t size, bool is_answered) {
        of(echo_request(a, b, of.link, ++sequence, size));
        if (is_answered) of(echo_reply(b, a, of.link, sequence, size));
        of.pass(1);
    };
    pings(story, 56, true);
    auto gone = story, late = story;
    for (int i = 0; i < 5; ++i) pings(story, 1800, false);
    pings(story, 400, true);
    const auto found = told(story);
    CHECK(found.names == Ids{"mtu-black-hole"});
    CHECK_THAT(found.text, ContainsSubstring("up to 428 octets of IP arrive") && ContainsSubstring("of 1828 or more"));
    // In fragments of the largest size.
    auto fragments = three_up();
    resolves(fragments, {b});
    pings(fragments, 56, true);
    for (int i = 0; i < 5; ++i) {
        fragments(echo_request(a, b, fragments.link, ++sequence, 1800).set(Ipv4::flags, std::uint8_t{1})).pass(1);
        pings(fragments, 56, true);
    }
    CHECK(told(fragments).names == Ids{"mtu-black-hole"});
    // A host that has gone answers nothing.
    for (int i = 0; i < 5; ++i) pings(gone, i % 2 ? 56 : 1800, false);
    CHECK(told(gone).names.empty());
    // Some are lost by chance.
    for (int i = 0; i < 5; ++i) pings(late, 1800, i == 4);
    CHECK(told(late).names.empty());
}

TEST_CASE("Troubles: who is told that a packet is too large is in no black hole") {
    auto story = three_up();
    resolves(story, {b});
    const auto quotes = [&](std::uint16_t sequence) {
        const auto lost = echo_request(a, b, story.link, sequence, 1800).build();
        Packet packet;
        decode(lost, packet);
        std::vector<std::uint8_t> message{3, 4, 0, 0, 0, 0, 5, 220};
        const auto ip = packet.octets.subspan(packet.offset_of(packet.ipv4.data()), 28);
        message.insert(message.end(), ip.begin(), ip.end());
        return unicast(c, a, story.link)
            .add(Bytes<Ipv4>{}
                     .set(Ipv4::source, c.ipv4)
                     .set(Ipv4::destination, a.ipv4)
                     .set(Ipv4::protocol, IpProtocol::icmp))
            .add(message);
    };
    for (std::uint16_t i = 1; i < 6; ++i) {
        story(echo_request(a, b, story.link, i, 1800))(quotes(i)).pass(1);
        story(echo_request(a, b, story.link, i + 100, 56))(echo_reply(b, a, story.link, i + 100, 56)).pass(1);
    }
    CHECK(told(story).names.empty());
}

namespace {

PacketBuilder tcp(const Node& from, const Node& to, const build::Link& link, std::uint32_t sequence,
                  std::uint32_t acknowledged, std::size_t size) {
    std::vector<std::uint8_t> segment(20 + size);
    constexpr std::uint8_t words = 0x50, ack = 0x10;
    write_bits(segment.data(), octet(0), 16, from.lid == a.lid ? 1000 : 2000);
    write_bits(segment.data(), octet(2), 16, from.lid == a.lid ? 2000 : 1000);
    write_bits(segment.data(), octet(4), 32, sequence);
    write_bits(segment.data(), octet(8), 32, acknowledged);
    segment[12] = words;
    segment[13] = ack;
    return unicast(from, to, link)
        .add(Bytes<Ipv4>{}
                 .set(Ipv4::source, from.ipv4)
                 .set(Ipv4::destination, to.ipv4)
                 .set(Ipv4::protocol, IpProtocol::tcp))
        .add(segment);
}

}  // namespace

TEST_CASE("Troubles: large segments of TCP are sent again and again") {
    auto story = three_up();
    resolves(story, {b});
    story(tcp(a, b, story.link, 1, 1, 100))(tcp(b, a, story.link, 1, 101, 0));
    auto gone = story, whole = story;
    for (int i = 0; i < 4; ++i) {
        for (auto* one : {&story, &gone, &whole}) (*one)(tcp(a, b, story.link, 101, 1, 1900)).pass(1);
        story(tcp(a, b, story.link, 2001, 1, 10))(tcp(b, a, story.link, 1, 101, 0));
    }
    const auto found = told(story);
    CHECK(found.names == Ids{"mtu-black-hole"});
    CHECK_THAT(found.text, ContainsSubstring("up to 140 octets"));
    CHECK(told(gone).names.empty());
    // That it is there may be known by what Linux asks a neighbour of who is silent.
    auto probed = gone;
    probed(arp_reply(a, b, gone.link).set(Arp::operation, Arp::request));
    CHECK(told(probed).names.empty());
    CHECK(told(probed(arp_reply(b, a, gone.link))).names == Ids{"mtu-black-hole"});
    CHECK(told(whole(tcp(b, a, story.link, 1, 2001, 0))).names.empty());
    // The receiver was gone for a while: what it gets later is as large.
    for (std::uint16_t sequence = 1; sequence < 4; ++sequence)
        gone(echo_request(a, b, gone.link, sequence, 1920))(echo_reply(b, a, gone.link, sequence, 1920)).pass(1);
    CHECK(told(gone).names.empty());
}

TEST_CASE("Troubles: a server whose first large segments never arrive") {
    auto story = three_up();
    resolves(story, {b});
    story(echo_request(a, b, story.link, 1, 56))(echo_reply(b, a, story.link, 1, 56));
    for (int i = 0; i < 4; ++i) story(tcp(a, b, story.link, 101, 1, 1900)).pass(1);
    story(echo_request(a, b, story.link, 2, 56))(echo_reply(b, a, story.link, 2, 56));
    const auto found = told(story);
    CHECK(found.names == Ids{"mtu-black-hole"});
    CHECK_THAT(found.text, ContainsSubstring("up to 84 octets"));
}

TEST_CASE("Troubles: a DHCP lease is lost by another client identifier") {
    auto story = three_up();
    std::uint32_t xid = 7;
    const auto leased = [&](const Node& named, std::uint32_t address, DhcpType answer = DhcpType::ack) {
        const auto request = dhcp_request(named, story.link, ++xid, address, b.ipv4).set(Grh::sgid, a.gid);
        story(request)(dhcp_reply(b, a, story.link, answer, request.get<Dhcp>(), {.address = address}));
    };
    leased(a, 0x0a010009);
    leased(a, 0x0a010009);
    // A lease that has ended may be another's.
    leased(a, 0x0a01000a);
    CHECK(told(story).names.empty());
    auto loader = a;
    loader.gid = Gid::of(a.gid.prefix(), 0x77);
    leased(loader, 0x0a01000a);
    CHECK(told(story).names.empty());
    leased(a, 0x0a01000b);
    const auto found = told(story);
    CHECK(found.names == Ids{"dhcp-lease-lost"});
    CHECK_THAT(found.text, ContainsSubstring("had 10.1.0.10 by DHCP") && ContainsSubstring("gets 10.1.0.11"));
}

TEST_CASE("Troubles: two DHCP clients on one port keep their leases") {
    auto story = three_up();
    std::uint32_t xid = 7;
    const auto leased = [&](std::uint64_t client, std::uint32_t address) {
        auto named = a;
        named.gid = Gid::of(a.gid.prefix(), client);
        const auto request = dhcp_request(named, story.link, ++xid, address, b.ipv4).set(Grh::sgid, a.gid);
        story(request)(dhcp_reply(b, a, story.link, DhcpType::ack, request.get<Dhcp>(), {.address = address}));
    };
    for (int i = 0; i < 3; ++i) {
        leased(0x77, 0x0a010009);
        leased(0x88, 0x0a01000a);
    }
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: the SA has no room for another group") {
    auto story = three_up();
    for (const char* address : {"239.1.1.1", "239.1.1.2"}) {
        story.join(a, story.group(address), 0, 1, sa_status::no_resources);
        story.join(a, story.group(address), 0, 1, sa_status::no_resources);
    }
    const auto found = told(story);
    CHECK(found.names == Ids{"group-limit"});
    CHECK_THAT(found.text, ContainsSubstring("239.1.1.1, 239.1.1.2"));
    // Others that ask for others meet the same limit.
    story.join(b, story.group("239.1.1.3"), 0, 1, sa_status::no_resources);
    const auto of_all = told(story);
    CHECK(of_all.findings == 1);
    CHECK(of_all.ports == 2);
}

TEST_CASE("Troubles: who joined to send and has stopped sending stays a member") {
    auto story = three_up();
    story.join(b, story.group("239.1.1.1"), mlid);
    story.join(a, story.group("239.1.1.1"), mlid, 4);
    story(story.to_group(a, "239.1.1.1", mlid));
    auto leaves = story, sends = story;
    CHECK(told(story.pass(200)).names.empty());
    CHECK(told(story.pass(110)).names == Ids{"send-only-stays"});
    CHECK(told(leaves.leave(a, story.group("239.1.1.1"), mlid, 4).pass(400)).names.empty());
    CHECK(told(sends.pass(200)(story.to_group(a, "239.1.1.1", mlid)).pass(200)).names.empty());
}

TEST_CASE("Troubles: a member whose link is slower than the group") {
    const auto at = [](std::uint8_t width) {
        auto story = three_up();
        story(port_info(a, sa, Method::get_resp,
                        Bytes<PortInfo>{}
                            .set(PortInfo::gid_prefix, a.gid.prefix())
                            .set(PortInfo::lid, a.lid)
                            .set(PortInfo::port_state, PortState::active)
                            .set(PortInfo::link_width_active, width)
                            .set(PortInfo::link_speed_active, 1)));
        return told(story);
    };
    const auto found = at(1);
    CHECK(found.names == Ids{"slower-than-group"});
    CHECK_THAT(found.text, ContainsSubstring("of 10 Gb/s with a link of 2.5 Gb/s"));
    CHECK(at(2).names.empty());
    CHECK(at(8).names.empty());
}

namespace {

/// A trap of a port to the SM, or the SA's report of it.
std::vector<std::uint8_t> notice_of(std::uint16_t number, std::uint32_t key, bool is_report = false) {
    Bytes<Notice> notice;
    notice.set(Notice::is_generic, true)
        .set(Notice::type, 2)
        .set(Notice::producer_type, 1)
        .set(Notice::trap_number, number)
        .set(Notice::issuer_lid, b.lid)
        .set(Notice::issuer_gid, b.gid);
    const auto details = Bytes<KeyDetails>{}
                             .set(KeyDetails::source_lid, c.lid)
                             .set(KeyDetails::destination_lid, b.lid)
                             .set(KeyDetails::bad_key, key)
                             .set(KeyDetails::source_gid, c.gid)
                             .set(KeyDetails::destination_gid, b.gid);
    const auto at_switch = Bytes<SwitchKeyDetails>{}
                               .set(SwitchKeyDetails::source_lid, c.lid)
                               .set(SwitchKeyDetails::p_key, static_cast<std::uint16_t>(key))
                               .set(SwitchKeyDetails::switch_lid, 0x77)
                               .set(SwitchKeyDetails::switch_port, 5);
    const auto place = notice.octets.begin() + static_cast<std::ptrdiff_t>(Notice::data_details.at.bit / 8);
    if (number == trap::bad_p_key_at_switch)
        std::ranges::copy(at_switch.octets, place);
    else
        std::ranges::copy(details.octets, place);
    if (is_report) return administration(sa, a, Method::report, attribute::notice, 1, notice).build();
    std::vector<std::uint8_t> data(mad_size - Mad::size);
    std::ranges::copy(notice.octets, data.begin() + LidSmp::data.at.bit / 8 - Mad::size);
    auto packet = mad(b, sa, MgmtClass::subn_lid_routed, Method::trap, smp_attribute::notice, 1);
    return packet.add(data).build();
}

}  // namespace

TEST_CASE("Troubles: ports that tell of packets with a key that is not theirs") {
    auto story = three_up();
    story.octets(notice_of(trap::bad_p_key, 0x8123)).octets(notice_of(trap::bad_p_key, 0x8123));
    auto found = told(story);
    CHECK(found.names == Ids{"p-key-violation"});
    CHECK(found.frames.size() == 2);
    CHECK(found.ports == 2);
    CHECK_THAT(found.text, ContainsSubstring("0002c90300100002 has told that it drops packets with P_Key 0x8123 from "
                                             "0002c90300100003"));
    story = three_up();
    story.octets(notice_of(trap::bad_p_key, 0x8123, true));
    CHECK(told(story).names == Ids{"p-key-violation"});
    story = three_up();
    story.octets(notice_of(trap::bad_p_key_at_switch, 0x8123));
    found = told(story);
    CHECK(found.names == Ids{"p-key-violation"});
    CHECK_THAT(found.text, ContainsSubstring("port 5 of the switch at LID 0x0077 has told"));
    // Another trap, and one that is cut off.
    story = three_up();
    story.octets(notice_of(trap::bad_m_key, 1)).octets(notice_of(trap::link_state_changed, 1));
    auto cut = notice_of(trap::bad_p_key, 0x8123);
    cut.resize(cut.size() - 250);
    story.octets(cut);
    CHECK(told(story).names.empty());
}

TEST_CASE("Troubles: a key of no link in sight is told without one") {
    auto story = three_up();
    story.octets(notice_of(trap::bad_q_key, 0xb1b)).octets(notice_of(trap::bad_p_key, 0x8777));
    links::Observer observer;
    Judge judge{conformance::selected_rules({}), 0, observer.listener()};
    judge.set_onlooker(observer.onlooker());
    tell(judge, story, [](std::size_t) { return true; });
    Ids names;
    for (const auto& one : links::account_of(judge, observer).findings) {
        if (!one.rule.empty()) continue;
        names.insert(one.name);
        CHECK(one.link.empty());
        CHECK(one.hosts.size() == 2);
        CHECK(one.is_beyond);
    }
    CHECK(names == Ids{"p-key-violation", "q-key-violation"});
}

TEST_CASE("Troubles: a speed that is not known here is no slow link") {
    const auto with_speed = [](std::uint8_t extended, bool has_more, std::uint8_t second = 0) {
        auto info = Bytes<PortInfo>{}
                        .set(PortInfo::gid_prefix, a.gid.prefix())
                        .set(PortInfo::lid, a.lid)
                        .set(PortInfo::port_state, PortState::active)
                        .set(PortInfo::neighbor_mtu, 5)
                        .set(PortInfo::link_width_active, 1)
                        .set(PortInfo::link_speed_active, 1)
                        .set(PortInfo::link_speed_ext_active, extended)
                        .set(PortInfo::link_speed_ext_active2, second);
        if (has_more)
            info.set(PortInfo::capability_mask, PortInfo::is_capability_mask2_supported)
                .set(PortInfo::capability_mask2, PortInfo::is_extended_speeds2_supported);
        auto story = three_up();
        story(port_info(sa, a, Method::get, info))(port_info(a, sa, Method::get_resp, info));
        links::Observer observer;
        Judge judge{conformance::selected_rules({}), 0, observer.listener()};
        judge.set_onlooker(observer.onlooker());
        tell(judge, story, [](std::size_t) { return true; });
        const auto account = links::account_of(judge, observer);
        const bool is_slow =
            std::ranges::find(account.findings, "slower-than-group", &links::Finding::name) != account.findings.end();
        return std::pair{is_slow, account.notes.size()};
    };
    CHECK(with_speed(0, false) == std::pair{true, std::size_t{0}});
    CHECK(with_speed(0, true) == std::pair{true, std::size_t{0}});
    CHECK(with_speed(0, true, 1) == std::pair{false, std::size_t{0}});
    CHECK(with_speed(0, true, 2) == std::pair{false, std::size_t{1}});
    // The octet is reserved where the port does not have these speeds.
    CHECK(with_speed(0, false, 1) == std::pair{true, std::size_t{0}});
    CHECK(with_speed(9, false) == std::pair{false, std::size_t{1}});
}

TEST_CASE("Troubles: a join with a P_Key that is none") {
    const auto asks_with = [](std::uint16_t p_key, std::uint16_t status) {
        auto story = three_up();
        const auto port = samples::host(4);
        story.found(port);
        auto record = build::group_record(port, story.link, story.link.broadcast_gid(), 0, 1);
        record.set(McMemberRecord::p_key, p_key);
        story(mc_member(port, sa, Method::set, 900, record, mask::join | mask::p_key));
        record.set(McMemberRecord::mlid, story.link.broadcast_mlid);
        story(mc_member(sa, port, Method::get_resp, 900, record, mask::join | mask::p_key).set(Mad::status, status));
        return told(story);
    };
    const auto found = asks_with(0x8000, 0x0200);
    CHECK(found.names == Ids{"join-refused-p-key"});
    CHECK(found.ports == 1);
    CHECK(asks_with(0x8123, 0).names.empty());
}

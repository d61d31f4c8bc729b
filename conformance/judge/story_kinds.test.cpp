// SPDX-License-Identifier: GPL-2.0-or-later
// Violations of kinds that other captures have shown, each beside a legal world that looks much like it.
#include "conformance/judge/test_story.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/medium.hpp"
#include "protocol/wire/node_record.hpp"

using namespace ipoib;
using namespace ipoib::testing;

namespace {

constexpr auto address = "239.1.2.3";

Story resolved() {
    auto story = both_up();
    return story(arp_request(a, b.ipv4, story.link))(arp_reply(b, a, story.link));
}
PacketBuilder typed(const Story& story, std::uint16_t type, const Node& from = a, const Node& to = b) {
    return unicast(from, to, story.link).add(std::vector<std::uint8_t>(60, 0xa5)).set(Encap::type, EtherType{type});
}
/// The packet as a capture of an IPoIB interface has it.
std::vector<std::uint8_t> at_interface(const PacketBuilder& packet, Medium medium) {
    const auto frame = packet.build();
    Packet decoded;
    decode(frame, decoded);
    MediumSpec::Head head{};
    const auto size = spec(medium).make_head(decoded, head);
    const auto datagram = decoded.payload.subspan(spec(medium).has_encap ? 0 : Encap::size);
    std::vector<std::uint8_t> octets(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    octets.insert(octets.end(), datagram.begin(), datagram.end());
    return octets;
}
Ids violated_at_interface(const PacketBuilder& packet, Medium medium = Medium::ipoib) {
    Judge judge{conformance::selected_rules({}), 0, {}, {}};
    const auto octets = at_interface(packet, medium);
    judge.frame({.number = 1,
                 .time_ns = second,
                 .link_type = capture::LinkType{spec(medium).link_type},
                 .octets = octets,
                 .wire_length = static_cast<std::uint32_t>(octets.size())});
    judge.finish();
    return violated(judge);
}
/// An unsolicited test of the own address: a solicitation from nobody. RFC 4862, 5.4.2.
PacketBuilder tests_address(const Story& story, const Node& node) {
    auto packet = neighbour_solicitation(node, node.ipv6, mlid, story.link);
    return packet.remove<LinkAddressOption>().set(Ipv6::source, Gid{});
}
PacketBuilder asks_without_option(const Story& story, const Node& node, const Node& of) {
    auto packet = neighbour_solicitation(node, of.ipv6, mlid, story.link);
    return packet.remove<LinkAddressOption>();
}
PacketBuilder limited(PacketBuilder packet) { return packet.set(Bth::p_key, samples::controlled().p_key & 0x7fffu); }
PacketBuilder in_group(const Story& story, const Node& from, std::uint32_t destination) {
    auto packet = multicast(from, story.group(address), mlid, story.link);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from.ipv4).set(Ipv4::destination, destination));
    return packet.add(Bytes<Udp>{}.set(Udp::source, 5000).set(Udp::destination, 5000));
}
std::vector<Bytes<McMemberRecord>> records_of(const Story& story, std::initializer_list<const char*> groups) {
    std::vector<Bytes<McMemberRecord>> records;
    std::uint16_t next = 0xc020;
    for (const auto* group : groups)
        records.push_back(
            build::group_record({}, story.link, story.group(group), next++, 0).set(McMemberRecord::port_gid, Gid{}));
    return records;
}
Story lists(Story story, const Node& port, std::initializer_list<const char*> groups) {
    story(group_table_request(port, sa, 0x4711));
    return story(group_table(sa, port, 0x4711, records_of(story, groups)));
}

}  // namespace

TEST_CASE("Kinds: a Type that is none") {
    Story story;
    SECTION("at an interface") {
        CHECK(violated_at_interface(typed(story, 0x0004)) == Ids{"RFC4391-6-04-interface"});
        CHECK(violated_at_interface(typed(story, 0x05ff)) == Ids{"RFC4391-6-04-interface"});
        CHECK(violated_at_interface(typed(story, 0x0600)) == Ids{});
        CHECK(violated_at_interface(typed(story, 0x88ca)) == Ids{});
    }
    SECTION("of a datagram that is IP, at an interface") {
        for (const auto type : {EtherType{0x88ca}, EtherType::ipv6}) {
            auto packet = echo_request(a, b, story.link, 1);
            packet.set(Encap::type, type);
            CHECK(violated_at_interface(packet, Medium::linux_sll) == Ids{"RFC4391-6-04-interface"});
            CHECK(violated_at_interface(packet, Medium::linux_sll2) == Ids{"RFC4391-6-04-interface"});
        }
        CHECK(violated_at_interface(echo_request(a, b, story.link, 1), Medium::linux_sll) == Ids{});
        auto packet = echo_request(a, b, story.link, 1);
        CHECK(violated_at_interface(packet.set(Encap::type, EtherType{0x88ca})) == Ids{"RFC4391-6-04-interface"});
    }
    SECTION("between two interfaces") {
        auto known = resolved();
        SECTION("none") { CHECK(violated(known(typed(known, 0x0004))) == Ids{"RFC4391-6-04-device"}); }
        SECTION("of another protocol") { CHECK(violated(known(typed(known, 0x88ca))) == Ids{}); }
        SECTION("of another protocol, before IP") {
            auto packet = echo_request(a, b, known.link, 1);
            CHECK(violated(known(packet.set(Encap::type, EtherType{0x88ca}))) == Ids{"RFC4391-6-04-device"});
        }
        SECTION("to a queue pair that nobody has announced") {
            auto other = b;
            other.qpn = 0x999;
            CHECK(violated(known(typed(known, 0x0004, a, other))) == Ids{});
        }
        SECTION("with another Q_Key") {
            CHECK(violated(known(typed(known, 0x0004).set(Deth::q_key, 0x11111111))) == Ids{});
        }
    }
}

TEST_CASE("Kinds: a solicitation in a group without its option") {
    auto story = both_up();
    for (const auto* group : {"ff02::1:ff10:1", "ff02::1:ff10:2"}) {
        const auto mgid = mgid_for_ipv6(parse_gid(group).value(), story.link.p_key, story.link.scope);
        story.join(b, mgid, mlid).join(a, mgid, mlid, 4);
    }
    SECTION("of an address that was tested long ago") {
        story(tests_address(story, a)).pass(8);
        CHECK(violated(story(asks_without_option(story, a, b))) == Ids{"RFC4391-9.3-01-unannounced"});
    }
    SECTION("of an address that is being tested") {
        story(tests_address(story, a)).pass(1);
        story(asks_without_option(story, a, b));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{});
    }
    SECTION("of an address of which nothing is known") {
        story(asks_without_option(story, a, b));
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story) == Ids{"RFC4391-9.3-01-unannounced"});
    }
    SECTION("of nobody") { CHECK(violated(story(tests_address(story, a))) == Ids{}); }
}

TEST_CASE("Kinds: a datagram of link-local scope in another group") {
    auto story = both_up();
    const auto sends = [&](const Gid& mgid, std::uint32_t destination) {
        auto packet = multicast(a, mgid, story.link.broadcast_mlid, story.link);
        packet.add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, destination));
        return packet.add(Bytes<Udp>{}.set(Udp::source, 5353).set(Udp::destination, 5353));
    };
    SECTION("of IPv4, in the broadcast group") {
        story(sends(story.link.broadcast_gid(), parse_ipv4("224.0.0.251").value()));
        CHECK(violated(story) == Ids{"RFC4391-4-07"});
    }
    SECTION("beyond the link") {
        story(sends(story.link.broadcast_gid(), parse_ipv4("239.0.0.251").value()));
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Kinds: unicast IP to a neighbour in a group") {
    auto story = resolved();
    story.join(a, story.group(address), mlid);
    SECTION("that is known") { CHECK(violated(story(in_group(story, a, b.ipv4))) == Ids{"RFC4391-9.1.1-04-in-group"}); }
    SECTION("that nobody has announced") { CHECK(violated(story(in_group(story, a, b.ipv4 + 76))) == Ids{}); }
}

TEST_CASE("Kinds: a DLID that the SA has told to be another port's") {
    auto story = resolved();
    story.path(a, b).path(a, c);
    auto there = b;
    there.lid = c.lid;
    story(echo_request(a, there, story.link, 1));
    CHECK(violated(story).contains("RFC4391-9.1-01-told"));
}

TEST_CASE("Kinds: a queue pair that nobody has announced, at a further LID of the receiver's port") {
    auto wide = b;
    wide.lid = 0x100;
    Story story;
    story.up(a).up(wide)(arp_request(a, wide.ipv4, story.link))(arp_reply(wide, a, story.link));
    const auto info = Bytes<PortInfo>{}
                          .set(PortInfo::gid_prefix, wide.gid.prefix())
                          .set(PortInfo::lid, wide.lid)
                          .set(PortInfo::lmc, std::uint8_t{7})
                          .set(PortInfo::port_state, PortState::active);
    story(port_info(wide, sa, Method::get_resp, info));
    auto packet = echo_request(a, wide, story.link, 1);
    packet.set(Lrh::dlid, static_cast<std::uint16_t>(wide.lid | 0x40));
    SECTION("that one") { CHECK(violated(story(packet.set(Bth::dest_qp, 0x99u))) == Ids{"RFC4391-9.1.1-04-ipv4"}); }
    SECTION("its own") { CHECK(violated(story(packet)) == Ids{}); }
}

TEST_CASE("Kinds: the second link of a port whose life is in the capture") {
    auto story = both_up();
    story(arp_request(a, b.ipv4, story.link));
    story.link.p_key = 0x8777;
    story.join_link(a).join_link(b);
    const auto group = story.group(address);
    story.join(b, group, mlid);
    CHECK(violated(story(story.to_group(a, address, mlid))).contains("RFC4391-10-08"));
}

TEST_CASE("Kinds: a DLID that no port is known to have") {
    auto story = resolved();
    auto there = b;
    there.lid = 0x99;
    const auto answers = [&](std::uint8_t lmc) {
        const auto info = Bytes<PortInfo>{}
                              .set(PortInfo::gid_prefix, b.gid.prefix())
                              .set(PortInfo::lid, b.lid)
                              .set(PortInfo::lmc, lmc)
                              .set(PortInfo::port_state, PortState::active);
        story(port_info(b, sa, Method::get_resp, info));
    };
    SECTION("where the port at the address of the receiver goes on to speak") {
        answers(0);
        story(echo_request(a, there, story.link, 1))(echo_request(b, a, story.link, 1));
        CHECK(violated(story) == Ids{"RFC4391-9.1-01-nobody"});
    }
    SECTION("where it may have moved there") {
        answers(0);
        story(echo_request(a, there, story.link, 1))(echo_request(there, a, story.link, 1));
        CHECK(violated(story) == Ids{});
    }
    SECTION("of the same port, by its LMC") {
        answers(7);
        there.lid = static_cast<std::uint16_t>(b.lid ^ 0x10);
        story(echo_request(a, there, story.link, 1))(echo_request(b, a, story.link, 1));
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Kinds: another subnet without GRH") {
    auto story = both_up();
    auto far = c;
    far.gid = Gid::of(0x2001'0db8'0000'0001, c.gid.interface_id());
    far.lid = 0x77;  // of the router
    story(arp_request(a, far.ipv4, story.link))(arp_reply(far, a, story.link));
    auto data = unicast_with_grh(a, far, story.link)
                    .add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, far.ipv4))
                    .add(Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request));
    SECTION("with") { CHECK(violated(story(data)) == Ids{}); }
    SECTION("without") {
        story(echo_request(a, far, story.link, 1));
        CHECK(violated(story) == Ids{"RFC4391-9.1-02"});
    }
}

TEST_CASE("Kinds: the MLID of a group whose deletion was told soon after the join") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, 4)(story.to_group(a, address, mlid)).pass(4);
    const auto report = group_report(sa, a, trap::multicast_group_deleted, group);
    auto acknowledged = group_report(a, sa, trap::multicast_group_deleted, group);
    story(report)(acknowledged.set(Mad::method, Method::report_resp)).pass(8)(story.to_group(a, address, mlid));
    CHECK(violated(story) == Ids{"RFC4391-10-08", "RFC4391-10-08-refused", "RFC4392-1.3.2.3-02"});
}

TEST_CASE("Kinds: a join in a partition whose P_Key the port lacks") {
    Story story;
    const std::uint16_t others[] = {0xffff, 0x8077}, own[] = {0xffff, 0x8123};
    const auto table = [&](std::span<const std::uint16_t> p_keys) {
        story(p_key_table(a, sa, Method::get_resp, p_keys));
    };
    SECTION("not all of whose table is known") {
        table(others);
        story.up(a);
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story).contains("RFC4391-5-08"));
    }
    SECTION("which was taken away") {
        story(smp(a, sa, {.method = Method::get_resp, .attribute = smp_attribute::node_info},
                  Bytes<NodeInfo>{}.set(NodeInfo::partition_cap, 32)));
        table(own);
        story.pass(1);
        table(others);
        story.pass(8).up(a);
        // It may have been given back by a packet of queue pair 0 that is lost.
        CHECK(violated(story) == Ids{});
        CHECK(undecided(story).contains("RFC4391-5-08"));
        const auto all = [](std::size_t) { return true; };
        CHECK(violated(judged(story, all, {.is_whole = true})) == Ids{"RFC4391-5-08"});
        story(arp_request(a, b.ipv4, story.link));
        CHECK(undecided(story).contains("RFC4391-5-08-uses"));
        CHECK(violated(judged(story, all, {.is_whole = true})).contains("RFC4391-5-08-uses"));
    }
}

TEST_CASE("Kinds: the P_Key table of a port, by a directed route") {
    Story story;
    const std::uint16_t others[] = {0xffff, 0x8077};
    const std::uint8_t route[] = {3};
    const auto answers = [&](std::uint16_t attribute, const auto& data) {
        story(smp({.method = Method::get_resp, .attribute = attribute}, route, data));
    };
    story.found(b).found(a).join_link(b);
    answers(smp_attribute::node_info, Bytes<NodeInfo>{}.set(NodeInfo::partition_cap, 32));
    answers(smp_attribute::port_info, Bytes<PortInfo>{}
                                          .set(PortInfo::gid_prefix, a.gid.prefix())
                                          .set(PortInfo::lid, a.lid)
                                          .set(PortInfo::port_state, PortState::armed));
    answers(smp_attribute::p_key_table, p_key_block(others));
    story.join_link(a);
    CHECK(violated(story) == Ids{"RFC4391-5-08"});
}

TEST_CASE("Kinds: a port that comes up and never joins the broadcast group") {
    Story story;
    story.up(b);
    const auto sends = [&] {
        return story.pass(8)(arp_request(a, b.ipv4, story.link))(arp_request(b, a.ipv4, story.link));
    };
    SECTION("though it was down") {
        story.found(a).up(c);
        CHECK(violated(sends()) == Ids{"RFC4391-5-02-never"});
        CHECK(undecided(story) == Ids{});
    }
    SECTION("as far as the capture shows it") {
        story.up(c);
        CHECK(violated(sends()) == Ids{});
    }
    SECTION("and has used the link before") {
        story.up(c)(arp_request(a, b.ipv4, story.link)).found(a);
        CHECK(violated(sends()) == Ids{});
    }
}

TEST_CASE("Kinds: an answer in another partition than its question") {
    auto story = both_up();
    auto other = story.link;
    other.p_key = 0x8777;
    story(arp_request(b, a.ipv4, story.link))(arp_request(a, b.ipv4, story.link));
    SECTION("by a queue pair that was asked in its own") {
        story(arp_reply(b, a, other));
        CHECK(violated(story).contains("RFC4392-4.1-01"));
    }
    SECTION("by one that was asked in both") {
        story(arp_request(a, b.ipv4, other))(arp_reply(b, a, other))(arp_reply(b, a, story.link));
        CHECK(violated(story).count("RFC4392-4.1-01") == 0);
    }
}

TEST_CASE("Kinds: two limited members") {
    Story story;
    const auto link = story.link;
    story.up(a).up(b);
    SECTION("an ARP reply") {
        story(limited(arp_request(a, b.ipv4, link)))(limited(arp_reply(b, a, link)));
        CHECK(violated(story) == Ids{"RFC4392-1.2-01"});
    }
    SECTION("an advertisement") {
        story(limited(neighbour_solicitation(a, b.ipv6, mlid, link)))(limited(neighbour_advertisement(b, a, link)));
        CHECK(violated(story).contains("RFC4392-1.2-01"));
    }
    SECTION("one of them full") {
        story(limited(arp_request(a, b.ipv4, link)))(arp_reply(b, a, link));
        CHECK(violated(story) == Ids{});
        story(arp_request(b, a.ipv4, link))(limited(arp_reply(a, b, link)));
        CHECK(violated(story) == Ids{});
    }
}

TEST_CASE("Kinds: who is a router") {
    Story story;
    story.up(a);
    SECTION("one that speaks as one joins all that its first list names") {
        story(rip(a, story.link));
        story = lists(story, a, {"239.1.1.1", "239.1.1.2"});
        story.join(a, story.group("239.1.1.1"), 0xc020, join_state::non_member)
            .pass(50)(arp_request(a, b.ipv4, story.link))
            .pass(1)(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story).contains("RFC4391-11-03"));
    }
    SECTION("a host that lists groups, and whose monitor joins one, is none") {
        story = lists(story, a, {"239.1.1.1", "239.1.1.2"});
        story.join(a, story.group("239.1.1.1"), 0xc020, join_state::non_member)
            .pass(50)(arp_request(a, b.ipv4, story.link))
            .pass(1)(arp_request(a, b.ipv4, story.link));
        CHECK(violated(story).count("RFC4391-11-03") == 0);
        CHECK(violated(story).count("RFC4391-11-04") == 0);
    }
}

TEST_CASE("Kinds: a record that allows no sources is no join") {
    auto story = both_up();
    auto report = mld_report(a, wire::group_record::allow, parse_gid("ff05::4711").value(), mlid, story.link);
    story(report).pass(50)(arp_request(a, b.ipv4, story.link)).pass(1)(arp_request(a, b.ipv4, story.link));
    CHECK(violated(story).count("RFC4391-10-15") == 0);
}

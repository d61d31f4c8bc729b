// SPDX-License-Identifier: GPL-2.0-or-later
// The packets of a link by RFC 4391: what each rule must catch, and the false alarms that it must not raise.
#include <algorithm>
#include "protocol/rules/test_rules.hpp"

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

/// A Neighbour Solicitation whose option has its padding behind the address.
PacketBuilder padded_behind(Node from) {
    auto packet = neighbour_solicitation(from, b.ipv6, mlid, plain);
    packet.remove<LinkAddressOption>();
    auto option = golden::octets("0103");
    const auto address = from.link_address().octets;
    option.insert(option.end(), address.begin(), address.end());
    option.insert(option.end(), 2, 0);
    return packet.add(option);
}

}  // namespace

std::vector<Wrong> rules::testing::wrong_rfc4391() {
    const auto arp = arp_request(a, b.ipv4, plain);
    const auto reply = arp_reply(b, a, plain);
    const auto echo = echo_request(a, b, plain, 1);
    const auto ns = neighbour_solicitation(a, b.ipv6, mlid, plain);
    const auto na = neighbour_advertisement(b, a, plain);
    const auto v4 = udp_to_group(a, group, mlid, plain, 20);
    const auto v6 = udp6_to_group(a, group6, mlid, plain, 20);
    auto old_source = a;
    old_source.ipv6 = Gid::of(a.ipv6.prefix(), a.gid.interface_id());
    auto low_qpn = a;
    low_qpn.qpn = 0x000048;
    return {
        {"reserved MGID flag", to_mgid(v4, "ff52:401b:ffff::fff:102"), {"RFC4391-4-01"}},
        {"a signature in host order", to_mgid(v4, "ff12:1b40:ffff::fff:102"), {"RFC4391-4-03", "RFC4391-4-12-mgid"}},
        {"an MLID with a unicast DGID", lie(v4, Grh::dgid, b.gid), {"UDMC-04"}},
        {"an MGID with a unicast DLID", lie(v4, Lrh::dlid, 2), {"UDMC-04"}},
        {"padding behind the address, another prefix",
         padded_behind([] {
             auto node = samples::host(1);
             node.gid = Gid::of(0xfec0000000000001, node.gid.interface_id());
             return node;
         }()),
         {"RFC4391-9.3-05"}},
        {"a second option that is wrong",
         with(ns,
              [](auto& p) {
                  const Bytes<LinkAddressOption> empty;
                  p.add(empty).set(LinkAddressOption::type, 2);
                  p.set(LinkAddressOption::length, 3);
                  p.set(LinkAddressOption::padding, 0x1234);
              }),
         {"RFC4391-9.3-02", "RFC4391-9.3-05"}},
        {"IPv6 to a group that only looks like the broadcast-GID",
         to_mgid(udp6_to_group(a, parse_gid("ff05:0:0:1::ffff:ffff").value(), mlid, plain, 9),
                 "ff12:401b:ffff:1::ffff:ffff"),
         {"RFC4391-4-04"}},
        {"T flag 0", to_mgid(v4, "ff02:401b:ffff::fff:102"), {"RFC4391-4-02"}},
        {"IPv4 in IPv6's signature", to_mgid(v4, "ff12:601b:ffff::fff:102"), {"RFC4391-4-03"}},
        {"ARP in a foreign signature", to_mgid(arp, "ff12:4abc:ffff::ffff:ffff"), {"RFC4391-4-03", "RFC4391-4-10"}},
        {"IPv6 in IPv4's signature", to_mgid(v6, "ff12:401b:ffff:1234:5678:9abc:def0:1"), {"RFC4391-4-04"}},
        {"another P_Key in the MGID", to_mgid(v4, "ff12:401b:8001::fff:102"), {"RFC4391-4-05"}},
        {"no membership bit in the MGID", to_mgid(v4, "ff12:401b:7fff::fff:102"), {"RFC4391-4-05"}},
        {"IPv6 group cut to 32 bits", to_mgid(v6, "ff12:601b:ffff::def0:1"), {"RFC4391-4-06"}},
        {"IPv4 group cut to 23 bits", to_mgid(v4, "ff12:401b:ffff::7f:102"), {"RFC4391-4-07"}},
        {"32 bits of the IPv4 group", to_mgid(v4, "ff12:401b:ffff::efff:102"), {"RFC4391-4-08"}},
        {"bits above the IPv4 group", to_mgid(v4, "ff12:401b:ffff:1::fff:102"), {"RFC4391-4-08"}},
        {"255.255.255.255 as a group", lie(v4, Ipv4::destination, 0xffffffff), {"RFC4391-4-09"}},
        {"255.255.255.255 to one port", lie(echo, Ipv4::destination, 0xffffffff), {"RFC4391-4-09"}},
        {"ARP to the all-hosts group", to_mgid(arp, "ff12:401b:ffff::1"), {"RFC4391-4-10"}},
        {"the IPv6 group's own scope", to_mgid(v6, "ff15:601b:ffff:1234:5678:9abc:def0:1"), {"RFC4391-4-11"}},
        {"a Type in host order", lie(echo, Encap::type, EtherType{0x0008}), {"RFC4391-4-12-type", "RFC4391-6-04"}},
        {"an ARP hardware type in host order",
         lie(reply, Arp::hardware, 0x2000),
         {"RFC4391-4-12-arp", "RFC4391-9.2-01"}},
        {"another SL in multicast", lie(arp, Lrh::sl, 1), {"RFC4391-4.1-05"}},
        {"another TClass in broadcast", lie(arp, Grh::traffic_class, 1), {"RFC4391-4.1-09-tclass"}},
        {"another FlowLabel in broadcast", lie(arp, Grh::flow_label, 1), {"RFC4391-4.1-09-flow-label"}},
        {"another HopLimit in broadcast", lie(arp, Grh::hop_limit, 1), {"RFC4391-4.1-09-hop-limit"}},
        {"Reserved set", lie(echo, Encap::reserved, 0x8000), {"RFC4391-6-02"}},
        {"IPv4 as IPv6", lie(echo, Encap::type, EtherType::ipv6), {"RFC4391-6-04"}},
        {"a Type that is none, on IPv4", lie(echo, Encap::type, EtherType{0x0004}), {"RFC4391-6-04"}},
        {"a reverse request as ARP", lie(reply, Arp::operation, 3), {"RFC4391-6-04"}},
        {"no datagram behind the header", lie(arp, Arp::protocol, 0), {"RFC4391-9.2-02-protocol"}},
        {"multicast without GRH", with(v4, [](auto& p) { p.template remove<Grh>(); }), {"RFC4391-6-07"}},
        {"multicast to a queue pair", lie(v4, Bth::dest_qp, 0x42), {"UDMC-02"}},
        {"a datagram beyond the MTU", udp(a, b, plain, 2044 - 27), {"RFC4391-7-05"}},
        {"u bit not toggled", echo_request6(old_source, b, plain, 1, 8), {}},
        {"link-local address with a subnet",
         udp6_to_group(
             [] {
                 auto node = samples::host(1);
                 node.ipv6 = Gid::of(0xfe80000000000001, node.ipv6.interface_id());
                 return node;
             }(),
             local_group6, mlid, plain, 8),
         {"RFC4391-8.1-01"}},
        {"GUID as it is in multicast", udp6_to_group(old_source, local_group6, mlid, plain, 8), {"RFC4391-8-06"}},
        {"unicast to the multicast queue pair", lie(echo, Bth::dest_qp, 0xffffff), {"RFC4391-9.1-03"}},
        {"no QPN in ARP", lie(arp, ArpAddresses::sha_qpn, 0), {"RFC4391-9.1.1-01-arp"}},
        {"a reserved flag in ARP", lie(arp, ArpAddresses::sha_flags, 0x01), {"RFC4391-9.1.1-02-arp"}},
        {"a reserved flag in ND", lie(ns, LinkAddressOption::flags, 0x20), {"RFC4391-9.1.1-02-nd"}},
        {"an MGID as the GID in ARP",
         lie(arp, ArpAddresses::sha_gid, parse_gid("ff12:401b:ffff::1").value()),
         {"RFC4391-9.1.1-07-arp"}},
        {"another Q_Key", lie(echo, Deth::q_key, 0x0b1c), {"RFC4391-9.1.2-03"}},
        {"ARP of Ethernet", lie(reply, Arp::hardware, 1), {"RFC4391-9.2-01"}},
        {"ARP for another protocol", lie(reply, Arp::protocol, 0x0806), {"RFC4391-9.2-02-protocol"}},
        {"ARP operation 99", lie(reply, Arp::operation, 99), {"RFC4391-9.2-02-operation"}},
        {"ARP with 6-octet addresses", lie(reply, Arp::hardware_length, 6), {"RFC4391-9.2-04"}},
        {"ARP with 26-octet addresses", lie(reply, Arp::hardware_length, 26), {"RFC4391-9.2-04"}},
        {"solicitation without address",
         with(ns, [](auto& p) { p.template remove<LinkAddressOption>(); }),
         {"RFC4391-9.3-01"}},
        {"target option in a solicitation", lie(ns, LinkAddressOption::type, 2), {"RFC4391-9.3-02"}},
        {"source option in an advertisement", lie(na, LinkAddressOption::type, 1), {"RFC4391-9.3-02"}},
        {"an option of 16 octets", lie(ns, LinkAddressOption::length, 2), {"RFC4391-9.3-03"}},
        {"an option without GID", lie(ns, LinkAddressOption::gid, Gid{}), {"RFC4391-9.3-04"}},
        {"padding not zero", lie(ns, LinkAddressOption::padding, 1), {"RFC4391-9.3-05"}},
        {"padding behind the address", padded_behind(a), {"RFC4391-9.3-05"}},
        {"padding behind the address, high QPN", padded_behind(low_qpn), {"RFC4391-9.3-05"}},
        {"an operation that UD has not",
         lie(echo, Bth::opcode, opcode_of(TransportService::unreliable_datagram, Operation::send_first)),
         {"RFC4391-2-01"}},
        {"a directed broadcast to the all-hosts group",
         lie(to_mgid(v4, "ff12:401b:ffff::1"), Ipv4::destination, 0x0a0100ff),
         {"RFC4391-5-04"}},
        {"another GID in ARP than in the GRH", lie(arp, ArpAddresses::sha_gid, b.gid), {"RFC4391-9.1.1-08-arp"}},
        {"another GID in ND than in the GRH", lie(ns, LinkAddressOption::gid, b.gid), {"RFC4391-9.1.1-08-nd"}},
        {"an uncontrolled Q_Key where the group has a controlled one",
         lie(echo_request(a, b, samples::controlled(), 1), Deth::q_key, 0x0b1b),
         {"RFC4391-9.1.2-03", "RFC4391-13-02"},
         samples::controlled()},
    };
}

TEST_CASE("Rules: the 2-octet header of the drafts is no encapsulation header") {
    const auto whole = echo_request(a, b, plain, 1).build();
    auto packet = echo_request(a, b, plain, 1);
    packet.remove<Icmp>().remove<Ipv4>().remove<Encap>();
    PacketBuilder draft;
    draft.add(Bytes<Lrh>{}.set(Lrh::dlid, b.lid).set(Lrh::slid, a.lid));
    draft.add(Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).set(Bth::p_key, 0xffff).set(Bth::dest_qp, b.qpn));
    draft.add(Bytes<Deth>{}.set(Deth::q_key, plain.q_key)).add(golden::octets("0800"));
    draft.add(Octets{whole}.subspan(8 + 12 + 8 + 4, 20 + 8 + 56));
    CHECK(violated(draft) == Ids{"RFC4391-6-01"});
}

TEST_CASE("Rules: a 2-octet header that is cut before it can be told has no Reserved field") {
    const auto whole = arp_request(a, b.ipv4, plain).build();
    auto drafts = whole;
    constexpr std::size_t before_reserved = 8 + 40 + 12 + 8 + 2, reserved = 2;
    const auto at = drafts.begin() + before_reserved;
    drafts.erase(at, at + reserved);
    const Knowledge knowledge{plain};
    for (std::size_t size = before_reserved; size < drafts.size(); ++size) {
        CAPTURE(size);
        CHECK(judge(Octets{drafts}.first(size), knowledge.known).violated.count("RFC4391-6-02") == 0);
    }
    auto wrong = whole;
    wrong[before_reserved] = 7;
    CHECK(judge(Octets{wrong}.first(before_reserved + 20), knowledge.known).violated == Ids{"RFC4391-6-02"});
}

TEST_CASE("Rules: a broadcast group is judged by its record") {
    auto link = samples::controlled();
    CHECK(judge(samples::broadcast_join_answer(a, link).build(), link).violated.empty());
    CHECK(violated(samples::broadcast_join_answer(a, plain)) == Ids{"RFC4391-4.1-02"});
    auto limited = samples::broadcast_join_answer(a, link);
    CHECK(violated(limited.set(McMemberRecord::p_key, 0x0123), link) == Ids{"RFC4391-4.1-01"});
    auto refused = samples::broadcast_join_answer(a, plain);
    CHECK(violated(refused.set(Mad::status, sa_status::invalid_request)).empty());
}

TEST_CASE("Rules: the MGID of a join is judged like that of a packet") {
    const auto join = [](std::string_view mgid) {
        Bytes<McMemberRecord> record;
        record.set(McMemberRecord::mgid, parse_gid(mgid).value()).set(McMemberRecord::p_key, 0xffff);
        constexpr auto mask = McMemberRecord::component::join | McMemberRecord::component::p_key;
        return violated(mc_member(a, samples::sa(), Method::set, 1, record, mask));
    };
    CHECK(join("ff12:401b:ffff::fff:102") == Ids{});
    CHECK(join("ff12:601b:ffff:1:2:3:4:5") == Ids{});
    CHECK(join("ff12:401b:ffff::ffff:ffff") == Ids{});
    CHECK(join("ff02:401b:ffff::1") == Ids{"RFC4391-4-02-join"});
    CHECK(join("ff12:401b:7fff::1") == Ids{"RFC4391-4-05-join"});
    CHECK(join("ff12:401b:ffff::efff:102") == Ids{"RFC4391-4-08-join"});
    CHECK(join("ff12:a01b:7fff::1") == Ids{});
}

TEST_CASE("False alarm: IPv6 may use the broadcast-GID, which has IPv4's signature") {
    auto packet = udp6_to_group(a, group6, plain.broadcast_mlid, plain, 5);
    CHECK(violated(packet.set(Grh::dgid, plain.broadcast_gid())) == Ids{});
}

TEST_CASE("False alarm: a group beyond link-local scope that does not exist goes to the routers or to all") {
    CHECK(violated(to_mgid(udp_to_group(a, group, mlid, plain, 5), "ff12:401b:ffff::2")) == Ids{});
    CHECK(violated(to_mgid(udp_to_group(a, group, mlid, plain, 5), "ff12:401b:ffff::ffff:ffff")) == Ids{});
    CHECK(violated(to_mgid(udp6_to_group(a, group6, mlid, plain, 5), "ff12:601b:ffff::2")) == Ids{});
}

TEST_CASE("False alarm: the scope of an IPv6 group is not that of its MGID") {
    CHECK(violated(udp6_to_group(a, parse_gid("ff0e::1:2").value(), mlid, plain, 5)) == Ids{});
}

TEST_CASE("False alarm: an ARP reply echoes the flags of the request in its target address") {
    CHECK(violated(lie(arp_reply(b, a, plain), ArpAddresses::tha_flags, 0x3f)) == Ids{});
    CHECK(violated(lie(arp_request(a, b.ipv4, plain), ArpAddresses::tha_qpn, 0)) == Ids{});
}

TEST_CASE("False alarm: the flags of RFC 4755 are a note") {
    for (const unsigned flags : {0x80u, 0x40u, 0xc0u}) {
        auto packet = arp_request(a, b.ipv4, plain);
        const auto outcome = judge(packet.set(ArpAddresses::sha_flags, static_cast<std::uint8_t>(flags)).build());
        CHECK(outcome.violated == Ids{});
        CHECK(outcome.noted.count("RULE-RFC4391-9.1.1-02-arp") == 1);
    }
}

TEST_CASE("False alarm: an opaque interface identifier by RFC 8064 is a note") {
    auto node = a;
    node.ipv6 = parse_gid("fe80::8d1f:3a77:9b10:42c5").value();
    const auto outcome = judge(udp6_to_group(node, local_group6, mlid, plain, 5).build());
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.noted.count("RULE-RFC4391-8-03") == 1);
}

TEST_CASE("False alarm: a GUID with the u bit set may be of either form") {
    auto node = a;
    node.gid = Gid::of(a.gid.prefix(), 0x0202c90300100001);
    for (const auto id : {std::uint64_t{0x0202c90300100001}, std::uint64_t{0x0002c90300100001}}) {
        node.ipv6 = Gid::of(a.ipv6.prefix(), id);
        const auto outcome = judge(udp6_to_group(node, local_group6, mlid, plain, 5).build());
        CHECK(outcome.violated == Ids{});
        CHECK(outcome.observed.count("RULE-RFC4391-8-06") == 0);
    }
}

TEST_CASE("False alarm: address detection has no link-layer address, an answer to unicast may leave it out") {
    auto dad = neighbour_solicitation(a, b.ipv6, mlid, plain);
    dad.remove<LinkAddressOption>().set(Ipv6::source, Gid{});
    CHECK(violated(dad) == Ids{});
    auto answer = neighbour_advertisement(b, a, plain);
    CHECK(violated(answer.remove<LinkAddressOption>()) == Ids{});
}

TEST_CASE("False alarm: an option may be in a later fragment") {
    const auto asked = parse_gid("ff02::1:ff00:2").value();
    auto fragment = multicast(a, mgid_for_ipv6(asked, plain.p_key, plain.scope), mlid, plain);
    fragment.add(Bytes<Ipv6>{}
                     .set(Ipv6::source, a.ipv6)
                     .set(Ipv6::destination, asked)
                     .set(Ipv6::next_header, IpProtocol::fragment));
    fragment.add(golden::octets("3a00 0001 00000001"));
    fragment.add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::neighbour_solicitation))
        .add(Bytes<NdTarget>{}.set(NdTarget::target, b.ipv6));
    CHECK(violated(fragment) == Ids{});
}

TEST_CASE("Rules: in address detection the address asked for is the sender's own") {
    const auto detection = [](std::uint64_t prefix, std::uint64_t id) {
        auto packet = neighbour_solicitation(a, Gid::of(prefix, id), mlid, plain);
        packet.remove<LinkAddressOption>().set(Ipv6::source, Gid{});
        return violated(packet);
    };
    const auto link_local = samples::default_prefix, right = a.ipv6.interface_id();
    CHECK(detection(link_local, right) == Ids{});
    CHECK(detection(link_local + 1, right) == Ids{"RFC4391-8.1-01"});
    CHECK(detection(link_local, a.gid.interface_id()) == Ids{"RFC4391-8-06"});
}

TEST_CASE("False alarm: a limited member has the full P_Key in its MGIDs") {
    auto packet = arp_request(a, b.ipv4, plain);
    CHECK(violated(packet.set(Bth::p_key, 0x7fff)) == Ids{});
}

TEST_CASE("False alarm: the P_Key 0x8000 of the RFC's example is notation, not an error") {
    build::Link example;
    example.p_key = 0x8000;
    CHECK(violated(udp_to_group(a, local_group, mlid, example, 5), example) == Ids{});
}

TEST_CASE("False alarm: a unicast packet may have a GRH") {
    auto packet = unicast_with_grh(a, b, plain);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, b.ipv4)).add<Udp>();
    const auto outcome = judge(packet.build());
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.noted.count("RULE-RFC4391-6-08") == 1);
}

TEST_CASE("False alarm: a protocol of another Type is outside of the document") {
    auto packet = broadcast(a, plain);
    packet.set(Encap::type, EtherType{0x88ca});
    for (const auto payload :
         {"0123456789abcdef0123456789abcdef", "4700010203040506 0708090a0b0c0d0e0f10111213141516"}) {
        auto other = packet;
        CHECK(violated(other.add(golden::octets(payload))) == Ids{});
    }
}

TEST_CASE("False alarm: the destination address of DLT 242 may be a template without scope and P_Key") {
    auto frame = arp_request(a, b.ipv4, plain).build(Medium::ipoib);
    const auto address = golden::octets("00ffffff ff10401b 00000000 00000000 ffffffff");
    std::copy(address.begin(), address.end(), frame.begin() + 20);
    const auto outcome = judge(frame, plain, Medium::ipoib);
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.observed.count("RULE-RFC4391-4-05") == 0);
    CHECK(outcome.observed.count("RULE-RFC4391-4-11") == 0);
    CHECK(outcome.observed.count("RULE-RFC4391-6-02") == 1);
}

TEST_CASE("A capture on the IP network device shows ARP and ND, never the InfiniBand headers") {
    for (const auto medium : {Medium::linux_sll, Medium::linux_sll2}) {
        const auto arp = judge(arp_request(a, b.ipv4, plain).build(medium), plain, medium);
        CHECK(arp.violated == Ids{});
        CHECK(arp.observed.count("RULE-RFC4391-9.2-04") == 1);
        CHECK(arp.observed.count("RULE-RFC4391-6-02") == 0);
        CHECK(arp.observed.count("RULE-RFC4391-6-07") == 0);
        auto short_option = neighbour_solicitation(a, b.ipv6, mlid, plain);
        short_option.set(LinkAddressOption::length, 2);
        CHECK(judge(short_option.build(medium), plain, medium).violated == Ids{"RFC4391-9.3-03"});
    }
}

TEST_CASE("A redirected packet proves nothing of its own group's mapping") {
    const auto redirected = to_mgid(udp_to_group(a, group, mlid, plain, 5), "ff12:401b:ffff::ffff:ffff");
    const auto outcome = judge(redirected.build());
    CHECK(outcome.observed.count("RULE-RFC4391-4-07") == 0);
    CHECK(outcome.observed.count("RULE-RFC4391-4-08") == 0);
}

TEST_CASE("A packet of link-local scope goes to no other group than its own") {
    // Where that is missing it is dropped: RFC 4391, 10.
    const auto routers6 = to_mgid(udp6_to_group(a, local_group6, mlid, plain, 9), "ff12:601b:ffff::2");
    CHECK(violated(routers6) == Ids{"RFC4391-4-06"});
    const auto all = to_mgid(udp_to_group(a, local_group, mlid, plain, 9), "ff12:401b:ffff::ffff:ffff");
    CHECK(violated(all) == Ids{"RFC4391-4-07"});
}

TEST_CASE("False alarm: another protocol's Type, and another protocol's ARP") {
    const auto echo = echo_request(a, b, plain, 1), reply = arp_reply(a, b, plain);
    for (const auto type : std::initializer_list<std::uint16_t>{0x1234, 0x80f3, 0x8847, 0x88b5}) {
        CAPTURE(type);
        CHECK(violated(lie(echo, Encap::type, EtherType{type})) == Ids{});
        CHECK(violated(lie(reply, Encap::type, EtherType{type})) == Ids{});
    }
    CHECK(violated(lie(reply, Arp::protocol, 0x809b)) == Ids{});
    // Dynamic RARP, RFC 1931.
    auto dynamic = lie(reply, Arp::operation, 5);
    CHECK(violated(lie(dynamic, Encap::type, EtherType::rarp)) == Ids{});
}

TEST_CASE("False alarm: a connection is no violation of the datagram service") {
    auto packet = echo_request(a, b, plain, 1, 3000);
    packet.remove<Deth>().set(Bth::opcode, Opcode::rc_send_only);
    CHECK(violated(packet) == Ids{});
}

TEST_CASE("False alarm: immediate data is part of the datagram service") {
    PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::dlid, b.lid).set(Lrh::slid, a.lid));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::ud_send_only_immediate)
                   .set(Bth::p_key, plain.p_key)
                   .set(Bth::dest_qp, b.qpn));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, plain.q_key).set(Deth::src_qp, a.qpn)).add<ImmDt>().add<Encap>();
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, a.ipv4).set(Ipv4::destination, b.ipv4)).add<Udp>();
    CHECK(violated(packet) == Ids{});
}

TEST_CASE("Directed broadcasts of all kinds go to the broadcast-GID") {
    for (const auto* destination : {"10.1.0.255", "10.255.255.255", "0.0.0.0"}) {
        auto packet = udp_to_group(a, 0xffffffff, plain.broadcast_mlid, plain, 5);
        const auto outcome = judge(packet.set(Ipv4::destination, parse_ipv4(destination).value()).build());
        CHECK(outcome.violated == Ids{});
        CHECK(outcome.observed.count("RULE-RFC4391-5-04") == 1);
    }
}

TEST_CASE("False alarm: an address that no network can have as its broadcast is a host's, also in a group") {
    for (const auto* destination : {"10.1.0.200", "10.1.0.2", "192.0.2.1"}) {
        CAPTURE(destination);
        auto packet = to_mgid(udp_to_group(a, 0xe0000001, mlid, plain, 5), "ff12:401b:ffff::1");
        const auto outcome = judge(packet.set(Ipv4::destination, parse_ipv4(destination).value()).build());
        CHECK(outcome.violated == Ids{});
        CHECK(outcome.observed.count("RULE-RFC4391-5-04") == 0);
    }
}

TEST_CASE("A datagram that fills the default MTU is noted, a smaller or larger one is not") {
    const auto fills = [](std::size_t size) {
        return judge(udp(a, b, plain, size).build()).noted.count("RULE-RFC4391-7-04") == 1;
    };
    CHECK(fills(2044 - 28));
    CHECK_FALSE(fills(2044 - 29));
    CHECK_FALSE(fills(2044 - 27));
}

TEST_CASE("The queue pair of an address is free: sending from another one is a note") {
    auto packet = arp_request(a, b.ipv4, plain);
    CHECK(judge(packet.build()).noted.count("RULE-RFC4391-9.1.1-06") == 0);
    const auto outcome = judge(packet.set(Deth::src_qp, 0x77).build());
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.noted.count("RULE-RFC4391-9.1.1-06") == 1);
}

TEST_CASE("False alarm: a redirect has the address of another node") {
    auto packet = neighbour_solicitation(a, b.ipv6, mlid, plain);
    packet.remove<LinkAddressOption>().remove<NdTarget>().set(Icmpv6::type, Icmpv6Type::redirect);
    packet.add(Bytes<NdTarget>{}.set(NdTarget::target, b.ipv6)).add(golden::octets("fe800000000000000000000000000003"));
    packet.add(Bytes<LinkAddressOption>{}
                   .set(LinkAddressOption::type, LinkAddressOption::target)
                   .set(LinkAddressOption::length, 3)
                   .set(LinkAddressOption::qpn, b.qpn)
                   .set(LinkAddressOption::gid, b.gid));
    const auto outcome = judge(packet.build());
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.observed.count("RULE-RFC4391-9.3-02") == 1);
    CHECK(outcome.observed.count("RULE-RFC4391-9.1.1-08-nd") == 0);
}

TEST_CASE("Controlled Q_Keys: members must use what the group has, and without its record nobody is charged") {
    const auto frame = echo_request(a, b, plain, 1).build();
    CHECK(judge(frame, state::Known{}).violated == Ids{});
    CHECK(judge(frame).observed.count("RULE-RFC4391-13-02") == 0);
    const auto controlled = echo_request(a, b, samples::controlled(), 1).build();
    CHECK(judge(controlled, state::Known{}).violated == Ids{});
    CHECK(judge(controlled, samples::controlled()).observed.count("RULE-RFC4391-13-02") == 1);
}

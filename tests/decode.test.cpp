// SPDX-License-Identifier: GPL-2.0-or-later
// Decoding: golden frames, truncation sweeps, and what must be named instead of misread.
#include "protocol/build/samples.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/medium.hpp"
#include "protocol/wire/text.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

namespace {

Packet decoded(Octets frame, Medium medium = Medium::infiniband, std::size_t wire_length = 0) {
    Packet packet;
    decode(frame, packet, medium, wire_length);
    return packet;
}

const Node a = samples::host(1), b = samples::host(2);

std::vector<std::vector<std::uint8_t>> every_kind(Medium medium = Medium::infiniband) {
    std::vector<std::vector<std::uint8_t>> frames;
    for (const auto& builder :
         {arp_request(a, b.ipv4, {}), arp_reply(b, a, {}), neighbour_solicitation(a, b.ipv6, 0xc001, {}),
          neighbour_advertisement(b, a, {}), echo_request(a, b, {}, 1), echo_request6(a, b, {}, 1),
          udp_to_group(a, 0xefff0102, 0xc002, {}, 100), udp6_to_group(a, Gid::of(0xff02ull << 48, 5), 0xc003, {}, 33)})
        frames.push_back(builder.build(medium));
    if (medium == Medium::infiniband) frames.push_back(samples::broadcast_join_answer(a, {}).build());
    return frames;
}

struct Captured {
    Medium medium;
    std::vector<std::uint8_t> frame;
};
std::vector<Captured> every_kind_of_every_medium() {
    std::vector<Captured> all;
    for (const auto& row : media())
        if (row.shows != 0)
            for (auto& frame : every_kind(row.medium)) all.push_back({row.medium, std::move(frame)});
    return all;
}

}  // namespace

TEST_CASE("Decode: the golden ARP request") {
    const auto frame = golden::arp_request();
    const auto p = decoded(frame);
    CHECK_FALSE(p.stop);
    CHECK_FALSE(p.is_truncated);
    CHECK(p.is_ipoib());
    CHECK(p.is_multicast);
    CHECK(p.lrh[Lrh::dlid] == 0xc000);
    CHECK(text(p.grh[Grh::dgid]) == "ff12:401b:ffff::ffff:ffff");
    CHECK(p.mgid[Mgid::signature] == ipv4_signature);
    CHECK(p.deth[Deth::q_key] == 0x0b1b);
    CHECK(p.encap[Encap::type] == EtherType::arp);
    CHECK(p.arp[Arp::hardware] == Arp::infiniband);
    CHECK(p.arp_addresses[ArpAddresses::sha_qpn] == 0x405);
    CHECK(ipv4_text(p.arp_addresses[ArpAddresses::tpa]) == "10.0.0.58");
    CHECK(p.payload_length == 60);
    CHECK(p.foreign == Foreign::none);
}

TEST_CASE("Decode: the golden ARP reply has no GRH and is unicast") {
    const auto frame = golden::arp_reply();
    const auto p = decoded(frame);
    CHECK_FALSE(p.stop);
    CHECK(p.is_ipoib());
    CHECK_FALSE(p.is_multicast);
    CHECK_FALSE(p.grh);
    CHECK(p.arp[Arp::operation] == Arp::reply);
}

TEST_CASE("Decode: every truncation goes as far as it can, says where it stopped, and reads nothing behind the end") {
    for (const auto& [medium, frame] : every_kind_of_every_medium()) {
        const auto whole = decoded(frame, medium);
        CHECK_FALSE(whole.stop);
        for (std::size_t length = 0; length < frame.size(); ++length) {
            // A copy of just this length, so that a sanitizer sees a read behind the end.
            const std::vector<std::uint8_t> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
            const auto p = decoded(cut, medium, frame.size());
            CAPTURE(static_cast<int>(medium), length, frame.size());
            REQUIRE(p.is_truncated);
            REQUIRE((p.found & ~whole.found) == 0);
            if (p.stop) REQUIRE(p.stop.offset <= length);
            if (p.stop) REQUIRE(p.stop.available < p.stop.needed);
            p.for_each_header([&](const HeaderSpec& header, const std::uint8_t* at) {
                REQUIRE(at >= cut.data());
                REQUIRE(at + header.size <= cut.data() + cut.size());
            });
        }
    }
}

TEST_CASE("Decode: no single wrong octet reads behind the end") {
    for (const auto& frame : every_kind())
        for (std::size_t i = 0; i < frame.size(); ++i)
            for (const unsigned pattern : {0xffu, 0x80u, 0x01u, 0x7fu}) {
                auto wrong = frame;
                wrong[i] = static_cast<std::uint8_t>(wrong[i] ^ pattern);
                const auto p = decoded(wrong);
                p.for_each_header([&](const HeaderSpec& header, const std::uint8_t* at) {
                    REQUIRE(at >= wrong.data());
                    REQUIRE(at + header.size <= wrong.data() + wrong.size());
                });
            }
}

TEST_CASE("Decode: an SA answer gives the MCMemberRecord") {
    const auto frame = samples::broadcast_join_answer(a, samples::controlled()).build();
    const auto p = decoded(frame);
    CHECK_FALSE(p.is_ipoib());
    REQUIRE(p.mc_member);
    CHECK(p.mad[Mad::method] == Method::get_resp);
    CHECK(p.mc_member[McMemberRecord::q_key] == 0x80000b1b);
    CHECK(is_broadcast_gid(p.mc_member[McMemberRecord::mgid]));
}

TEST_CASE("Decode: the 2-octet header of the drafts is named, its datagram still read") {
    const auto reply = echo_request(a, b, {}, 1).build();
    const auto p = decoded(reply);
    std::vector<std::uint8_t> datagram(p.payload.begin() + 4, p.payload.end());
    PacketBuilder builder;
    builder.add(Bytes<Lrh>{}.set(Lrh::dlid, 2))
        .add(Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).set(Bth::dest_qp, 0x42));
    builder.add(Bytes<Deth>{}).add(golden::octets("0800")).add(datagram);
    const auto frame = builder.build();
    const auto draft = decoded(frame);
    CHECK(draft.is_ipoib());
    CHECK(draft.foreign == Foreign::draft_2001_header);
    CHECK_FALSE(draft.encap);
    CHECK(draft.ipv4[Ipv4::destination] == b.ipv4);
}

TEST_CASE("Decode: the 26-octet address of the 2001 draft is named") {
    auto builder = broadcast(a, {});
    builder.add(Bytes<Arp>{}
                    .set(Arp::hardware, 32)
                    .set(Arp::protocol, 0x0800)
                    .set(Arp::hardware_length, 26)
                    .set(Arp::protocol_length, 4)
                    .set(Arp::operation, 1));
    const auto frame = builder.add(std::vector<std::uint8_t>(60)).build();
    CHECK(decoded(frame).foreign == Foreign::draft_2001_address);
    CHECK_FALSE(decoded(frame).arp_addresses);
}

TEST_CASE("Decode: the drafts' P_Key and IPv6 broadcast group are named") {
    Link link;
    auto builder = multicast(a, Gid::of(0xff12401b00080000, 0xffffffff), 0xc000, link);
    auto arp = arp_request(a, b.ipv4, link);
    arp.set(Grh::dgid, Gid::of(0xff12401b00080000, 0xffffffff));
    CHECK(decoded(arp.build()).foreign == Foreign::draft_p_key);
    arp.set(Grh::dgid, Gid::of(0xff12601bffff0000, 1));
    CHECK(decoded(arp.build()).foreign == Foreign::draft_ipv6_broadcast);
}

TEST_CASE("Decode: RoCE and FreeBSD's made-up Ethernet header are named") {
    const auto roce_v1 = golden::octets("020000000001 020000000002 8915 6000000000");
    CHECK(decoded(roce_v1, Medium::ethernet).foreign == Foreign::roce_v1);
    const auto roce_v2 = golden::octets(
        "020000000001 020000000002 0800 4500002c00004000401100000a0000010a000002 c00012b700180000 6440ffff00ffffff");
    CHECK(decoded(roce_v2, Medium::ethernet).foreign == Foreign::roce_v2);
    auto freebsd = golden::octets("000000000000 000000000000 0806");
    const auto arp = golden::arp_reply();
    freebsd.insert(freebsd.end(), arp.begin() + 32, arp.end() - 6);
    const auto p = decoded(freebsd, Medium::ethernet);
    CHECK(p.foreign == Foreign::freebsd_ethernet);
    CHECK_FALSE(p.is_ipoib());
}

TEST_CASE("Decode: a datagram of other programs over UD is not taken for IPoIB") {
    for (const auto hex :
         {"00000000 00000000", "dead beef 45000000", "1234 0000 0102030405060708", "0045 0000 00000000"}) {
        PacketBuilder builder;
        builder.add(Bytes<Lrh>{}.set(Lrh::dlid, 2))
            .add(Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).set(Bth::dest_qp, 0x42));
        const auto frame = builder.add(Bytes<Deth>{}).add(golden::octets(hex)).build();
        CAPTURE(hex);
        CHECK_FALSE(decoded(frame).is_ipoib());
    }
}

TEST_CASE("Decode: a non-zero Reserved, a wrong Type and a swapped Type stay IPoIB") {
    auto reserved = echo_request(a, b, {}, 1);
    CHECK(decoded(reserved.set(Encap::reserved, 0xabcd).build()).ipv4);
    for (const auto type : {0x0004, 0x0008, 0x86dd}) {
        auto wrong = echo_request(a, b, {}, 1);
        const auto frame = wrong.set(Encap::type, EtherType{static_cast<std::uint16_t>(type)}).build();
        const auto p = decoded(frame);
        CAPTURE(type);
        CHECK(p.is_ipoib());
        CHECK(p.content == EtherType::ipv4);
        REQUIRE(p.ipv4);
        CHECK(p.ipv4[Ipv4::destination] == b.ipv4);
    }
    // What has another protocol's Type is that protocol's.
    auto other = echo_request(a, b, {}, 1);
    CHECK_FALSE(decoded(other.set(Encap::type, EtherType{0x1234}).build()).is_ipoib());
}

TEST_CASE("Decode: behind a GRH that announces no IBA transport nothing is read") {
    auto builder = arp_request(a, b.ipv4, {});
    const auto frame = builder.set(Grh::next_header, std::uint8_t{0x3a}).build();
    CHECK(decoded(frame).grh);
    CHECK_FALSE(decoded(frame).bth);
}

TEST_CASE("Decode: a connected SEND is IPoIB only when it is an IP packet beyond doubt") {
    auto builder = echo_request(a, b, {}, 1);
    builder.remove<Deth>().set(Bth::opcode, Opcode::rc_send_only);
    const auto frame = builder.build();
    CHECK(decoded(frame).has(Part::connected));
    auto other = echo_request(a, b, {}, 1);
    other.remove<Deth>().set(Bth::opcode, Opcode::rc_send_only).set(Ipv4::total_length, 21);
    const auto not_ip = other.build();
    CHECK_FALSE(decoded(not_ip).is_ipoib());
}

TEST_CASE("Decode: Neighbour Discovery options of every length, and one that does not fit") {
    auto builder = neighbour_solicitation(a, b.ipv6, 0xc001, {});
    const auto good_frame = builder.build();
    const auto good = decoded(good_frame);
    CHECK(good.source_option[LinkAddressOption::qpn] == a.qpn);
    CHECK(good.nd_target[NdTarget::target] == b.ipv6);
    const auto short_frame = builder.set(LinkAddressOption::length, 2).build();
    const auto p = decoded(short_frame);
    CHECK_FALSE(p.source_option);
    CHECK(p.has(Part::nd_wrong));
    CHECK(p.wrong_option.size() == 16);
    const auto long_frame = builder.set(LinkAddressOption::length, 4).build();
    CHECK(decoded(long_frame).stop.layer == "ND option");
    const auto zero_frame = builder.set(LinkAddressOption::length, 0).build();
    CHECK(decoded(zero_frame).stop.layer == "ND option");
}

TEST_CASE("Decode: IPv6 extension headers are walked over, later fragments are not read") {
    auto builder = unicast(a, b, {});
    builder.add(Bytes<Ipv6>{}
                    .set(Ipv6::source, a.ipv6)
                    .set(Ipv6::destination, b.ipv6)
                    .set(Ipv6::next_header, IpProtocol::hop_by_hop));
    builder.add(golden::octets("2c00 010400000000  3a00 0000 00000001"))
        .add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::echo_request));
    const auto frame = builder.build();
    CHECK(decoded(frame).icmpv6[Icmpv6::type] == Icmpv6Type::echo_request);
    auto later = unicast(a, b, {});
    later.add(Bytes<Ipv6>{}.set(Ipv6::next_header, IpProtocol::fragment))
        .add(golden::octets("3a00 0008 00000001 8000000000000000"));
    const auto later_frame = later.build();
    CHECK_FALSE(decoded(later_frame).icmpv6);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/packet_builder.hpp"

#include "protocol/build/frame_maker.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/medium.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

namespace {

/// The two hosts of the golden frames.
const Node requester{.lid = 4,
                     .gid = Gid::of(0xfe80000000000000, 0x0002c9020024f636),
                     .qpn = 0x405,
                     .ipv4 = 0x0a000122,
                     .link_flags = 0x80};
const Node replier{.lid = 5,
                   .gid = Gid::of(0xfe80000000000000, 0x0002c9020020b4dd),
                   .qpn = 0x404,
                   .ipv4 = 0x0a00003a,
                   .link_flags = 0x80};

Packet decoded(const std::vector<std::uint8_t>& frame, Medium medium = Medium::infiniband) {
    Packet packet;
    decode(frame, packet, medium);
    return packet;
}

}  // namespace

TEST_CASE("Builder: the golden ARP request comes out octet for octet") {
    auto packet = arp_request(requester, replier.ipv4, {});
    CHECK(packet.set(Bth::psn, 0x20af).build() == golden::arp_request());
}

TEST_CASE("Builder: the golden ARP reply comes out octet for octet") {
    // That fabric's target link-layer address carries the flags of the request.
    auto from = replier, to = requester;
    auto packet = arp_reply(from, to, {});
    packet.set(Bth::psn, 0xd43bc).set(Lrh::dlid, 4);
    auto frame = packet.build();
    const auto golden = golden::arp_reply();
    CHECK(frame.size() == golden.size());
    const auto expected = decoded(golden), actual = decoded(frame);
    CHECK(std::equal(actual.payload.begin(), actual.payload.end(), expected.payload.begin(), expected.payload.end()) ==
          (expected.arp_addresses[ArpAddresses::sha_flags] == actual.arp_addresses[ArpAddresses::sha_flags]));
}

TEST_CASE("Builder: padding makes the payload a multiple of four, for every size") {
    const auto a = samples::host(1), b = samples::host(2);
    for (std::size_t size = 0; size < 9; ++size) {
        const auto frame = udp(a, b, {}, size).build();
        const auto packet = decoded(frame);
        CAPTURE(size);
        CHECK(packet.payload_length == 4 + 20 + 8 + size);
        CHECK(packet.bth[Bth::pad] == (4 - packet.payload_length % 4) % 4);
        CHECK(packet.ipv4[Ipv4::total_length] == 28 + size);
        CHECK(packet.udp[Udp::length] == 8 + size);
        CHECK(check_crcs(frame, packet.tail).icrc == Check::good);
        CHECK(check_crcs(frame, packet.tail).vcrc == Check::good);
        CHECK(internet_checksum(packet.ipv4.octets()) == 0);
    }
}

TEST_CASE("Builder: checksums over a pseudo-header are right") {
    const auto a = samples::host(1), b = samples::host(2);
    for (const auto& builder :
         {echo_request6(a, b, {}, 7), neighbour_solicitation(a, b.ipv6, 0xc001, {}), neighbour_advertisement(b, a, {}),
          udp6_to_group(a, Gid::of(0xff02ull << 48, 0x99), 0xc002, {}, 5)}) {
        const auto frame = builder.build();
        const auto packet = decoded(frame);
        REQUIRE(packet.ipv6);
        std::uint32_t sum =
            static_cast<std::uint32_t>(packet.ip_payload.size()) + static_cast<std::uint32_t>(packet.ip_protocol);
        for (std::size_t i = 8; i < 40; i += 2)
            sum += static_cast<unsigned>(packet.ipv6.data()[i] << 8 | packet.ipv6.data()[i + 1]);
        CHECK(internet_checksum(packet.ip_payload, sum) == 0);
    }
}

TEST_CASE("Builder: a field set by name stands although it contradicts the rest, and the CRCs cover the lie") {
    const auto a = samples::host(1), b = samples::host(2);
    auto builder = echo_request(a, b, {}, 1);
    const auto frame = builder.set(Ipv4::total_length, 20).set(Encap::reserved, 0x8006).build();
    const auto packet = decoded(frame);
    REQUIRE(packet.ipv4);
    CHECK(packet.encap[Encap::reserved] == 0x8006);
    CHECK(packet.ipv4[Ipv4::total_length] == 20);
    CHECK(check_crcs(frame, packet.tail).icrc == Check::good);
}

TEST_CASE("Builder: a CRC can be damaged on purpose") {
    const auto a = samples::host(1), b = samples::host(2);
    const auto icrc = echo_request(a, b, {}, 1).damage_icrc(0x00010000).build();
    CHECK(check_crcs(icrc, detect_tail(icrc)).icrc == Check::bad);
    CHECK(check_crcs(icrc, detect_tail(icrc)).vcrc == Check::good);
    const auto vcrc = echo_request(a, b, {}, 1).damage_vcrc(0x0100).build();
    CHECK(check_crcs(vcrc, detect_tail(vcrc)).icrc == Check::good);
    CHECK(check_crcs(vcrc, detect_tail(vcrc)).vcrc == Check::bad);
}

TEST_CASE("Frame maker: what was made before leaves no trace") {
    const auto a = samples::host(1), b = samples::host(2);
    FrameMaker maker;
    const auto check = [&](const PacketBuilder& packet) {
        CHECK(std::ranges::equal(maker.make(packet), packet.build()));
    };
    for (const std::size_t size : {2000u, 0u, 63u, 300u, 5000u, 1u, 63u}) {
        CAPTURE(size);
        check(udp(a, b, {}, size));
        check(udp(a, b, {}, size).damage_icrc(7));
        check(udp(a, b, {}, size).set(Udp::length, 9));
        check(udp(a, b, {}, size).choose(Udp::length, 9).set(Ipv4::header_words, 7));
        check(udp(a, b, {}, size).choose(Ipv4::ttl, 3).set(Lrh::packet_length, 2));
        check(udp6_to_group(a, Gid::of(0xff02ull << 48, 0x99), 0xc002, {}, size));
        check(echo_request6(a, b, {}, 7, size));
        check(arp_request(requester, replier.ipv4, {}).choose(Encap::type, EtherType::rarp));
        check(arp_request(requester, replier.ipv4, {}));
    }
}

TEST_CASE("Builder: fields keep what was set although a header before theirs is removed") {
    auto builder = arp_request(requester, replier.ipv4, {});
    builder.set(Grh::payload_length, 1).set(Bth::pad, 3).remove<Grh>();
    const auto frame = builder.build();
    CHECK(decoded(frame).bth[Bth::pad] == 3);
    builder = PacketBuilder{}.add<Lrh>().add<Grh>().add<Bth>().set(Grh::payload_length, 1).remove<Grh>();
    CHECK(builder.build() == PacketBuilder{}.add<Lrh>().add<Bth>().build());
}

TEST_CASE("Builder: a removed header is gone and the lengths follow") {
    auto builder = arp_request(requester, replier.ipv4, {});
    const auto frame = builder.remove<Grh>().build();
    const auto packet = decoded(frame);
    CHECK_FALSE(packet.grh);
    CHECK(packet.lrh[Lrh::lnh] == Lnh::local);
    CHECK(frame.size() == golden::arp_request().size() - Grh::size);
    CHECK(packet.arp_addresses);
}

TEST_CASE("Builder: setting a field of a header that is not there is a programming error") {
    auto builder = arp_request(requester, replier.ipv4, {});
    REQUIRE_THROWS_WITH(builder.set(Ipv4::ttl, 1), ContainsSubstring("has no IPv4"));
}

TEST_CASE("Builder: other kinds of capture show the same datagram") {
    const auto builder = arp_request(requester, replier.ipv4, {});
    const auto whole_frame = builder.build();
    const auto whole = decoded(whole_frame);
    for (const auto& row : media()) {
        const auto medium = row.medium;
        if (!row.make_head) continue;
        CAPTURE(row.name);
        const auto frame = builder.build(medium);
        const auto packet = decoded(frame, medium);
        CHECK(packet.is_ipoib());
        CHECK(packet.is_multicast);
        REQUIRE(packet.arp_addresses);
        CHECK(std::ranges::equal(packet.arp_addresses.octets(), whole.arp_addresses.octets()));
    }
}

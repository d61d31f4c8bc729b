// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/verbs/datagram.hpp"

#include "catch2.hpp"
#include "protocol/build/frame_template.hpp"
#include "protocol/build/ipoib.hpp"

#include <algorithm>
#include <random>

namespace ipoib::fabric {
namespace {
using namespace wire;

const Gid own_gid = Gid::of(0xfe80000000000000, 0x0002c90300000001);
const build::Node tester{.lid = 1, .gid = own_gid, .qpn = 0x48, .ipv4 = 0x0a010001, .ipv6 = own_gid};
const build::Node dut{.lid = 2, .gid = Gid::of(0xfe80000000000000, 7), .qpn = 0x49, .ipv4 = 0x0a010009, .ipv6 = {}};
const build::Link link{.sl = 3, .traffic_class = 0x11, .hop_limit = 9, .flow_label = 0x12345};
const UdSource source{.lid = 1, .gid = own_gid, .qpn = 0x48, .p_key = 0xffff, .q_key = 0x0b1b};

std::string refusal_of(const build::PacketBuilder& packet) {
    UdRequest request;
    const auto frame = packet.build();
    return to_request(frame, source, request);
}

/// What the receiver's adapter tells of a frame.
UdArrival arrival_of(Octets frame, const Packet& packet) {
    return {.slid = packet.lrh[Lrh::slid],
            .dlid = packet.lrh[Lrh::dlid],
            .sl = packet.lrh[Lrh::sl],
            .src_qp = packet.deth[Deth::src_qp],
            .immediate = packet.immdt ? std::optional{packet.immdt[ImmDt::data]} : std::nullopt,
            .grh = packet.grh ? frame.subspan(Lrh::size, Grh::size) : Octets{},
            .payload = packet.payload};
}

TEST_CASE("Verbs: what a queue pair can send is a request for it") {
    const auto frame = build::unicast_with_grh(tester, dut, link).add(Bytes<Ipv4>{}).build();
    UdRequest request;
    CHECK(to_request(frame, source, request).empty());
    CHECK(request.path.dlid == 2);
    CHECK(request.path.sl == 3);
    REQUIRE(request.path.global);
    CHECK(request.path.global->dgid == dut.gid);
    CHECK(request.path.global->flow_label == 0x12345);
    CHECK(request.path.global->traffic_class == 0x11);
    CHECK(request.path.global->hop_limit == 9);
    CHECK(request.dest_qp == 0x49);
    CHECK(request.q_key == 0x0b1b);
    CHECK_FALSE(request.is_solicited);
    CHECK_FALSE(request.immediate);
    CHECK(request.payload.size() == 24);
}

TEST_CASE("Verbs: payloads of every length, groups and a wrong Q_Key go out") {
    for (std::size_t size = 0; size < 9; ++size) CHECK(refusal_of(build::udp(tester, dut, link, size)).empty());
    CHECK(refusal_of(build::arp_request(tester, dut.ipv4, link)).empty());
    CHECK(refusal_of(build::udp(tester, dut, link, 5).set(Deth::q_key, 0x1234)).empty());
    CHECK(refusal_of(build::udp(tester, dut, link, 5).set(Bth::solicited, true)).empty());
    CHECK(refusal_of(build::udp(tester, dut, link, 5).set(Encap::reserved, 0xabcd)).empty());
}

TEST_CASE("Verbs: what the adapter would send otherwise is refused by the name of the field") {
    const auto refused = [&](const auto& field, auto value) {
        return refusal_of(build::unicast_with_grh(tester, dut, link).add(Bytes<Ipv4>{}).set(field, value));
    };
    CHECK(refused(Lrh::vl, std::uint8_t{3}) == "LRH.VL is 3; the adapter sends 0");
    CHECK_THAT(refused(Lrh::reserved1, std::uint8_t{1}), ContainsSubstring("LRH.Reserved1"));
    CHECK_THAT(refused(Lrh::slid, std::uint16_t{9}), ContainsSubstring("LRH.SLID"));
    CHECK_THAT(refused(Grh::sgid, dut.gid), ContainsSubstring("GRH.SGID"));
    CHECK_FALSE(refused(Grh::next_header, std::uint8_t{0x3a}).empty());
    CHECK_THAT(refused(Grh::payload_length, std::uint16_t{4}), ContainsSubstring("GRH.PayLen"));
    CHECK_THAT(refused(Bth::p_key, std::uint16_t{0x7fff}), ContainsSubstring("BTH.P_Key is 0x7fff"));
    CHECK_THAT(refused(Bth::version, std::uint8_t{1}), ContainsSubstring("BTH.TVer"));
    CHECK_THAT(refused(Bth::migration, false), ContainsSubstring("BTH.M"));
    CHECK_THAT(refused(Bth::reserved8, std::uint8_t{1}), ContainsSubstring("BTH.Reserved8a"));
    CHECK_THAT(refused(Bth::psn, 77u), ContainsSubstring("BTH.PSN"));
    CHECK_THAT(refused(Deth::src_qp, 0x99u), ContainsSubstring("DETH.SrcQP"));
    CHECK_THAT(refused(Deth::reserved, std::uint8_t{1}), ContainsSubstring("DETH.Reserved"));
    CHECK_THAT(refused(Deth::q_key, 0x80000b1bu), ContainsSubstring("controlled"));
    CHECK_THAT(refusal_of(build::udp(tester, dut, link, 5).damage_icrc(1)), ContainsSubstring("ICRC"));
    CHECK_THAT(refusal_of(build::udp(tester, dut, link, 5).damage_vcrc(1)), ContainsSubstring("VCRC"));
    CHECK_FALSE(refused(Bth::opcode, Opcode::rc_send_only).empty());
    CHECK_FALSE(refused(Lrh::packet_length, std::uint16_t{10}).empty());
}

TEST_CASE("Verbs: a packet whose VCRC is zero by right goes out") {
    build::FrameTemplate::Tables tables;
    build::FrameTemplate packet{build::udp(tester, dut, link, 8), 0, tables};
    const auto vcrc = [&] { return packet.frame().last(vcrc_size); };
    for (std::uint64_t number = 0; number < 1u << 20 && (vcrc()[0] != 0 || vcrc()[1] != 0); ++number)
        packet.set(number, 0);
    REQUIRE((vcrc()[0] == 0 && vcrc()[1] == 0));
    UdRequest request;
    CHECK(to_request(packet.frame(), source, request).empty());
}

TEST_CASE("Verbs: what was sent is rebuilt from what the receiver is told, but for both CRCs") {
    const UdSource receiver{.lid = 2, .gid = dut.gid, .qpn = 0x49, .p_key = 0xffff, .q_key = 0x0b1b};
    for (const auto& packet : {build::udp(tester, dut, link, 7), build::arp_request(tester, dut.ipv4, link),
                               build::unicast_with_grh(tester, dut, link).add(Bytes<Ipv4>{})}) {
        auto frame = packet.build();
        Packet p;
        decode(frame, p);
        const auto made = rebuilt(arrival_of(frame, p), receiver);
        std::fill(frame.end() - 6, frame.end(), std::uint8_t{0});
        CHECK(std::ranges::equal(made.octets(), frame));
    }
    const std::vector<std::uint8_t> payload(5, 0xaa);
    const auto made = rebuilt(
        {.slid = 1, .dlid = 2, .src_qp = 0x48, .immediate = 0x01020304, .grh = {}, .payload = payload}, receiver);
    Packet p;
    decode(made.octets(), p);
    REQUIRE(p.immdt);
    CHECK(p.immdt[ImmDt::data] == 0x01020304);
    CHECK(std::ranges::equal(p.payload, payload));
    const std::vector<std::uint8_t> too_long(5000);
    CHECK_FALSE(rebuilt({.grh = {}, .payload = too_long}, receiver));
}

TEST_CASE("Verbs: a frame with any bit turned is the same frame again, or refused") {
    std::mt19937 random{3};
    const auto good = build::arp_request(tester, dut.ipv4, link).build();
    unsigned sent = 0;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto frame = good;
        frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 1u << bit % 8);
        std::fill(frame.end() - 6, frame.end(), std::uint8_t{0});
        UdRequest request;
        if (!to_request(frame, source, request).empty()) continue;
        ++sent;
        Packet p;
        decode(frame, p);
        CHECK(request.payload.size() == p.payload.size());
        CHECK(request.path.dlid == p.lrh[Lrh::dlid]);
    }
    // The payload, the way, DestQP and Q_Key but for its high bit.
    CHECK(sent > 60 * 8);
    for (std::size_t size = 0; size < good.size(); ++size) {
        UdRequest request;
        CHECK_FALSE(to_request(Octets{good}.first(size), source, request).empty());
    }
}

}  // namespace
}  // namespace ipoib::fabric

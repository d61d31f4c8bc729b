// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/kernel/vib_pure.hpp"
#include "protocol/wire/bth.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/grh.hpp"
#include "protocol/wire/lrh.hpp"

namespace {

using namespace ipoib;
using Octets = std::vector<std::uint8_t>;

vib_fault_of_frame parse(const Octets& octets, vib_frame& frame) {
    return vib_frame_parse(&frame, octets.data(), octets.size());
}
vib_fault_of_frame fault_of(const Octets& octets) {
    vib_frame frame;
    return parse(octets, frame);
}
/// Gives a frame that was cut or grown the length that it has, in LRH and GRH.
void fit(Octets& octets) {
    vib_put16(static_cast<std::uint16_t>((octets.size() - VIB_VCRC_SIZE) / 4), &octets[4]);
    if ((octets[1] & 3) == 3 && octets.size() > 50)
        vib_put16(static_cast<std::uint16_t>(octets.size() - 50), &octets[12]);
}
vib_head head_of_datagram() {
    vib_head head{};
    head.sl = 3;
    head.dlid = 0x1234;
    head.slid = 0x5678;
    head.opcode = 0x64;
    head.pkey = 0x8123;
    head.dest_qp = 0xabcdef;
    head.psn = 0x123456;
    head.has_deth = true;
    head.qkey = 0x80010000;
    head.src_qp = 0x654321;
    return head;
}
Octets make(const vib_head& head, std::size_t payload) {
    Octets octets(vib_head_frame_size(&head, payload), 0xa5);
    vib_head_write(&head, payload, octets.data());
    return octets;
}

TEST_CASE("Kernel frame: the headers of a broadcast of a real fabric") {
    vib_frame frame;
    REQUIRE(parse(wire::golden::arp_request(), frame) == VIB_FRAME_GOOD);
    CHECK(frame.dlid == 0xc000);
    CHECK(frame.slid == 4);
    CHECK(frame.vl == 0);
    CHECK(frame.sl == 0);
    CHECK(frame.has_grh);
    CHECK(frame.grh == 8);
    CHECK(frame.bth == 48);
    CHECK(frame.opcode == 0x64);
    CHECK(frame.pkey == 0xffff);
    CHECK(frame.dest_qp == VIB_QPN_MULTICAST);
    CHECK(frame.psn == 0x20af);
    CHECK(frame.qkey == 0x0b1b);
    CHECK(frame.src_qp == 0x405);
    CHECK(frame.extension == 68);
    CHECK(frame.end == 128);
    CHECK(vib_frame_payload(&frame) == 60);
}

TEST_CASE("Kernel frame: the headers of a unicast without a GRH") {
    vib_frame frame;
    REQUIRE(parse(wire::golden::arp_reply(), frame) == VIB_FRAME_GOOD);
    CHECK_FALSE(frame.has_grh);
    CHECK(frame.grh == 0);
    CHECK(frame.bth == 8);
    CHECK(frame.dest_qp == 0x405);
    CHECK(frame.src_qp == 0x404);
    CHECK(frame.extension == 28);
    CHECK(vib_frame_payload(&frame) == 60);
}

TEST_CASE("Kernel frame: every truncation is refused, also where the lengths were made to fit") {
    for (const auto& golden : {wire::golden::arp_request(), wire::golden::arp_reply()})
        for (std::size_t length = 0; length < golden.size(); ++length) {
            // A buffer of its own, so that a sanitizer sees whoever reads behind it.
            Octets cut(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(length));
            CAPTURE(length);
            REQUIRE(fault_of(cut) != VIB_FRAME_GOOD);
            if (length < VIB_LRH_SIZE || length % 4 != VIB_VCRC_SIZE) continue;
            fit(cut);
            vib_frame frame;
            if (parse(cut, frame) != VIB_FRAME_GOOD) continue;
            REQUIRE(frame.extension + frame.pad <= frame.end);
            REQUIRE(frame.end + std::size_t{VIB_CRC_SIZE} == length);
            REQUIRE(length >= frame.bth + std::size_t{VIB_BTH_SIZE} + VIB_DETH_SIZE + VIB_CRC_SIZE);
        }
}

TEST_CASE("Kernel frame: each fault has its name") {
    const auto golden = wire::golden::arp_request();
    CHECK(fault_of({}) == VIB_FRAME_SHORT);
    CHECK(fault_of(Octets(7)) == VIB_FRAME_SHORT);
    Octets octets(VIB_FRAME_MAX + 1);
    CHECK(fault_of(octets) == VIB_FRAME_LONG);
    octets = golden;
    octets.push_back(0);
    CHECK(fault_of(octets) == VIB_FRAME_LENGTH);
    octets = golden;
    octets[5] = static_cast<std::uint8_t>(octets[5] + 1);
    CHECK(fault_of(octets) == VIB_FRAME_LENGTH);
    for (const unsigned lnh : {0u, 1u}) {
        octets = golden;
        octets[1] = static_cast<std::uint8_t>((octets[1] & 0xfcu) | lnh);
        CHECK(fault_of(octets) == VIB_FRAME_FOREIGN);
    }
    octets = golden;
    octets[8] = 0x40;  // IPVer
    CHECK(fault_of(octets) == VIB_FRAME_FOREIGN);
    octets = golden;
    octets[14] = 17;  // NxtHdr
    CHECK(fault_of(octets) == VIB_FRAME_FOREIGN);
    octets = golden;
    octets[13] = static_cast<std::uint8_t>(octets[13] - 4);  // PayLen
    CHECK(fault_of(octets) == VIB_FRAME_LENGTH);
    octets = make(head_of_datagram(), 0);
    octets[9] |= 0x30;  // PadCnt of 3 with no payload
    CHECK(fault_of(octets) == VIB_FRAME_SHORT);
}

TEST_CASE("Kernel frame: the reserved bits beside LRH.PktLen are no part of it") {
    auto octets = wire::golden::arp_reply();
    octets[4] |= 0xf8;
    CHECK(fault_of(octets) == VIB_FRAME_GOOD);
}

TEST_CASE("Kernel frame: the shortest is an acknowledgement, and a bare BTH") {
    vib_head head{};
    head.opcode = 0x11;
    head.extension = 4;
    vib_frame frame;
    REQUIRE(parse(make(head, 0), frame) == VIB_FRAME_GOOD);
    CHECK(frame.extension == 20);
    CHECK(vib_frame_payload(&frame) == 0);
    head.opcode = 4;
    head.extension = 0;
    const auto bare = make(head, 0);
    CHECK(bare.size() == VIB_FRAME_MIN);
    CHECK(fault_of(bare) == VIB_FRAME_GOOD);
}

TEST_CASE("Kernel frame: what is written reads back") {
    for (const bool has_grh : {false, true})
        for (std::size_t payload = 0; payload < 9; ++payload) {
            auto head = head_of_datagram();
            head.vl = 5;
            head.has_grh = has_grh;
            head.is_solicited = true;
            const auto octets = make(head, payload);
            CAPTURE(has_grh, payload);
            CHECK(octets.size() % 4 == VIB_VCRC_SIZE);
            vib_frame frame;
            REQUIRE(parse(octets, frame) == VIB_FRAME_GOOD);
            CHECK(frame.vl == 5);
            CHECK(frame.sl == 3);
            CHECK(frame.dlid == 0x1234);
            CHECK(frame.slid == 0x5678);
            CHECK(frame.has_grh == has_grh);
            CHECK(frame.opcode == 0x64);
            CHECK(frame.is_solicited);
            CHECK_FALSE(frame.wants_ack);
            CHECK(frame.pkey == 0x8123);
            CHECK(frame.dest_qp == 0xabcdef);
            CHECK(frame.psn == 0x123456);
            CHECK(frame.qkey == 0x80010000);
            CHECK(frame.src_qp == 0x654321);
            CHECK(frame.pad == (4 - payload % 4) % 4);
            CHECK(frame.extension + payload + frame.pad == frame.end);
            CHECK(vib_frame_is_unsealed(octets.data(), octets.size()));
        }
}

TEST_CASE("Kernel frame: every field is where the protocol library has it") {
    auto head = head_of_datagram();
    head.has_grh = true;
    head.traffic_class = 0x9a;
    head.flow_label = 0x12345;
    head.hop_limit = 7;
    head.wants_ack = true;
    for (std::uint8_t i = 0; i < 16; ++i) {
        head.sgid[i] = i;
        head.dgid[i] = static_cast<std::uint8_t>(0xf0 + i);
    }
    const auto octets = make(head, 5);
    const wire::Octets all{octets};
    const auto lrh = wire::View<wire::Lrh>::at(all);
    CHECK(lrh[wire::Lrh::dlid] == 0x1234);
    CHECK(lrh[wire::Lrh::slid] == 0x5678);
    CHECK(lrh[wire::Lrh::sl] == 3);
    CHECK(lrh[wire::Lrh::lnh] == wire::Lnh::global);
    CHECK(lrh[wire::Lrh::packet_length] * 4u + VIB_VCRC_SIZE == octets.size());
    const auto grh = wire::View<wire::Grh>::at(all.subspan(VIB_LRH_SIZE));
    CHECK(grh[wire::Grh::traffic_class] == 0x9a);
    CHECK(grh[wire::Grh::flow_label] == 0x12345);
    CHECK(grh[wire::Grh::hop_limit] == 7);
    const auto bth = wire::View<wire::Bth>::at(all.subspan(VIB_LRH_SIZE + VIB_GRH_SIZE));
    CHECK(bth[wire::Bth::migration]);
    CHECK(bth[wire::Bth::p_key] == 0x8123);
    CHECK(bth[wire::Bth::dest_qp] == 0xabcdefu);
    CHECK(std::equal(head.dgid, head.dgid + 16, octets.begin() + 32));
    CHECK(std::equal(head.sgid, head.sgid + 16, octets.begin() + 16));
}

TEST_CASE("Kernel frame: extended headers are no payload") {
    struct Row {
        std::uint8_t opcode;
        std::uint8_t extended;
    };
    for (const auto [opcode, extended] :
         {Row{0x04, 0}, Row{0x05, 4}, Row{0x06, 16}, Row{0x0b, 20}, Row{0x0c, 16}, Row{0x10, 4}, Row{0x11, 4},
          Row{0x12, 12}, Row{0x13, 28}, Row{0x17, 4}, Row{0x24, 0}, Row{0x2b, 20}, Row{0x64, 0}, Row{0x65, 4}}) {
        vib_head head{};
        head.opcode = opcode;
        head.has_deth = opcode >> 5 == 3;
        head.extension = extended;
        vib_frame frame;
        CAPTURE(unsigned{opcode});
        REQUIRE(parse(make(head, 256), frame) == VIB_FRAME_GOOD);
        CHECK(vib_frame_payload(&frame) == 256);
        REQUIRE(parse(make(head, 0), frame) == VIB_FRAME_GOOD);
        CHECK(vib_frame_payload(&frame) == 0);
    }
}

TEST_CASE("Kernel frame: the longest fits") {
    auto head = head_of_datagram();
    head.has_grh = true;
    head.opcode = 0x65;
    head.extension = 4;
    const auto octets = make(head, 4096);
    CHECK(octets.size() <= VIB_FRAME_MAX);
    CHECK(fault_of(octets) == VIB_FRAME_GOOD);
}

}  // namespace

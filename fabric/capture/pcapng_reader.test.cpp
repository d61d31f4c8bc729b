// SPDX-License-Identifier: GPL-2.0-or-later
// pcapng (draft-ietf-opsawg-pcapng): sections, interfaces, every packet block, times, and each check of a block.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <limits>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr unsigned infiniband_link = 247, sll_link = 113;
constexpr unsigned if_name = 2, if_tsresol = 9, if_tsoffset = 14, end_of_options = 0;

File resolution(Order order, unsigned octet) { return option(order, if_tsresol, {static_cast<std::uint8_t>(octet)}); }

/// The time read for `ticks` of an interface with these options.
std::int64_t time_of(const File& options, std::uint64_t ticks, Order order = Order::little) {
    const auto outcome = read_all(
        join({section(order), interface(order, infiniband_link, options), enhanced(order, 0, ticks, octets_of(8))}));
    return outcome.frames.at(0).time_ns;
}

/// Section and interface, then one good packet: 112 octets, so that what is appended begins at 0x70.
File good_beginning() {
    constexpr auto order = Order::little;
    return join({section(order), interface(order, infiniband_link), enhanced(order, 0, 1, octets_of(32))});
}

void check_corrupt_after_frame_1(const File& appended, const std::string& why) {
    const auto outcome = read_all(join({good_beginning(), appended}));
    CHECK(outcome.frames.size() == 1);
    CHECK(outcome.status == Status::corrupt);
    CHECK(outcome.error == "corrupt after frame 1 at offset 0x70: " + why);
}

}  // namespace

TEST_CASE("pcapng: golden octets of a big-endian file are read") {
    // By hand after draft-ietf-opsawg-pcapng, figures of 4.1 (SHB), 4.2 (IDB) and 4.3 (EPB).
    const File file{0x0a, 0x0d, 0x0d, 0x0a, 0x00, 0x00, 0x00, 0x1c, 0x1a, 0x2b, 0x3c, 0x4d, 0x00, 0x01,
                    0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x1c,  // SHB
                    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x28, 0x00, 0xf7, 0x00, 0x00, 0x00, 0x00,
                    0x00, 0x00,  // IDB
                    0x00, 0x02, 0x00, 0x03, 'd',  'u',  't',  0x00, 0x00, 0x09, 0x00, 0x01, 0x09, 0x00,
                    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x06,
                    0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00,  // EPB, time 0x1_00000002 ns
                    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00,
                    0x00, 0x09, 0xaa, 0xbb, 0xcc, 0x00, 0x00, 0x00, 0x00, 0x24};
    auto reader = Reader::from_descriptor(in_memory(file), "golden");
    CHECK(reader.format() == "pcapng");
    CHECK(reader.file_link_type() == 247);
    Frame frame;
    REQUIRE(reader.next(frame) == Status::frame);
    CHECK(frame.number == 1);
    CHECK(frame.time_ns == 4'294'967'298);
    CHECK(frame.link_type == LinkType::infiniband);
    CHECK(File(frame.octets.begin(), frame.octets.end()) == File{0xaa, 0xbb, 0xcc});
    CHECK(frame.wire_length == 9);
    CHECK(frame.file_offset == 68);
    CHECK(reader.interface_name(frame.interface) == "dut");
    CHECK(reader.interface_name(1).empty());
    CHECK(reader.next(frame) == Status::end);
    CHECK(reader.error().empty());
}

TEST_CASE("pcapng: simple and obsolete packet blocks are read in either byte order") {
    const auto order = GENERATE(Order::little, Order::big);
    const auto simple = [&](std::uint32_t wire_length, const File& octets) {
        return block(order, 3, Pack{order}.u32(wire_length).octets(octets).pad().file());
    };
    const auto obsolete =
        block(order, 2, Pack{order}.u16(1).u16(77).u32(0).u32(5).u32(3).u32(30).octets(octets_of(3)).pad().file());
    const auto outcome =
        read_all(join({section(order), interface(order, infiniband_link, {}, 16), interface(order, sll_link),
                       simple(40, octets_of(16)), obsolete, simple(5, octets_of(5))}));
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 3);
    CHECK(outcome.frames[0] == Kept{1, 0, LinkType::infiniband, 0, octets_of(16), 40, 68});
    CHECK(outcome.frames[1] == Kept{2, 5000, LinkType::linux_sll, 1, octets_of(3), 30, 100, 77});
    CHECK(outcome.frames[2] == Kept{3, 0, LinkType::infiniband, 0, octets_of(5), 5, 136});
}

TEST_CASE("pcapng: sections of either byte order follow each other, each with interfaces of its own") {
    const auto named = [](Order order, const std::string& name) { return option(order, if_name, text(name)); };
    const auto part = [&](Order order, const std::string& name, unsigned link_type) {
        return join(
            {section(order), interface(order, link_type, named(order, name)), enhanced(order, 0, 1, octets_of(8))});
    };
    auto reader = Reader::from_descriptor(
        in_memory(join({part(Order::little, "first", infiniband_link), part(Order::big, "second", sll_link)})),
        "sections");
    Frame frame;
    REQUIRE(reader.next(frame) == Status::frame);
    CHECK(frame.interface == 0);
    CHECK(frame.link_type == LinkType::infiniband);
    const auto first = reader.interface_name(0);
    REQUIRE(reader.next(frame) == Status::frame);
    CHECK(frame.interface == 1);
    CHECK(frame.link_type == LinkType::linux_sll);
    CHECK(reader.interface_name(1) == "second");
    CHECK(first == "first");
    CHECK(reader.next(frame) == Status::end);
    CHECK(reader.file_link_type() == 247);

    const auto outcome = read_all(join({part(Order::little, "", infiniband_link), section(Order::little),
                                        enhanced(Order::little, 0, 1, octets_of(8))}));
    CHECK(outcome.status == Status::corrupt);
    CHECK_THAT(outcome.error, ContainsSubstring("interface 0 is not described; the section has 0"));
}

TEST_CASE("pcapng: if_tsresol counts in powers of ten and of two") {
    const auto order = GENERATE(Order::little, Order::big);
    CHECK(time_of({}, 1'700'000'000'123'456, order) == 1'700'000'000'123'456'000);
    CHECK(time_of(resolution(order, 0), 3, order) == 3'000'000'000);
    CHECK(time_of(resolution(order, 3), 3, order) == 3'000'000);
    CHECK(time_of(resolution(order, 9), 1'700'000'000'123'456'789, order) == 1'700'000'000'123'456'789);
    CHECK(time_of(resolution(order, 12), 1'999, order) == 1);
    CHECK(time_of(resolution(order, 127), 0xffffffffffffffff, order) == 0);
    CHECK(time_of(resolution(order, 0x80), 3, order) == 3'000'000'000);
    CHECK(time_of(resolution(order, 0x81), 3, order) == 1'500'000'000);
    CHECK(time_of(resolution(order, 0xa0), 0x0000000780000000, order) == 7'500'000'000);
    CHECK(time_of(resolution(order, 0xff), 0xffffffffffffffff, order) == 0);
}

TEST_CASE("pcapng: if_tsoffset is added, and a time out of range becomes the nearest possible one") {
    const auto order = GENERATE(Order::little, Order::big);
    const auto with_offset = [&](std::int64_t seconds, unsigned resolution_octet) {
        return join({option(order, if_tsoffset, Pack{order}.u64(static_cast<std::uint64_t>(seconds)).file()),
                     resolution(order, resolution_octet), option(order, end_of_options, {})});
    };
    CHECK(time_of(with_offset(1'000, 9), 5, order) == 1'000'000'000'005);
    CHECK(time_of(with_offset(-1'000, 9), 5, order) == -999'999'999'995);
    constexpr auto latest = std::numeric_limits<std::int64_t>::max(),
                   earliest = std::numeric_limits<std::int64_t>::min();
    CHECK(time_of(with_offset(earliest, 9), 5, order) == earliest);
    CHECK(time_of(with_offset(latest, 0), 0xffffffffffffffff, order) == latest);
    CHECK(time_of(resolution(order, 9), 0xffffffffffffffff, order) == latest);
}

TEST_CASE("pcapng: options behind opt_endofopt are not read, unknown ones are passed over") {
    constexpr auto order = Order::little;
    const auto options = join({option(order, 2988, octets_of(5)), option(order, if_name, text("dut")),
                               option(order, end_of_options, {}), option(order, if_name, text("liar"))});
    auto reader = Reader::from_descriptor(in_memory(join({section(order), interface(order, infiniband_link, options)})),
                                          "options");
    CHECK(reader.interface_name(0) == "dut");
    Frame frame;
    CHECK(reader.next(frame) == Status::end);
}

TEST_CASE("pcapng: a damaged option of a packet is no comment, and harms nothing else") {
    constexpr auto order = Order::big;
    const auto packet_with = [&](const File& options) {
        return block(order, 6, Pack{order}.u32(0).u32(0).u32(1).u32(4).u32(4).u32(7).octets(options).file());
    };
    const auto whole = option(order, 1, text("why"));
    const auto cut = Pack{order}.u16(1).u16(400).u32(0).file();
    const auto ended = join({option(order, end_of_options, {}), whole});
    for (const auto& options : {cut, ended, File{0, 1, 0, 0}, File(4), join({option(order, 5, {1, 2}), cut})}) {
        auto reader =
            Reader::from_descriptor(in_memory(join({section(order), interface(order, infiniband_link),
                                                    packet_with(whole), packet_with(options), packet_with({})})),
                                    "x");
        Frame frame;
        REQUIRE(reader.next(frame) == Status::frame);
        CHECK(frame.comment == "why");
        REQUIRE(reader.next(frame) == Status::frame);
        CHECK(frame.comment.empty());
        CHECK(frame.octets.size() == 4);
        REQUIRE(reader.next(frame) == Status::frame);
        CHECK(frame.comment.empty());
    }
}

TEST_CASE("pcapng: an interface name is kept to its first 256 octets") {
    constexpr auto order = Order::little;
    const auto options = option(order, if_name, text(std::string(5000, 'n')));
    const auto reader = Reader::from_descriptor(
        in_memory(join({section(order), interface(order, infiniband_link, options)})), "long name");
    CHECK(reader.interface_name(0) == std::string(256, 'n'));
}

TEST_CASE("pcapng: blocks of other types are counted and passed over") {
    constexpr auto order = Order::big;
    const auto outcome = read_all(
        join({section(order), block(order, 4, octets_of(8)), interface(order, infiniband_link),
              block(order, 5, octets_of(12)), enhanced(order, 0, 1, octets_of(8)), block(order, 0x0bad, File(300'000)),
              block(order, 0x80000001, {}), enhanced(order, 0, 2, octets_of(8))}));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.skipped.blocks == 4);
    REQUIRE(outcome.frames.size() == 2);
    CHECK(outcome.frames[1].number == 2);
}

TEST_CASE("pcapng: a block as long as the limit is read, however the reading is split") {
    constexpr auto order = Order::little;
    constexpr std::uint32_t limit = std::uint32_t{16} << 20;
    const auto large = octets_of(limit - 32);
    const auto outcome = read_all(join({section(order), interface(order, infiniband_link), enhanced(order, 0, 1, large),
                                        enhanced(order, 0, 2, octets_of(7))}));
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 2);
    const bool is_same = outcome.frames[0].octets == large;
    CHECK(is_same);
    CHECK(outcome.frames[1].octets == octets_of(7));
}

TEST_CASE("pcapng: a damaged block is corrupt, and the message names frame, offset and fault") {
    constexpr auto order = Order::little;
    const auto with_length = [&](std::uint32_t length) {
        return Pack{order}.u32(6).u32(length).octets(octets_of(64)).file();
    };
    check_corrupt_after_frame_1(with_length(7), "block length 7 is not a multiple of 4");
    check_corrupt_after_frame_1(with_length(8), "block length 8 is less than a block's own 12 octets");
    check_corrupt_after_frame_1(with_length(0), "block length 0 is less than a block's own 12 octets");
    check_corrupt_after_frame_1(with_length(16777220), "block length 16777220 is more than 16 MiB");
    auto unequal = enhanced(order, 0, 1, octets_of(4));
    unequal[unequal.size() - 4] = 0x28;
    check_corrupt_after_frame_1(unequal, "block length 36 is 40 at its end");
    check_corrupt_after_frame_1(enhanced(order, 1, 1, octets_of(4)), "interface 1 is not described; the section has 1");
    auto too_much = enhanced(order, 0, 1, octets_of(4));
    too_much[20] = 5;
    check_corrupt_after_frame_1(too_much, "packet of 5 octets in a block with room for 4");
    too_much[23] = 0xff;
    check_corrupt_after_frame_1(too_much, "packet of 4278190085 octets in a block with room for 4");
    check_corrupt_after_frame_1(block(order, 6, octets_of(16, 0)),
                                "interface 50462976 is not described; the section has 1");
    check_corrupt_after_frame_1(block(order, 6, File(16)), "packet block of only 28 octets");
    check_corrupt_after_frame_1(block(order, 3, {}), "packet block of only 12 octets");
    check_corrupt_after_frame_1(block(order, 1, File(4)), "interface description of only 16 octets");
    check_corrupt_after_frame_1(interface(order, infiniband_link, Pack{order}.u16(2).u16(5).u32(0).file()),
                                "interface option 2 runs past its block");
    check_corrupt_after_frame_1(interface(order, infiniband_link, option(order, if_tsresol, File(2))),
                                "interface option 9 (if_tsresol) is not one octet long");
    check_corrupt_after_frame_1(interface(order, infiniband_link, option(order, if_tsoffset, File(4))),
                                "interface option 14 (if_tsoffset) is not eight octets long");
    check_corrupt_after_frame_1(block(order, 0x0a0d0d0a, File(16)), "byte-order magic 0x0 is unknown");
    check_corrupt_after_frame_1(block(order, 0x0a0d0d0a, Pack{order}.u32(0x1a2b3c4d).u16(2).u16(1).u64(0).file()),
                                "version 2.1 is unknown");
    check_corrupt_after_frame_1(block(order, 0x0a0d0d0a, Pack{order}.u32(0x1a2b3c4d).file()),
                                "section header of only 16 octets");
}

TEST_CASE("pcapng: a fault before the first interface is told when the file is opened") {
    const auto reader = Reader::from_descriptor(
        in_memory(join({section(Order::little), block(Order::little, 1, File(4))})), "x.pcapng");
    CHECK(reader.error() == "x.pcapng is corrupt at offset 0x1c: interface description of only 16 octets");
}

TEST_CASE("pcapng: more than 65536 interfaces are refused") {
    constexpr auto order = Order::little;
    File file = section(order);
    const File one = interface(order, infiniband_link);
    for (unsigned i = 0; i < 65537; ++i) file.insert(file.end(), one.begin(), one.end());
    const auto outcome = read_all(file);
    CHECK(outcome.status == Status::corrupt);
    CHECK_THAT(outcome.error, ContainsSubstring("more than 65536 interfaces"));
}

TEST_CASE("pcapng: a section header without anything behind it is a capture without frames") {
    const auto outcome = read_all(section(Order::big));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.error.empty());
    CHECK(outcome.file_link_type == -1);
}

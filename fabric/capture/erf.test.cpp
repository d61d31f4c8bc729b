// SPDX-License-Identifier: GPL-2.0-or-later
// ERF records: the header as ibdump writes it, every variant that a capture may hold, and what is passed over.
#include "fabric/capture/erf.hpp"
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <array>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr unsigned erf_link = 197, extended = 0x80, infiniband = 21, ethernet = 2;

/// Generic header of the ERF types reference; the time is little-endian, all else big-endian.
File erf(unsigned type, unsigned record_length, unsigned wire_length, const File& rest,
         std::uint64_t time = std::uint64_t{5} << 32) {
    return join({Pack{Order::little}.u64(time).file(),
                 Pack{Order::big}.u8(type).u8(4).u16(record_length).u16(0).u16(wire_length).file(), rest});
}

File capture_of(const std::vector<File>& records) {
    auto file = pcap_header(Order::little, microsecond_magic, erf_link);
    for (const auto& record : records) file = join({file, pcap_record(Order::little, 5, 0, record)});
    return file;
}

}  // namespace

TEST_CASE("ERF: golden octets as ibdump writes them are read") {
    // By hand after the ERF types reference: 1700000000 s + 0x80000000 / 2^32 s, type 21, flags 4, rlen 24, wlen 8.
    const File record{0x00, 0x00, 0x00, 0x80, 0x00, 0xf1, 0x53, 0x65, 0x15, 0x04, 0x00, 0x18,
                      0x00, 0x00, 0x00, 0x08, 0xf0, 0x02, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03};
    const auto outcome = read_all(capture_of({record}));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.file_link_type == 197);
    REQUIRE(outcome.frames.size() == 1);
    CHECK(outcome.frames[0] == Kept{1,
                                    1'700'000'000'500'000'000,
                                    LinkType::infiniband,
                                    0,
                                    {0xf0, 0x02, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03},
                                    8,
                                    24});
}

TEST_CASE("ERF: the header is written as ibdump does, its time running past the second") {
    const auto at = [](std::int64_t time_ns) { return ibdump_erf_header(time_ns, 8); };
    // 1700000000 s = 0x6553f100, 500000 us x 4295 = 0x80003fe0.
    const std::array<std::uint8_t, 16> golden{0xe0, 0x3f, 0x00, 0x80, 0x00, 0xf1, 0x53, 0x65,
                                              0x15, 0x04, 0x00, 0x18, 0x00, 0x00, 0x00, 0x08};
    const bool is_golden = at(1'700'000'000'500'000'999).octets == golden;
    CHECK(is_golden);
    // 999999 us x 4295 is 28409 more than 2^32.
    const std::array<std::uint8_t, 8> carried{0xf9, 0x6e, 0x00, 0x00, 0x01, 0xf1, 0x53, 0x65};
    const bool is_carried = at(1'700'000'000'999'999'000).view()[ErfHeader::time] == carried;
    CHECK(is_carried);
}

TEST_CASE("ERF: a fraction is rounded to the nearest nanosecond, into the next second too") {
    const auto time_of = [](std::uint64_t fraction) {
        const auto outcome =
            read_all(capture_of({erf(infiniband, 24, 8, octets_of(8), std::uint64_t{9} << 32 | fraction)}));
        return outcome.frames.at(0).time_ns;
    };
    CHECK(time_of(0) == 9'000'000'000);
    CHECK(time_of(2) == 9'000'000'000);
    CHECK(time_of(3) == 9'000'000'001);
    CHECK(time_of(0xffffffff) == 10'000'000'000);
    CHECK(read_all(capture_of({erf(infiniband, 24, 8, octets_of(8), 0xffffffffffffffff)})).frames.at(0).time_ns ==
          4'294'967'296'000'000'000);
}

TEST_CASE("ERF: extension headers are taken off, however many there are") {
    const std::size_t count = GENERATE(1u, 2u, 5u);
    File extensions;
    for (std::size_t i = 0; i < count; ++i) {
        auto extension = octets_of(8, 2);
        extension[0] = i + 1 < count ? 0x84 : 0x04;
        extensions = join({extensions, extension});
    }
    const auto outcome = read_all(capture_of({erf(extended | infiniband, 48, 12, join({extensions, octets_of(12)}))}));
    REQUIRE(outcome.frames.size() == 1);
    CHECK(outcome.frames[0].octets == octets_of(12));
    CHECK(outcome.frames[0].wire_length == 12);
}

TEST_CASE("ERF: the wire length, not the record length, tells where the frame ends") {
    SECTION("padding behind the frame is dropped") {
        const auto outcome = read_all(capture_of({erf(infiniband, 32, 10, octets_of(16))}));
        CHECK(outcome.frames.at(0).octets == octets_of(10));
        CHECK(outcome.frames.at(0).wire_length == 10);
    }
    SECTION("a record length beyond the data changes nothing") {
        const auto outcome = read_all(capture_of({erf(infiniband, 64, 10, octets_of(10))}));
        CHECK(outcome.frames.at(0).octets == octets_of(10));
    }
    SECTION("a wire length of 0 leaves what was captured") {
        const auto outcome = read_all(capture_of({erf(infiniband, 32, 0, octets_of(16))}));
        CHECK(outcome.frames.at(0).octets == octets_of(16));
        CHECK(outcome.frames.at(0).wire_length == 16);
    }
    SECTION("a longer wire length marks a truncated frame") {
        const auto outcome = read_all(capture_of({erf(infiniband, 32, 300, octets_of(16))}));
        CHECK(outcome.frames.at(0).octets == octets_of(16));
        CHECK(outcome.frames.at(0).wire_length == 300);
    }
    SECTION("an empty frame is a frame") {
        const auto outcome = read_all(capture_of({erf(infiniband, 16, 0, {})}));
        CHECK(outcome.frames.at(0).octets.empty());
    }
}

TEST_CASE("ERF: other and malformed records are counted, not returned, and keep their frame numbers") {
    auto endless = erf(extended | infiniband, 32, 8, octets_of(16));
    endless[16] = endless[24] = 0x80;
    const auto outcome = read_all(capture_of({
        erf(ethernet, 40, 20, octets_of(22)),
        erf(infiniband, 24, 8, octets_of(8)),
        File(15),
        erf(extended | ethernet, 40, 20, octets_of(22)),
        endless,
        erf(extended | infiniband, 32, 8, octets_of(7)),
        erf(infiniband, 24, 8, octets_of(8, 1)),
    }));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.skipped.erf_other == 2);
    CHECK(outcome.skipped.erf_malformed == 3);
    REQUIRE(outcome.frames.size() == 2);
    CHECK(outcome.frames[0].number == 2);
    CHECK(outcome.frames[1].number == 7);
    CHECK(outcome.frames[1].octets == octets_of(8, 1));
}

TEST_CASE("ERF: an ERF interface of a pcapng is read alike, with the time of the packet block as in Wireshark") {
    const auto record = erf(infiniband, 24, 8, octets_of(8), std::uint64_t{7} << 32);
    const auto outcome =
        read_all(join({section(Order::big), interface(Order::big, erf_link), enhanced(Order::big, 0, 8'000'000, record),
                       enhanced(Order::big, 0, 7'000'000, File(3))}));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.file_link_type == 197);
    CHECK(outcome.skipped.erf_malformed == 1);
    REQUIRE(outcome.frames.size() == 1);
    CHECK(outcome.frames[0] == Kept{1, 8'000'000'000, LinkType::infiniband, 0, octets_of(8), 8, 48});
}

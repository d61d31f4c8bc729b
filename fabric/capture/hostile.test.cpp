// SPDX-License-Identifier: GPL-2.0-or-later
// Hostile files: every truncation and many mutations of small captures end in an answer, never in a crash or a hang.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"
#include "sanitized.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

struct Sample {
    const char* name;
    File file;
    std::vector<std::size_t> ends;  ///< where each frame's record ends, behind the file's head
    std::size_t head;               ///< octets without which the file cannot be opened
};

File erf_record(unsigned size) {
    return join({Pack{Order::little}.u64(std::uint64_t{5} << 32).file(),
                 Pack{Order::big}.u8(0x80 | 21).u8(4).u16(24 + size).u16(0).u16(size).file(), octets_of(8, 2),
                 octets_of(size)});
}

Sample sample_of(const char* name, const File& head, const std::vector<File>& records) {
    Sample sample{name, head, {}, head.size()};
    for (const auto& record : records) {
        sample.file = join({sample.file, record});
        sample.ends.push_back(sample.file.size());
    }
    return sample;
}

std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (const auto order : {Order::little, Order::big}) {
        const auto record = [&](unsigned i) { return pcap_record(order, i, i, octets_of(20 + i, i)); };
        all.push_back(sample_of("pcap", pcap_header(order, nanosecond_magic, 247), {record(0), record(1), record(2)}));
        const auto erf = [&](unsigned i) { return pcap_record(order, i, i, erf_record(20 + i)); };
        all.push_back(sample_of("ERF", pcap_header(order, microsecond_magic, 197), {erf(0), erf(1), erf(2)}));
        const auto options = join({option(order, 2, text("dut")), option(order, 9, {9}),
                                   option(order, 14, Pack{order}.u64(3).file()), option(order, 0, {})});
        const auto enhanced_of = [&](unsigned i) { return enhanced(order, 0, i, octets_of(21 + i, i)); };
        const auto simple = block(order, 3, Pack{order}.u32(5).octets(octets_of(5)).pad().file());
        all.push_back(sample_of("pcapng", join({section(order), interface(order, 247, options)}),
                                {enhanced_of(0), simple, enhanced_of(2)}));
        const auto count = [&](unsigned code) { return option(order, code, Pack{order}.u64(7).file()); };
        const auto counted = enhanced(order, 0, 3, octets_of(9), 0, join({option(order, 1, text("x")), count(4)}));
        const auto obsolete =
            block(order, 2, Pack{order}.u16(0).u16(3).u64(2).u32(5).u32(5).octets(octets_of(5)).pad().file());
        all.push_back(sample_of("pcapng that lacks packets", join({section(order), interface(order, 247, options)}),
                                {enhanced_of(0), counted, obsolete}));
    }
    return all;
}

/// AddressSanitizer keeps up to 256 MiB of freed memory to find uses of it.
constexpr std::size_t kept_by_sanitizer_kib = ipoib::is_sanitized ? 512 << 10 : 0;

std::size_t peak_kib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss);
}

}  // namespace

TEST_CASE("Reader: every truncation of a file gives the frames that are whole, then its end or cut") {
    for (const auto& sample : samples()) {
        const auto whole = read_all(sample.file);
        REQUIRE(whole.status == Status::end);
        REQUIRE(whole.frames.size() == sample.ends.size());
        for (std::size_t size = 1; size < sample.file.size(); ++size) {
            CAPTURE(sample.name, size);
            const auto outcome =
                read_all(File{sample.file.begin(), sample.file.begin() + static_cast<std::ptrdiff_t>(size)});
            const auto complete =
                std::count_if(sample.ends.begin(), sample.ends.end(), [&](auto end) { return end <= size; });
            REQUIRE(std::equal(outcome.frames.begin(), outcome.frames.end(), whole.frames.begin(),
                               whole.frames.begin() + complete));
            const bool is_at_boundary =
                size == sample.head || std::count(sample.ends.begin(), sample.ends.end(), size) > 0;
            // A pcapng may end behind its section header too.
            const bool is_section_only =
                std::string{sample.name}.starts_with("pcapng") && size == section(Order::little).size();
            if (is_at_boundary || is_section_only) {
                REQUIRE(outcome.status == Status::end);
                REQUIRE(outcome.error.empty());
            } else {
                REQUIRE(outcome.status == (size < sample.head ? Status::corrupt : Status::cut));
                REQUIRE(!outcome.error.empty());
            }
        }
    }
}

TEST_CASE("Reader: a mutated octet never crashes, hangs, or takes away the frames before it") {
    const auto before = peak_kib();
    for (const auto& sample : samples()) {
        const auto whole = read_all(sample.file);
        for (std::size_t at = 0; at < sample.file.size(); ++at) {
            const auto untouched =
                std::count_if(sample.ends.begin(), sample.ends.end(), [&](auto end) { return end <= at; });
            const auto original = sample.file[at];
            for (const unsigned value :
                 {0x00u, 0xffu, original ^ 0x01u, original ^ 0x80u, original + 1u, original ^ 0x55u}) {
                CAPTURE(sample.name, at, value);
                auto file = sample.file;
                file[at] = static_cast<std::uint8_t>(value);
                const auto outcome = read_all(file);
                REQUIRE(outcome.frames.size() <= sample.file.size() / 12);
                REQUIRE(outcome.frames.size() >= static_cast<std::size_t>(untouched));
                REQUIRE(std::equal(whole.frames.begin(), whole.frames.begin() + untouched, outcome.frames.begin()));
                REQUIRE(outcome.error.empty() == (outcome.status == Status::end));
            }
        }
    }
    constexpr std::size_t bound_kib = 64 << 10;
    CHECK(peak_kib() - before < bound_kib + kept_by_sanitizer_kib);
}

TEST_CASE("Reader: lengths that claim gigabytes take no memory") {
    const auto before = peak_kib();
    constexpr auto order = Order::little;
    const auto claims = Pack{order}.u32(6).u32(16 << 20).octets(octets_of(64)).file();
    const auto cut = read_all(join({section(order), interface(order, 247), claims}));
    CHECK(cut.status == Status::cut);
    const auto record = Pack{order}.u32(1).u32(1).u32(262144).u32(0xffffffff).octets(octets_of(64)).file();
    CHECK(read_all(join({pcap_header(order, microsecond_magic, 247), record})).status == Status::cut);
    constexpr std::size_t bound_kib = 4 << 10;
    CHECK(peak_kib() - before < bound_kib + kept_by_sanitizer_kib);
}

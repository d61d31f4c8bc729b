// SPDX-License-Identifier: GPL-2.0-or-later
// What captures tell of packets that they lack: ERF's loss counter, drop counts and statistics of pcapng.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <algorithm>
#include <array>
#include <limits>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr unsigned infiniband_link = 247, erf_link = 197, infiniband = 21, infiniband_link_packet = 25, color_eth = 11;
constexpr unsigned if_name = 2, drop_count = 4, interface_drops = 5, accepted = 6, system_drops = 7, received = 4,
                   delivered = 8;

File erf(unsigned type, unsigned lost, std::uint64_t seconds = 5) {
    return join({Pack{Order::little}.u64(seconds << 32).file(),
                 Pack{Order::big}.u8(type).u8(4).u16(24).u16(lost).u16(8).file(), octets_of(8)});
}
File erf_capture(const std::vector<File>& records) {
    auto file = pcap_header(Order::little, microsecond_magic, erf_link);
    for (const auto& record : records) file = join({file, pcap_record(Order::little, 5, 0, record)});
    return file;
}
std::vector<std::uint64_t> lost_in(const Outcome& outcome) {
    std::vector<std::uint64_t> lost;
    for (const auto& frame : outcome.frames) lost.push_back(frame.lost);
    return lost;
}
using Counts = std::vector<std::uint64_t>;

File number(Order order, unsigned code, std::uint64_t value) {
    return option(order, code, Pack{order}.u64(value).file());
}
File packet(Order order, std::uint64_t time, const File& options = {}, std::uint32_t interface_number = 0) {
    return enhanced(order, interface_number, time, octets_of(8), 0, options);
}
File beginning(Order order) {
    return join({section(order), interface(order, infiniband_link, option(order, if_name, text("ib0")))});
}

}  // namespace

TEST_CASE("Loss: the counter of an ERF record is of the packets before it") {
    const auto outcome = read_all(erf_capture({erf(infiniband, 0), erf(infiniband, 7), erf(infiniband, 0xffff)}));
    CHECK(lost_in(outcome) == Counts{0, 7, 0xffff});
    CHECK(outcome.losses.empty());
}

TEST_CASE("Loss: of ERF records that are passed over, losses are told by the next, colours are none") {
    const auto outcome =
        read_all(erf_capture({erf(infiniband, 0), erf(infiniband_link_packet, 3), erf(infiniband_link_packet, 2),
                              erf(color_eth, 0x1234), erf(infiniband, 1), erf(infiniband, 0)}));
    CHECK(outcome.skipped.erf_other == 3);
    CHECK(lost_in(outcome) == Counts{0, 6, 0});
}

TEST_CASE("Loss: ERF in a pcapng, where both may tell of the same packets") {
    constexpr auto order = Order::little;
    const auto count = number(order, drop_count, 2);
    const auto outcome =
        read_all(join({section(order), interface(order, erf_link), enhanced(order, 0, 1, erf(infiniband, 0), 0, count),
                       enhanced(order, 0, 2, erf(infiniband, 5), 0, count)}));
    CHECK(lost_in(outcome) == Counts{2, 5});
}

TEST_CASE("Loss: epb_dropcount in either byte order, with a comment before or behind it") {
    for (const auto order : {Order::little, Order::big}) {
        const auto count = number(order, drop_count, 0x0102030405060708), comment = option(order, 1, text("a comment"));
        const auto outcome =
            read_all(join({beginning(order), packet(order, 1), packet(order, 2, join({comment, count})),
                           packet(order, 3, join({count, comment})), packet(order, 4)}));
        CHECK(lost_in(outcome) == Counts{0, 0x0102030405060708, 0x0102030405060708, 0});
        CHECK(outcome.frames.at(1).lost_on == "ib0");
        CHECK(outcome.frames.at(3).lost_on.empty());
    }
}

TEST_CASE("Loss: an epb_dropcount that is damaged tells nothing") {
    constexpr auto order = Order::little;
    const auto cut = Pack{order}.u16(drop_count).u16(8).u32(5).file();
    const auto outcome = read_all(join({beginning(order), packet(order, 1, option(order, drop_count, {1, 0, 0, 0})),
                                        packet(order, 2, cut), packet(order, 3, option(order, drop_count, File(16, 1))),
                                        packet(order, 4, join({option(order, 0, {}), number(order, drop_count, 1)}))}));
    CHECK(outcome.status == Status::end);
    CHECK(lost_in(outcome) == Counts{0, 0, 0, 0});
}

TEST_CASE("Loss: the drops count of an obsolete packet block, where it is known") {
    for (const auto order : {Order::little, Order::big}) {
        const auto obsolete = [&](unsigned drops) {
            return block(order, 2, Pack{order}.u16(0).u16(drops).u64(1).u32(8).u32(8).octets(octets_of(8)).file());
        };
        CHECK(lost_in(read_all(join({beginning(order), obsolete(0), obsolete(3), obsolete(0xffff),
                                     obsolete(0xfffe)}))) == Counts{0, 3, 0, 0xfffe});
    }
}

namespace {

bool is(const Loss& loss, std::uint64_t count, std::uint64_t after, std::uint64_t before) {
    CHECK(loss.count == count);
    CHECK(loss.after.frame == after);
    CHECK(loss.before.frame == before);
    return loss.count == count && loss.after.frame == after && loss.before.frame == before;
}

}  // namespace

TEST_CASE("Loss: statistics at the end are of the whole file, those between of what lies between them") {
    for (const auto order : {Order::little, Order::big}) {
        const auto drops = [&](std::uint64_t of_interface, std::uint64_t of_system) {
            return join({number(order, interface_drops, of_interface), number(order, system_drops, of_system)});
        };
        const auto at_end = read_all(
            join({beginning(order), packet(order, 10), packet(order, 20), statistics(order, 0, 30, drops(2, 3))}));
        REQUIRE(at_end.losses.size() == 1);
        CHECK(is(at_end.losses[0], 5, 0, 3));
        CHECK(at_end.frames.size() == 2);
        CHECK(lost_in(at_end) == Counts{0, 0});
        const auto between = read_all(
            join({beginning(order), packet(order, 10), statistics(order, 0, 11, drops(0, 0)), packet(order, 20),
                  statistics(order, 0, 21, drops(1, 0)), packet(order, 30), statistics(order, 0, 31, drops(1, 0))}));
        REQUIRE(between.losses.size() == 1);
        CHECK(is(between.losses[0], 1, 1, 3));
    }
}

TEST_CASE("Loss: statistics that were taken before the last frame, or at no known time, begin nothing anew") {
    constexpr auto order = Order::little;
    const auto drops = [&](std::uint64_t count) { return number(order, interface_drops, count); };
    for (const std::uint64_t taken : {0u, 19u}) {
        const auto outcome = read_all(
            join({beginning(order), packet(order, 10), packet(order, 20), statistics(order, 0, taken, drops(1)),
                  packet(order, 30), statistics(order, 0, 31, drops(3))}));
        REQUIRE(outcome.losses.size() == 2);
        CHECK(is(outcome.losses[0], 1, 0, 3));
        CHECK(is(outcome.losses[1], 2, 0, 4));
    }
}

TEST_CASE("Loss: each interface and each section counts for itself; a counter that begins anew counts from 0") {
    constexpr auto order = Order::big;
    const auto drops = [&](std::uint64_t count) { return number(order, system_drops, count); };
    const auto other = interface(order, infiniband_link, option(order, if_name, text("ib1")));
    const auto outcome = read_all(
        join({beginning(order), other, packet(order, 1), packet(order, 2, {}, 1), statistics(order, 1, 3, drops(4)),
              statistics(order, 0, 3, drops(0)), statistics(order, 1, 4, drops(2)), beginning(order), packet(order, 5),
              statistics(order, 0, 6, drops(1))}));
    REQUIRE(outcome.losses.size() == 3);
    CHECK(outcome.losses[0].interface == 1);
    CHECK(is(outcome.losses[0], 4, 0, 3));
    CHECK(is(outcome.losses[1], 2, 2, 3));
    CHECK(outcome.losses[2].interface == 2);
    CHECK(is(outcome.losses[2], 1, 0, 4));
}

TEST_CASE("Loss: what statistics count else is none: a filter, other files, buffers at the end") {
    constexpr auto order = Order::little;
    const auto outcome = read_all(join({beginning(order), packet(order, 1),
                                        statistics(order, 0, 2,
                                                   join({number(order, received, 900), number(order, accepted, 800),
                                                         number(order, delivered, 700)}))}));
    CHECK(outcome.losses.empty());
}

TEST_CASE("Loss: statistics that are damaged, or of no interface, tell nothing and stop nothing") {
    constexpr auto order = Order::little;
    const auto most = std::numeric_limits<std::uint64_t>::max();
    const auto outcome = read_all(join(
        {beginning(order), statistics(order, 7, 1, number(order, interface_drops, 1)), block(order, 5, octets_of(8)),
         block(order, 5, {}), statistics(order, 0, 1, option(order, interface_drops, {1, 2, 3, 4})),
         statistics(order, 0, 1, Pack{order}.u16(interface_drops).u16(0xffff).u32(1).file()), packet(order, 2),
         statistics(order, 0, 3, join({number(order, interface_drops, most), number(order, system_drops, most)}))}));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.frames.size() == 1);
    REQUIRE(outcome.losses.size() == 1);
    CHECK(is(outcome.losses[0], most, 0, 2));
}

TEST_CASE("Loss: statistics that are cut or changed anywhere end in an answer") {
    for (const auto order : {Order::little, Order::big}) {
        const auto counts = join({number(order, received, 1), number(order, interface_drops, 2),
                                  number(order, system_drops, 3), option(order, 0, {})});
        const auto head = join({beginning(order), packet(order, 1, number(order, drop_count, 5))});
        const auto file = join({head, statistics(order, 0, 2, counts), packet(order, 3)});
        for (auto size = head.size(); size < file.size(); ++size)
            CHECK(read_all(File{file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}).frames.size() == 1);
        for (auto at = head.size(); at < file.size(); ++at)
            for (const unsigned change : {0x01u, 0x80u, 0xffu}) {
                auto changed = file;
                changed[at] = static_cast<std::uint8_t>(changed[at] ^ change);
                CHECK(read_all(changed).frames.size() <= 2);
            }
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of IGMP. RFC 1112, RFC 2236, RFC 3376.
#include "protocol/wire/igmp.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

// By hand from RFC 3376, 4.2: leave 224.1.1.1; two sources of 239.0.0.5, with one word of auxiliary data.
// Wireshark 4.0 shows the same values and the checksum as correct.
constexpr std::string_view report =
    "22 00 534f 0000 0002"
    "03 00 0000 e0010101"
    "06 01 0002 ef000005 0a010001 0a010002 deadbeef";

}  // namespace

TEST_CASE("IGMP: a version 2 report reads and writes back") {
    // By hand from RFC 2236, 2; Wireshark 4.0 shows the same values.
    check_table<Igmp>(hex("16 64 0998 e0000003"), row(Igmp::type, igmp_type::report_v2), row(Igmp::max_resp_time, 100),
                      row(Igmp::checksum, 0x0998), row(Igmp::group, 0xe0000003));
}

TEST_CASE("IGMP: a version 3 query reads and writes back") {
    using Q = IgmpV3Query;
    check_table<Q>(hex("11 8a 0102 ef000005 0a 7d 0003"), row(Q::type, igmp_type::query), row(Q::max_resp_code, 0x8a),
                   row(Q::checksum, 0x0102), row(Q::group, 0xef000005), row(Q::reserved, 0), row(Q::suppress, true),
                   row(Q::robustness, 2), row(Q::interval, 125), row(Q::number_of_sources, 3));
}

TEST_CASE("IGMP: a version 3 report and its records read and write back") {
    using R = IgmpV3Report;
    check_table<R>(hex("22 a1 0102 b1b2 0003"), row(R::type, igmp_type::report_v3), row(R::reserved8, 0xa1),
                   row(R::checksum, 0x0102), row(R::reserved16, 0xb1b2), row(R::number_of_records, 3));
    using G = IgmpRecord;
    check_table<G>(hex("04 01 0002 ef000005"), row(G::type, group_record::to_exclude), row(G::aux_words, 1),
                   row(G::number_of_sources, 2), row(G::group, 0xef000005));
}

TEST_CASE("IGMP: the records of a report are walked with their sources") {
    const auto octets = hex(report);
    std::vector<std::uint32_t> groups;
    std::vector<std::size_t> sources;
    const auto walk = for_each_igmp_record(octets, [&](const View<IgmpRecord>& record, Octets addresses) {
        groups.push_back(record[IgmpRecord::group]);
        sources.push_back(addresses.size() / IgmpRecord::source_size);
        if (!addresses.empty()) CHECK(read_bits(addresses.data(), {32}, 32) == 0x0a010002);
    });
    CHECK(groups == std::vector<std::uint32_t>{0xe0010101, 0xef000005});
    CHECK(sources == std::vector<std::size_t>{0, 2});
    CHECK(walk.is_complete);
    CHECK(walk.records == 2);
    CHECK(walk.rest.empty());
}

TEST_CASE("IGMP: a report cut anywhere gives the records that are whole") {
    const auto octets = hex(report);
    REQUIRE(octets.size() == 36);
    for (std::size_t length = 0; length <= octets.size(); ++length) {
        CAPTURE(length);
        const std::vector<std::uint8_t> cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length));
        std::size_t seen = 0;
        const auto walk = for_each_igmp_record(cut, [&](const auto&, Octets) { ++seen; });
        CHECK(seen == (length < 16 ? 0u : length < 36 ? 1u : 2u));
        CHECK(walk.records == seen);
        CHECK(walk.is_complete == (length == 36));
    }
}

TEST_CASE("IGMP: a report that counts more or fewer records than it has is told apart") {
    auto octets = hex(report);
    set_field(octets, IgmpV3Report::number_of_records, 3);
    auto walk = for_each_igmp_record(octets, [](const auto&, Octets) {});
    CHECK(walk.records == 2);
    CHECK_FALSE(walk.is_complete);
    set_field(octets, IgmpV3Report::number_of_records, 1);
    walk = for_each_igmp_record(octets, [](const auto&, Octets) {});
    CHECK(walk.records == 1);
    CHECK(walk.is_complete);
    CHECK(walk.rest.size() == 20);
    set_field(octets, IgmpV3Report::number_of_records, 0);
    CHECK(for_each_igmp_record(octets, [](const auto&, Octets) {}).is_complete);
}

TEST_CASE("IGMP: a record with the most sources and words does not fit, and nothing beyond is read") {
    const auto octets = hex("22 00 0000 0000 0001 01 ff ffff e0010101 00000000");
    const auto walk = for_each_igmp_record(octets, [](const auto&, Octets) { FAIL("not whole"); });
    CHECK_FALSE(walk.is_complete);
    CHECK(walk.rest.size() == 12);
}

TEST_CASE("IGMP: a message of another type has no records") {
    auto octets = hex(report);
    octets[0] = igmp_type::report_v2;
    CHECK_FALSE(for_each_igmp_record(octets, [](const auto&, Octets) { FAIL("a record"); }).is_complete);
}

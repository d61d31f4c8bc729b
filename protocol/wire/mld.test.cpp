// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of Multicast Listener Discovery. RFC 2710, RFC 3810.
#include "protocol/wire/mld.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

// By hand from RFC 3810, 5.2: join ff02::1:ff00:1491; one source of ff05::5, with two words of auxiliary data.
// Wireshark 4.0 shows the same values.
constexpr std::string_view report =
    "8f 00 0102 0000 0002"
    "04 00 0000 ff0200000000000000000001ff001491"
    "05 02 0001 ff050000000000000000000000000005 20010db8000000000000000000000001 deadbeefdeadbeef";

}  // namespace

TEST_CASE("MLD: a version 1 message reads and writes back") {
    // By hand from RFC 2710, 3; Wireshark 4.0 shows the same values.
    check_table<Mld>(hex("83 a1 0102 2710 b1b2 ff0200000000000000000001ff001491"), row(Mld::type, mld_type::report_v1),
                     row(Mld::code, 0xa1), row(Mld::checksum, 0x0102), row(Mld::max_response_delay, 10000),
                     row(Mld::reserved, 0xb1b2), row(Mld::group, gid("ff0200000000000000000001ff001491")));
}

TEST_CASE("MLD: a version 2 query reads and writes back") {
    using Q = MldV2Query;
    check_table<Q>(hex("82 a1 0102 8123 b1b2 ff0200000000000000000001ff001491 0a 7d 0003"),
                   row(Q::type, mld_type::query), row(Q::code, 0xa1), row(Q::checksum, 0x0102),
                   row(Q::max_response_code, 0x8123), row(Q::reserved16, 0xb1b2),
                   row(Q::group, gid("ff0200000000000000000001ff001491")), row(Q::reserved4, 0), row(Q::suppress, true),
                   row(Q::robustness, 2), row(Q::interval, 125), row(Q::number_of_sources, 3));
}

TEST_CASE("MLD: a version 2 report and its records read and write back") {
    using R = MldV2Report;
    check_table<R>(hex("8f a1 0102 b1b2 0003"), row(R::type, mld_type::report_v2), row(R::reserved8, 0xa1),
                   row(R::checksum, 0x0102), row(R::reserved16, 0xb1b2), row(R::number_of_records, 3));
    using A = MldRecord;
    check_table<A>(hex("04 01 0002 ff050000000000000000000000000005"), row(A::type, group_record::to_exclude),
                   row(A::aux_words, 1), row(A::number_of_sources, 2),
                   row(A::group, gid("ff050000000000000000000000000005")));
}

TEST_CASE("MLD: the records of a report are walked with their sources") {
    const auto octets = hex(report);
    std::vector<Gid> groups;
    std::vector<std::size_t> sources;
    const auto walk = for_each_mld_record(octets, [&](const View<MldRecord>& record, Octets addresses) {
        groups.push_back(record[MldRecord::group]);
        sources.push_back(addresses.size());
        if (!addresses.empty()) CHECK(addresses[15] == 1);
    });
    CHECK(groups == std::vector{gid("ff0200000000000000000001ff001491"), gid("ff050000000000000000000000000005")});
    CHECK(sources == std::vector<std::size_t>{0, 16});
    CHECK(walk.is_complete);
    CHECK(walk.rest.empty());
}

TEST_CASE("MLD: a report cut anywhere gives the records that are whole") {
    const auto octets = hex(report);
    REQUIRE(octets.size() == 72);
    for (std::size_t length = 0; length <= octets.size(); ++length) {
        CAPTURE(length);
        const std::vector<std::uint8_t> cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length));
        std::size_t seen = 0;
        const auto walk = for_each_mld_record(cut, [&](const auto&, Octets) { ++seen; });
        CHECK(seen == (length < 28 ? 0u : length < 72 ? 1u : 2u));
        CHECK(walk.records == seen);
        CHECK(walk.is_complete == (length == 72));
    }
}

TEST_CASE("MLD: a record with the most sources and words does not fit, and nothing beyond is read") {
    const auto octets = hex("8f 00 0000 0000 0001 01 ff ffff ff050000000000000000000000000005 00000000");
    const auto walk = for_each_mld_record(octets, [](const auto&, Octets) { FAIL("not whole"); });
    CHECK_FALSE(walk.is_complete);
    CHECK(walk.rest.size() == 24);
}

TEST_CASE("MLD: a message of another type has no records") {
    auto octets = hex(report);
    octets[0] = mld_type::report_v1;
    CHECK_FALSE(for_each_mld_record(octets, [](const auto&, Octets) { FAIL("a record"); }).is_complete);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the RMPP header and of the reassembly of the SA's tables. IBTA Vol 1, 13.6.
#include "protocol/wire/rmpp.hpp"

#include <algorithm>
#include <numeric>

#include "protocol/wire/rmpp_segments.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;
using State = RmppResult::State;

namespace {

std::vector<unsigned> mlids(const RmppTable& table) {
    std::vector<unsigned> all;
    const auto rest = for_each_record<McMemberRecord>(
        table, [&](const View<McMemberRecord>& record) { all.push_back(record[McMemberRecord::mlid]); });
    CHECK(rest.empty());
    return all;
}

std::vector<unsigned> expected_mlids(std::size_t count) {
    std::vector<unsigned> all(count);
    std::iota(all.begin(), all.end(), 0xc000u);
    return all;
}

}  // namespace

TEST_CASE("RMPP: a DATA header reads and writes back") {
    // Version to data2 of the GetTable answer in the python-rdma manual: type 1, flags 7, segment 1, 84 octets.
    check_table<Rmpp>(hex("01 01 07 00 00000001 00000054"), row(Rmpp::version, 1), row(Rmpp::type, RmppType::data),
                      row(Rmpp::resp_time, 0), row(Rmpp::last, true), row(Rmpp::first, true), row(Rmpp::active, true),
                      row(Rmpp::status, 0), row(Rmpp::segment_number, 1), row(Rmpp::payload_length, 84));
}

TEST_CASE("RMPP: every row has a place of its own") {
    check_table<Rmpp>(hex("01 04 93 77 01020304 05060708"), row(Rmpp::version, 1), row(Rmpp::type, RmppType::abort),
                      row(Rmpp::resp_time, 18), row(Rmpp::last, false), row(Rmpp::first, true), row(Rmpp::active, true),
                      row(Rmpp::status, 119), row(Rmpp::segment_number, 0x01020304),
                      row(Rmpp::payload_length, 0x05060708));
}

TEST_CASE("RMPP: segments in order make the table") {
    const auto count = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{25},
                                std::size_t{100});  // 25 records are 1400 octets: seven full segments
    CAPTURE(count);
    RmppReassembly reassembly;
    const auto all = segments(records(count));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const auto result = add(reassembly, all[i]);
        CHECK(result.state == State::incomplete);
        CHECK_FALSE(result.table);
        CHECK(reassembly.open() == 1);
    }
    const auto result = add(reassembly, all.back());
    REQUIRE(result.state == State::complete);
    REQUIRE(result.table);
    CHECK_FALSE(result.dropped);
    CHECK(result.table->data == records(count));
    CHECK(result.table->record_size == 56);
    CHECK(result.table->is_length_right);
    CHECK(result.table->key == RmppKey{1, 2, 0x42, MgmtClass::subn_adm, Method::get_table_resp, 0x38});
    CHECK(result.table->mad()[Mad::transaction_id] == 0x42);
    CHECK(result.table->sa()[SaHeader::attribute_offset] == 7);
    CHECK(mlids(*result.table) == expected_mlids(count));
    CHECK(reassembly.open() == 0);
}

TEST_CASE("RMPP: segments in any order, some of them twice, make the same table") {
    auto all = segments(records(20));  // 1120 octets: six segments
    REQUIRE(all.size() == 6);
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    const bool is_doubled = GENERATE(false, true);
    do {
        RmppReassembly reassembly;
        std::optional<RmppTable> table;
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto result = add(reassembly, all[order[i]]);
            const auto expected = i + 1 == order.size() ? State::complete : State::incomplete;
            if (result.state != expected) FAIL("segment " << order[i] + 1);
            table = std::move(result.table);
            if (is_doubled && !table && add(reassembly, all[order[i]]).state != State::duplicate) FAIL("not known");
        }
        if (!table || table->data != records(20)) FAIL("another table");
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(order.front() == 0);
}

TEST_CASE("RMPP: a table with a lost segment is told in the end, with what came of it") {
    const auto lost = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3});
    RmppReassembly reassembly;
    const auto all = segments(records(12));  // 672 octets: four segments
    REQUIRE(all.size() == 4);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i != lost) CHECK(add(reassembly, all[i]).state == State::incomplete);
    CHECK(reassembly.open() == 1);
    const auto dropped = reassembly.finish();
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].reason == RmppDrop::unfinished);
    CHECK(dropped[0].segments == 3);
    CHECK(dropped[0].key.transaction_id == 0x42);
    CHECK(reassembly.open() == 0);
    CHECK(reassembly.finish().empty());
}

TEST_CASE("RMPP: what comes again after the end is late, until a first segment begins anew") {
    RmppReassembly reassembly;
    const auto all = segments(records(8));  // 448 octets: three segments
    for (const auto& segment : all) (void)add(reassembly, segment);
    CHECK(add(reassembly, all[2]).state == State::late);
    CHECK(add(reassembly, all[1]).state == State::late);
    CHECK(reassembly.open() == 0);
    CHECK(add(reassembly, all[0]).state == State::incomplete);
    CHECK(add(reassembly, all[1]).state == State::incomplete);
    CHECK(add(reassembly, all[2]).state == State::complete);
}

TEST_CASE("RMPP: as many ended transactions are remembered as may be open, the latest of them") {
    RmppReassembly reassembly{2};
    const auto complete = [&](std::uint64_t transaction) {
        for (const auto& segment : segments(records(8), transaction)) (void)add(reassembly, segment);
        CHECK(reassembly.open() == 0);
    };
    const auto state_of_second = [&](std::uint64_t transaction) {
        return add(reassembly, segments(records(8), transaction)[1]).state;
    };
    complete(2), complete(1), complete(1);
    CHECK(state_of_second(2) == State::late);
    complete(3);
    CHECK(state_of_second(1) == State::late);
    CHECK(state_of_second(3) == State::late);
    CHECK(state_of_second(2) == State::incomplete);
    CHECK(reassembly.finish().size() == 1);
    CHECK(state_of_second(1) == State::incomplete);
}

TEST_CASE("RMPP: transactions of other ports, numbers, methods and attributes do not mix") {
    RmppReassembly reassembly;
    const auto all = segments(records(8));
    CHECK(add(reassembly, all[0], 1, 2).state == State::incomplete);
    CHECK(add(reassembly, all[1], 3, 2).state == State::incomplete);
    CHECK(add(reassembly, all[1], 1, 3).state == State::incomplete);
    CHECK(add(reassembly, segments(records(8), 0x43)[1]).state == State::incomplete);
    auto mad = all[1].mad();
    set_field(mad, Mad::method, Method::get_resp);
    CHECK(reassembly.add(1, 2, mad).state == State::incomplete);
    mad = all[1].mad();
    set_field(mad, Mad::attribute_id, attribute::path_record);
    CHECK(reassembly.add(1, 2, mad).state == State::incomplete);
    CHECK(reassembly.open() == 6);
    CHECK(add(reassembly, all[2], 1, 2).state == State::incomplete);
    CHECK(add(reassembly, all[1], 1, 2).state == State::complete);
    CHECK(reassembly.open() == 5);
}

TEST_CASE("RMPP: a table's records are as far apart as AttributeOffset tells") {
    const auto all = records(3);
    const auto count = [](Octets data, std::size_t record_size) {
        std::size_t found = 0;
        const auto rest = for_each_record<McMemberRecord>(data, record_size, [&](const auto&) { ++found; });
        return std::pair{found, rest.size()};
    };
    using Found = std::pair<std::size_t, std::size_t>;
    CHECK(count(all, 56) == Found{3, 0});
    CHECK(count(Octets{all}.first(2 * 56 + 52), 56) == Found{3, 0});
    CHECK(count(Octets{all}.first(2 * 56 + 51), 56) == Found{2, 51});
    CHECK(count(all, 48) == Found{0, 168});
    CHECK(count(all, 0) == Found{1, 116});
    CHECK(count({}, 56) == Found{0, 0});
    CHECK(count({}, 0) == Found{0, 0});
    CHECK(count(all, 0xffff * std::size_t{8}) == Found{1, 0});
}

TEST_CASE("RMPP: every reason to drop has a name of its own") {
    std::vector<std::string_view> names;
    for (std::uint8_t reason = 0; reason <= static_cast<std::uint8_t>(RmppDrop::different_contents); ++reason)
        names.push_back(name(RmppDrop{reason}));
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
    CHECK(name(RmppDrop{200}) == "unknown");
}

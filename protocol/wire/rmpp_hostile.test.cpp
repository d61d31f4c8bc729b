// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the reassembly of the SA's tables with segments that are wrong, endless or too many. IBTA Vol 1, 13.6.
#include "protocol/wire/rmpp_segments.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;
using State = RmppResult::State;

namespace {

/// Why the last of these segments made the reassembly drop the transaction; the others must be kept.
RmppDrop drop_of(const std::vector<Segment>& all, std::size_t max_octets = 100'000) {
    RmppReassembly reassembly{4, max_octets};
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const auto kept = add(reassembly, all[i]);
        CAPTURE(i);
        REQUIRE(kept.state == State::incomplete);
    }
    const auto result = add(reassembly, all.back());
    REQUIRE(result.state == State::dropped);
    REQUIRE(result.dropped);
    CHECK(result.dropped->key.transaction_id == 0x42);
    CHECK(result.dropped->segments == all.size() - 1);
    CHECK(reassembly.open() == 0);
    return result.dropped->reason;
}

}  // namespace

TEST_CASE("RMPP: an endless table is dropped at the first segment beyond the bound, and then kept silent about") {
    RmppReassembly reassembly{4, 1000};
    Segment segment;
    segment.is_last = false;
    segment.data.assign(200, 1);
    for (segment.number = 1; segment.number <= 5; ++segment.number) {
        CHECK(add(reassembly, segment).state == State::incomplete);
        segment.is_first = false;
    }
    const auto result = add(reassembly, segment);
    REQUIRE(result.state == State::dropped);
    CHECK(result.dropped->reason == RmppDrop::too_large);
    CHECK(result.dropped->segments == 5);
    for (++segment.number; segment.number < 2000; ++segment.number)
        if (add(reassembly, segment).state != State::late) FAIL("segment " << segment.number);
    CHECK(reassembly.open() == 0);
}

TEST_CASE("RMPP: those that share a number of segments hold no more of them together, and give them back") {
    std::size_t left = 4;
    RmppReassembly one{4, 10'000, left}, other{4, 10'000, left};
    const auto three = segments(records(10)), two = segments(records(7));
    REQUIRE((three.size() == 3 && two.size() == 2));
    CHECK(add(one, three[0]).state == State::incomplete);
    CHECK(add(one, three[1]).state == State::incomplete);
    CHECK(add(one, three[1]).state == State::duplicate);
    CHECK(left == 2);
    for (const auto transaction : {std::uint64_t{1}, std::uint64_t{2}})
        CHECK(add(other, segments(records(7), transaction)[0]).state == State::incomplete);
    CHECK(left == 0);
    const auto refused = add(other, segments(records(7), 3)[0]);
    REQUIRE(refused.state == State::dropped);
    CHECK((refused.dropped->reason == RmppDrop::too_large && refused.dropped->segments == 0));
    CHECK(add(one, three[2]).dropped->segments == 2);
    CHECK(left == 2);
    CHECK(add(other, segments(records(7), 1)[1]).state == State::complete);
    CHECK(left == 3);
    CHECK(other.finish().size() == 1);
    CHECK(left == 4);
}

TEST_CASE("RMPP: the bound counts the octets up to the end of a segment, however few came") {
    const auto last_of = [](std::uint32_t number, std::uint32_t length) {
        Segment segment;
        segment.number = number;
        segment.is_first = number == 1;
        segment.payload_length = length;
        return segment;
    };
    RmppReassembly reassembly{4, 1000};
    CHECK(add(reassembly, last_of(5, 220)).state == State::incomplete);
    CHECK(drop_of({last_of(6, 21)}, 1000) == RmppDrop::too_large);
    CHECK(drop_of({last_of(0xffffffff, 220)}, 1000) == RmppDrop::too_large);
    CHECK(drop_of({last_of(0xffffffff, 220)}, 0xffffffff) == RmppDrop::too_large);
}

TEST_CASE("RMPP: segments that contradict each other end their transaction") {
    const auto all = segments(records(12));
    auto other = all;
    SECTION("number zero") {
        other[0].number = 0;
        CHECK(drop_of({other[0]}) == RmppDrop::bad_segment_number);
    }
    SECTION("First on a later segment") {
        other[1].is_first = true;
        CHECK(drop_of({all[0], other[1]}) == RmppDrop::bad_first);
    }
    SECTION("segment 1 without First") {
        other[0].is_first = false;
        CHECK(drop_of({all[1], other[0]}) == RmppDrop::bad_first);
    }
    SECTION("two last segments, the later one first") {
        other[2].is_last = true;
        other[2].payload_length = 220;
        CHECK(drop_of({all[0], all[3], other[2]}) == RmppDrop::bad_last);
    }
    SECTION("two last segments, the earlier one first") {
        other[1].is_last = true;
        other[1].payload_length = 220;
        CHECK(drop_of({other[1], all[3]}) == RmppDrop::bad_last);
    }
    SECTION("a segment behind the last") {
        other[1].is_last = true;
        other[1].payload_length = 220;
        CHECK(drop_of({other[1], all[2]}) == RmppDrop::bad_segment_number);
    }
    SECTION("a last segment before one that came") {
        other[1].is_last = true;
        other[1].payload_length = 220;
        CHECK(drop_of({all[2], other[1]}) == RmppDrop::bad_last);
    }
    SECTION("a segment that is last only the second time") {
        other[2].is_last = true;
        other[2].payload_length = 220;
        CHECK(drop_of({all[0], all[2], other[2]}) == RmppDrop::bad_last);
    }
    SECTION("a segment that is last only the first time") {
        other[3].is_last = false;
        other[3].data.resize(200);
        CHECK(drop_of({all[0], all[3], other[3]}) == RmppDrop::bad_last);
    }
    SECTION("a segment with other contents the second time") {
        other[2].data[100] ^= 1;
        CHECK(drop_of({all[0], all[2], other[2]}) == RmppDrop::different_contents);
    }
    SECTION("a last segment with another length the second time") {
        --other[3].payload_length;
        CHECK(drop_of({all[0], all[3], other[3]}) == RmppDrop::different_contents);
    }
    SECTION("a last segment that is longer than a segment") {
        other[3].payload_length = 221;
        CHECK(drop_of({all[0], other[3]}) == RmppDrop::bad_length);
        other[3].payload_length = 0xffffffff;
        CHECK(drop_of({other[3]}) == RmppDrop::bad_length);
    }
    SECTION("a last segment without room for the SA header") {
        other[3].payload_length = 19;
        CHECK(drop_of({all[0], other[3]}) == RmppDrop::bad_length);
    }
}

TEST_CASE("RMPP: a wrong or missing sum in the first segment is told, not held against the table") {
    auto all = segments(records(8));
    RmppReassembly reassembly;
    const auto declared = GENERATE(0u, 1u, 507u, 508u, 509u);  // 448 octets and three SA headers are 508
    all[0].payload_length = declared;
    (void)add(reassembly, all[0]);
    (void)add(reassembly, all[1]);
    const auto result = add(reassembly, all[2]);
    REQUIRE(result.table);
    CHECK(result.table->is_length_right == (declared == 0 || declared == 508));
    CHECK(result.table->data == records(8));
}

TEST_CASE("RMPP: the sender's STOP and ABORT end a transaction") {
    auto end = segments(records(8))[0];
    end.type = GENERATE(RmppType::stop, RmppType::abort);
    CHECK(drop_of({segments(records(8))[0], segments(records(8))[2], end}) == RmppDrop::aborted);
    RmppReassembly reassembly;
    CHECK(add(reassembly, end).state == State::ignored);
}

TEST_CASE("RMPP: the transaction that was silent for the longest time makes room") {
    RmppReassembly reassembly{3};
    for (const std::uint64_t transaction : {1u, 2u, 3u})
        CHECK(add(reassembly, segments(records(12), transaction)[0]).state == State::incomplete);
    CHECK(add(reassembly, segments(records(12), 1)[1]).state == State::incomplete);
    const auto result = add(reassembly, segments(records(12), 4)[0]);
    CHECK(result.state == State::incomplete);
    REQUIRE(result.dropped);
    CHECK(result.dropped->key.transaction_id == 2);
    CHECK(result.dropped->reason == RmppDrop::evicted);
    CHECK(result.dropped->segments == 1);
    CHECK(reassembly.open() == 3);
    CHECK(add(reassembly, segments(records(12), 2)[1]).state == State::late);
    CHECK(add(reassembly, segments(records(12), 1)[2]).state == State::incomplete);
    CHECK(add(reassembly, segments(records(12), 1)[3]).state == State::complete);
}

TEST_CASE("RMPP: no number of transactions makes the reassembly keep more than it may") {
    const auto most = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{7});
    RmppReassembly reassembly{most};
    std::size_t evicted = 0;
    for (std::uint64_t transaction = 0; transaction < 500; ++transaction) {
        const auto result = add(reassembly, segments(records(12), transaction)[0]);
        if (result.dropped && result.dropped->reason == RmppDrop::evicted) ++evicted;
        if (reassembly.open() > std::max<std::size_t>(1, most)) FAIL("too many");
    }
    CHECK(evicted == 500 - std::max<std::size_t>(1, most));
}

TEST_CASE("RMPP: no sequence of segments, whatever they hold, makes the reassembly keep more than it may") {
    RmppReassembly reassembly{5, 1000};
    std::uint64_t state = 0x9e3779b97f4a7c15;
    const auto random = [&](std::uint64_t below) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state % below;
    };
    std::size_t complete = 0, dropped = 0;
    for (unsigned i = 0; i < 50'000; ++i) {
        Segment segment;
        segment.number = static_cast<std::uint32_t>(random(64) == 0 ? random(0x1'0000'0000) : random(7));
        segment.is_first = random(16) == 0 ? random(2) == 0 : segment.number == 1;
        segment.is_last = random(4) == 0;
        segment.payload_length = static_cast<std::uint32_t>(random(16) == 0 ? random(0x1'0000'0000) : 20 + random(201));
        segment.transaction = random(9);
        segment.offset = static_cast<std::uint16_t>(random(0x1'0000));
        if (random(32) == 0) segment.type = RmppType{static_cast<std::uint8_t>(random(6))};
        const auto result = reassembly.add(1, 2, Octets{segment.mad()}.first(random(8) == 0 ? random(257) : 256));
        if (result.table) {
            ++complete;
            if (result.table->data.size() > 1000) FAIL("a table of " << result.table->data.size() << " octets");
            (void)for_each_record<McMemberRecord>(*result.table, [](const auto&) {});
        }
        if (result.table.has_value() != (result.state == State::complete)) FAIL("complete without a table");
        dropped += result.state == State::dropped;
        if (reassembly.open() > 5) FAIL("too many");
    }
    CHECK(complete > 1000);
    CHECK(dropped > 1000);
}

TEST_CASE("RMPP: what is no DATA segment of the SA, or is cut short, is ignored") {
    RmppReassembly reassembly;
    const auto whole = segments(records(3))[0];  // 168 octets of data
    const auto mad = whole.mad();
    const auto needed = 56 + std::size_t{168};
    for (std::size_t length = 0; length < needed; ++length)
        CHECK(reassembly.add(1, 2, Octets{mad}.first(length)).state == State::ignored);
    CHECK(reassembly.add(1, 2, Octets{mad}.first(needed)).state == State::complete);
    const auto full = segments(records(8))[0].mad();
    CHECK(reassembly.add(1, 2, Octets{full}.first(255)).state == State::ignored);

    // The same while a transaction with this key is open: it must stay open.
    REQUIRE(add(reassembly, segments(records(8))[0]).state == State::incomplete);
    const auto ignored = [&](auto change) {
        auto other = mad;
        change(other);
        CHECK(reassembly.add(1, 2, other).state == State::ignored);
    };
    const auto rmpp = [](MadOctets& m) { return MutableOctets{m}.subspan(Mad::size); };
    ignored([&](MadOctets& m) { set_field(m, Mad::mgmt_class, MgmtClass::performance); });
    ignored([&](MadOctets& m) { set_field(rmpp(m), Rmpp::active, false); });
    ignored([&](MadOctets& m) { set_field(rmpp(m), Rmpp::version, 2); });
    ignored([&](MadOctets& m) { set_field(rmpp(m), Rmpp::type, RmppType::ack); });
    ignored([&](MadOctets& m) { set_field(rmpp(m), Rmpp::type, RmppType::none); });
    ignored([&](MadOctets& m) { set_field(rmpp(m), Rmpp::type, RmppType{77}); });
    CHECK(reassembly.open() == 1);
}

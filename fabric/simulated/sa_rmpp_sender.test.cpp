// SPDX-License-Identifier: GPL-2.0-or-later
// Tables in segments: the sender's side, with a receiver that may be slow, wrong or gone.
#include "fabric/simulated/sa_test_bench.hpp"

namespace ipoib::fabric {
using namespace testing;

namespace {

constexpr unsigned many = 100;
constexpr std::size_t record_stride = 56;
constexpr std::uint32_t all_segments = (many * record_stride + 199) / 200;

/// A hundred members of a group, asked for by port 1.
struct BigTable : Bench {
    explicit BigTable(SaConfig config = {}) : Bench(config) {
        for (unsigned n = 1; n <= many; ++n) {
            add(n);
            REQUIRE(join(n, group_mgid) == 0);
        }
    }
    std::vector<Mail> begin(std::uint64_t transaction_id = 5) {
        send(1, request(Method::get_table, attribute::mc_member_record, C::mgid, record(1, group_mgid, 0).octets,
                        transaction_id));
        return mail();
    }
    /// Acknowledges as the receiver of `segment` would.
    std::vector<Mail> acknowledge(const Mail& segment, std::uint32_t number, std::uint32_t window_last) {
        send(1, rmpp_ack(segment.mad, number, window_last));
        return mail();
    }
    std::vector<Mail> after(Duration duration) {
        node.loop.run_for(duration);
        return mail();
    }
};

std::uint32_t number_of(const Mail& mail) { return mail.rmpp()[Rmpp::segment_number]; }
constexpr auto a_timeout = std::chrono::milliseconds{250};

}  // namespace

TEST_CASE("A table that fits into one MAD is one segment and is not waited for") {
    Bench bench;
    bench.add(1);
    bench.send(1, Bench::request(Method::get_table, attribute::mc_member_record, 0, {}));
    const auto all = bench.mail();
    REQUIRE(all.size() == 1);
    const auto rmpp = all[0].rmpp();
    CHECK(rmpp[Rmpp::type] == RmppType::data);
    CHECK(rmpp[Rmpp::active]);
    CHECK(rmpp[Rmpp::first]);
    CHECK(rmpp[Rmpp::last]);
    CHECK(rmpp[Rmpp::segment_number] == 1);
    CHECK(rmpp[Rmpp::payload_length] == SaHeader::size + record_stride);
    CHECK(all[0].header()[Mad::method] == Method::get_table_resp);
    CHECK(all[0].sa()[SaHeader::attribute_offset] == record_stride / 8);
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.mail().empty());
}

TEST_CASE("A table without records is a segment with nothing but its header") {
    Bench bench;
    bench.add(1);
    bench.send(1, Bench::request(Method::get_table, attribute::mc_member_record, C::mgid,
                                 Bench::record(1, group_mgid, 0).octets));
    const auto all = bench.mail();
    REQUIRE(all.size() == 1);
    CHECK(all[0].header()[Mad::status] == 0);
    CHECK(all[0].rmpp()[Rmpp::payload_length] == SaHeader::size);
    CHECK(all[0].sa()[SaHeader::attribute_offset] == 0);
}

TEST_CASE("A table comes in segments as the window opens") {
    BigTable bench;
    auto all = bench.begin();
    REQUIRE(all.size() == 1);
    const auto first = all[0];
    CHECK(number_of(first) == 1);
    CHECK(first.rmpp()[Rmpp::first]);
    CHECK_FALSE(first.rmpp()[Rmpp::last]);
    CHECK(first.rmpp()[Rmpp::payload_length] == many * record_stride + all_segments * SaHeader::size);
    all = bench.acknowledge(first, 1, 4);
    REQUIRE(all.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(number_of(all[i]) == i + 2);
        CHECK(all[i].rmpp()[Rmpp::payload_length] == 0);
    }
    all = bench.acknowledge(first, 4, 1000);
    REQUIRE(all.size() == all_segments - 4);
    CHECK(all.back().rmpp()[Rmpp::last]);
    CHECK(all.back().rmpp()[Rmpp::payload_length] ==
          many * record_stride - std::size_t{all_segments - 1} * 200 + SaHeader::size);
    CHECK(bench.acknowledge(first, all_segments, all_segments).empty());
    CHECK(bench.after(std::chrono::seconds{5}).empty());
}

TEST_CASE("What comes is the table") {
    BigTable bench;
    const auto records = bench.table<M>(1, attribute::mc_member_record);
    REQUIRE(records.size() == many + 1);
    for (unsigned n = 1; n <= many; ++n) CHECK(records[n - 1][M::port_gid] == Bench::gid(n));
}

TEST_CASE("A segment whose acknowledgement was lost is sent again, with those behind it") {
    BigTable bench;
    const auto first = bench.begin().at(0);
    auto all = bench.after(a_timeout);
    REQUIRE(all.size() == 1);
    CHECK(all[0].mad == first.mad);
    REQUIRE(bench.acknowledge(first, 1, 5).size() == 4);
    // The third was lost: the receiver says so by the number in its ACK.
    REQUIRE(bench.acknowledge(first, 2, 5).empty());
    all = bench.after(a_timeout);
    REQUIRE(all.size() == 3);
    CHECK(number_of(all[0]) == 3);
    CHECK(number_of(all[2]) == 5);
    CHECK(bench.acknowledge(first, 5, 6).size() == 1);
}

TEST_CASE("A receiver that is gone gets an ABORT after the third attempt") {
    BigTable bench;
    REQUIRE(bench.begin().size() == 1);
    CHECK(bench.after(a_timeout).size() == 1);
    CHECK(bench.after(a_timeout).size() == 1);
    const auto all = bench.after(a_timeout);
    REQUIRE(all.size() == 1);
    CHECK(all[0].rmpp()[Rmpp::type] == RmppType::abort);
    CHECK(all[0].rmpp()[Rmpp::status] == 126);
    CHECK(bench.after(std::chrono::seconds{5}).empty());
}

TEST_CASE("Each segment has its own attempts") {
    BigTable bench;
    const auto first = bench.begin().at(0);
    for (std::uint32_t number = 1; number < 4; ++number) {
        CHECK(bench.after(a_timeout).size() == 1);
        const auto again = bench.after(a_timeout);
        REQUIRE(again.size() == 1);
        CHECK(again[0].rmpp()[Rmpp::type] == RmppType::data);
        CHECK(number_of(again[0]) == number);
        REQUIRE(bench.acknowledge(first, number, number + 1).size() == 1);
    }
}

TEST_CASE("STOP and ABORT end a table at once") {
    for (const auto type : {RmppType::stop, RmppType::abort}) {
        BigTable bench;
        const auto first = bench.begin().at(0);
        auto mad = rmpp_abort(first.mad, 1);
        set_field(MutableOctets{mad}.subspan(Mad::size), Rmpp::type, type);
        bench.send(1, mad);
        CHECK(bench.after(std::chrono::seconds{5}).empty());
    }
}

TEST_CASE("An acknowledgement that cannot be right ends the table with its reason") {
    struct Case {
        std::uint32_t number, window_last;
        int status;
    };
    for (const auto& [number, window_last, status] : {Case{all_segments + 1, 1000, 123}, {3, 2, 122}}) {
        BigTable bench;
        const auto all = bench.acknowledge(bench.begin().at(0), number, window_last);
        REQUIRE(all.size() == 1);
        CHECK(all[0].rmpp()[Rmpp::type] == RmppType::abort);
        CHECK(all[0].rmpp()[Rmpp::status] == status);
        CHECK(bench.after(std::chrono::seconds{5}).empty());
    }
}

TEST_CASE("An acknowledgement from another port or of another transaction is nobody's") {
    BigTable bench;
    const auto first = bench.begin().at(0);
    bench.send(2, rmpp_ack(first.mad, 1, 10));
    CHECK(bench.mail().empty());
    auto other = first;
    set_field(MutableOctets{other.mad}, Mad::transaction_id, 6);
    CHECK(bench.acknowledge(other, 1, 10).empty());
    CHECK(bench.acknowledge(first, 1, 10).size() == 9);
    CHECK(bench.acknowledge(first, 5, 10).empty());
    // An old one moves nothing.
    CHECK(bench.acknowledge(first, 2, 20).empty());
}

TEST_CASE("The same request begins its table anew") {
    BigTable bench;
    const auto first = bench.begin().at(0);
    REQUIRE(bench.acknowledge(first, 1, 10).size() == 9);
    const auto again = bench.begin();
    REQUIRE(again.size() == 1);
    CHECK(again[0].mad == first.mad);
    // The receiver has what came before.
    CHECK(bench.acknowledge(first, 10, 12).size() == 2);
}

TEST_CASE("A delay holds back the first segment, not each") {
    BigTable bench;
    bench.sa->faults.delay = std::chrono::seconds{1};
    REQUIRE(bench.begin().empty());
    const auto all = bench.after(std::chrono::seconds{1});
    REQUIRE(all.size() == 1);
    CHECK(bench.acknowledge(all[0], 1, 10).size() == 9);
}

TEST_CASE("A table larger than any may be is refused for lack of resources") {
    Bench bench;
    constexpr unsigned ports = 300;
    for (unsigned n = 1; n <= ports; ++n) bench.add(n);
    // 300 * 300 paths of 64 octets.
    CHECK(bench.ask(1, Bench::request(Method::get_table, attribute::path_record, 0, {})) == no_resources);
}

}  // namespace ipoib::fabric

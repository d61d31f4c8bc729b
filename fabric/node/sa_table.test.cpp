// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/test_administrator.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("SA client: a table is put together, the first segment and the last acknowledged") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table};
    const auto request = node.requests().at(0);
    const auto table = records(20);  // 1120 octets, 6 segments

    node.deliver(segment_of(request, table, 1));
    auto acks = node.requests();
    REQUIRE(acks.size() == 1);
    CHECK(header(acks[0])[Mad::method] == Method::get_table);
    CHECK(header(acks[0])[Mad::transaction_id] == header(request)[Mad::transaction_id]);
    CHECK(rmpp_of(acks[0])[Rmpp::type] == RmppType::ack);
    CHECK(rmpp_of(acks[0])[Rmpp::active]);
    CHECK(rmpp_of(acks[0])[Rmpp::segment_number] == 1);
    CHECK(rmpp_of(acks[0])[Rmpp::payload_length] == 65);

    for (std::uint32_t number : {2u, 4u, 3u, 5u}) node.deliver(segment_of(request, table, number));
    CHECK(node.requests().empty());
    node.deliver(segment_of(request, table, 6));
    acks = node.requests();
    REQUIRE(acks.size() == 1);
    CHECK(rmpp_of(acks[0])[Rmpp::segment_number] == 6);
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].is_ok());
    CHECK(asked.answers[0].method == Method::get_table_resp);
    CHECK(asked.answers[0].data == table);
    CHECK(asked.answers[0].record_size == record_size);

    // The last acknowledgement was lost: it is sent again.
    node.deliver(segment_of(request, table, 6));
    acks = node.requests();
    REQUIRE(acks.size() == 1);
    CHECK(rmpp_of(acks[0])[Rmpp::segment_number] == 6);
    CHECK(asked.answers.size() == 1);
}

TEST_CASE("SA client: a window that is full is acknowledged and moved on") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table};
    const auto request = node.requests().at(0);
    const auto table = records(1000);  // 280 segments
    std::vector<std::uint32_t> acknowledged, windows;
    for (std::uint32_t number = 1; number <= 280; ++number) {
        if (number > 1) REQUIRE(number <= windows.back());
        node.deliver(segment_of(request, table, number));
        for (const auto& ack : node.requests()) {
            acknowledged.push_back(rmpp_of(ack)[Rmpp::segment_number]);
            windows.push_back(rmpp_of(ack)[Rmpp::payload_length]);
        }
    }
    CHECK(acknowledged == std::vector<std::uint32_t>{1, 65, 129, 193, 257, 280});
    CHECK(windows[1] == 129);
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].data == table);
}

TEST_CASE("SA client: a segment that comes twice is acknowledged again") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table};
    const auto request = node.requests().at(0);
    const auto table = records(20);
    for (int i = 0; i < 2; ++i) {
        node.deliver(segment_of(request, table, 1));
        const auto acks = node.requests();
        REQUIRE(acks.size() == 1);
        CHECK(rmpp_of(acks[0])[Rmpp::segment_number] == 1);
    }
    CHECK(asked.answers.empty());
}

TEST_CASE("SA client: a table is waited for as long as segments come, then asked for again") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table, {.timeout = 100ms, .retries = 1}};
    const auto request = node.requests().at(0);
    const auto table = records(20);
    for (std::uint32_t number = 1; number <= 4; ++number) {
        node.deliver(segment_of(request, table, number));
        CHECK(node.requests().size() == (number == 1 ? 1 : 0));
        CHECK(node.requests(99ms).empty());
    }
    CHECK(node.requests(1ms) == std::vector{request});
    for (std::uint32_t number = 1; number <= 6; ++number) node.deliver(segment_of(request, table, number));
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].data == table);
}

TEST_CASE("SA client: segments that contradict each other end in an ABORT, and the request is repeated") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table, {.timeout = 100ms, .retries = 1}};
    const auto request = node.requests().at(0);
    const auto table = records(20);
    node.deliver(segment_of(request, table, 1));
    (void)node.requests();
    auto wrong = segment_of(request, table, 6);
    set_field(MutableOctets{wrong}.subspan(Mad::size), Rmpp::payload_length, 5);
    node.deliver(wrong);
    const auto aborts = node.requests();
    REQUIRE(aborts.size() == 1);
    CHECK(rmpp_of(aborts[0])[Rmpp::type] == RmppType::abort);
    CHECK(rmpp_of(aborts[0])[Rmpp::status] == 119);
    CHECK(asked.answers.empty());
    CHECK(node.requests(100ms).size() == 1);
    for (std::uint32_t number = 1; number <= 6; ++number) node.deliver(segment_of(request, table, number));
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].data == table);
}

TEST_CASE("SA client: an SA that gives a table up is asked again") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_table, {.timeout = 100ms, .retries = 1}};
    const auto request = node.requests().at(0);
    node.deliver(segment_of(request, records(20), 1));
    (void)node.requests();
    auto abort = segment_of(request, records(20), 1);
    set_field(MutableOctets{abort}.subspan(Mad::size), Rmpp::type, RmppType::abort);
    node.deliver(abort);
    CHECK(asked.answers.empty());
    CHECK(node.requests(100ms) == std::vector{request});
    CHECK(node.requests(100ms).empty());
    REQUIRE(asked.answers.size() == 1);
    CHECK_FALSE(asked.answers[0].is_answered);
}

TEST_CASE("SA client: a table may be a single segment, and a refusal none") {
    Administered node;
    SaClient client{node.hca};
    const Asked small{client, get_table}, refused{client, get_table};
    const auto requests = node.requests();
    node.deliver(segment_of(requests[0], records(2), 1));
    REQUIRE(small.answers.size() == 1);
    CHECK(small.answers[0].data == records(2));
    node.deliver(answer_to(requests[1], sa_status::no_records));
    REQUIRE(refused.answers.size() == 1);
    CHECK(refused.answers[0].status == sa_status::no_records);
}

}  // namespace
}  // namespace ipoib::fabric

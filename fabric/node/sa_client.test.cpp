// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/sa_client.hpp"

#include "fabric/node/test_administrator.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("SA client: a request goes to the SM's LID from QP1 with what was asked") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member};
    REQUIRE(node.cable.sent.size() == 1);
    Packet packet;
    decode(node.cable.sent[0].octets(), packet);
    CHECK(packet.lrh[Lrh::slid] == test_lid);
    CHECK(packet.lrh[Lrh::dlid] == test_sm_lid);
    CHECK(packet.bth[Bth::dest_qp] == 1);
    CHECK(packet.bth[Bth::p_key] == 0xffff);
    CHECK(packet.deth[Deth::src_qp] == 1);
    CHECK(packet.deth[Deth::q_key] == 0x80010000);
    CHECK(packet.mad[Mad::mgmt_class] == MgmtClass::subn_adm);
    CHECK(packet.mad[Mad::class_version] == 2);
    CHECK(packet.mad[Mad::method] == Method::get);
    CHECK(packet.mad[Mad::attribute_id] == attribute::mc_member_record);
    CHECK(packet.mad[Mad::attribute_modifier] == 5);
    CHECK_FALSE(packet.rmpp[Rmpp::active]);
    CHECK(packet.sa[SaHeader::component_mask] == 0x10003);
    CHECK(packet.payload[SaHeader::data_offset] == 1);
    CHECK(packet.payload[SaHeader::data_offset + 2] == 3);
    CHECK(packet.payload[SaHeader::data_offset + 3] == 0);
}

TEST_CASE("SA client: the SA is reached in the default partition, or with the first P_Key without one") {
    Node node;
    SaClient client{node.hca};
    const auto p_key = [&](const std::vector<std::uint16_t>& p_keys) {
        node.hca.connect(&node.cable);
        node.bring_up(p_keys);
        const Asked asked{client, get_member};
        Packet packet;
        decode(node.cable.sent.at(0).octets(), packet);
        node.cable.sent.clear();
        client.forget_all();
        return packet.bth[Bth::p_key];
    };
    CHECK(p_key({0x8123, 0x7fff}) == 0x7fff);
    CHECK(p_key({0x8123, 0xffff}) == 0xffff);
    CHECK(p_key({0x8123, 0x8001}) == 0x8123);
}

TEST_CASE("SA client: an answer is matched by the low half of its TransactionID") {
    Administered node;
    SaClient client{node.hca};
    const Asked first{client, get_member}, second{client, get_member};
    const auto requests = node.requests();
    REQUIRE(requests.size() == 2);
    const auto low = [](const MadOctets& mad) { return header(mad)[Mad::transaction_id] & 0xffffffff; };
    CHECK(low(requests[0]) != low(requests[1]));
    auto answer = answer_to(requests[1], 0, records(2));
    set_field(MutableOctets{answer}, Mad::transaction_id, low(requests[1]));
    node.deliver(answer);
    CHECK(first.answers.empty());
    REQUIRE(second.answers.size() == 1);
    CHECK(second.answers[0].is_ok());
    CHECK(second.answers[0].method == Method::get_resp);
    CHECK(second.answers[0].data.size() == 200);
    CHECK(second.answers[0].data[56] == 1);
    CHECK(second.answers[0].record_size == 0);
}

TEST_CASE("SA client: an answer to a client before it is none to the next on the same adapter") {
    Administered node;
    auto client = std::make_unique<SaClient>(node.hca);
    const Asked before{*client, get_member};
    const auto request = node.requests().at(0);
    client.reset();
    client = std::make_unique<SaClient>(node.hca);
    const Asked after{*client, get_member};
    node.deliver(answer_to(request));
    CHECK(before.answers.empty());
    CHECK(after.answers.empty());
    node.deliver(answer_to(node.requests().at(0)));
    CHECK(after.answers.size() == 1);
}

TEST_CASE("SA client: a refusal is an answer") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member};
    node.deliver(answer_to(node.requests().at(0), sa_status::insufficient_components));
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].is_answered);
    CHECK_FALSE(asked.answers[0].is_ok());
    CHECK(asked.answers[0].status == sa_status::insufficient_components);
}

TEST_CASE("SA client: a request is repeated as it was, and given up after the last timeout") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member, {.timeout = 100ms, .retries = 2}};
    const auto first = node.requests().at(0);
    CHECK(node.requests(99ms).empty());
    CHECK(node.requests(1ms) == std::vector{first});
    CHECK(node.requests(100ms) == std::vector{first});
    CHECK(asked.answers.empty());
    CHECK(node.requests(100ms).empty());
    REQUIRE(asked.answers.size() == 1);
    CHECK_FALSE(asked.answers[0].is_answered);
    // Too late.
    node.deliver(answer_to(first));
    CHECK(node.requests(10s).empty());
    CHECK(asked.answers.size() == 1);
}

TEST_CASE("SA client: the answer to the repeated request is taken once") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member, {.timeout = 100ms, .retries = 2}};
    (void)node.requests(150ms);
    const auto request = node.requests(100ms).at(0);
    node.deliver(answer_to(request));
    node.deliver(answer_to(request));
    CHECK(asked.answers.size() == 1);
    CHECK(node.requests(10s).empty());
}

TEST_CASE("SA client: it is told how often a request was repeated before its answer came") {
    Administered node;
    SaClient client{node.hca};
    const Asked at_once{client, get_member};
    node.deliver(answer_to(node.requests().at(0)));
    CHECK(at_once.answers.at(0).repeats == 0);
    const Asked late{client, get_member, {.timeout = 100ms, .retries = 2}};
    const auto request = node.requests(250ms).at(0);
    node.deliver(answer_to(request));
    CHECK(late.answers.at(0).repeats == 2);
}

TEST_CASE("SA client: a request once more has the TransactionID of the last one, and an answer of its own") {
    Administered node;
    SaClient client{node.hca};
    auto again = get_member;
    again.is_again = true;
    const Asked first{client, get_member};
    const auto request = node.requests().at(0);
    node.deliver(answer_to(request));
    const Asked second{client, again};
    CHECK(node.requests() == std::vector{request});
    node.deliver(answer_to(request, sa_status::invalid_request));
    REQUIRE(second.answers.size() == 1);
    CHECK(second.answers[0].status == sa_status::invalid_request);
    // One that is open still is given up for it, and the number after it is another.
    const Asked open{client, get_member}, third{client, again}, other{client, get_member};
    const auto three = node.requests();
    REQUIRE(three.size() == 3);
    CHECK(three[0] == three[1]);
    CHECK_FALSE(three[1] == three[2]);
    node.deliver(answer_to(three[0]));
    CHECK(open.answers.empty());
    CHECK(third.answers.size() == 1);
    CHECK(first.answers.size() == 1);
}

TEST_CASE("SA client: a BUSY answer is waited for as if none had come") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member, {.timeout = 100ms, .retries = 1}};
    const auto request = node.requests().at(0);
    node.deliver(answer_to(request, mad_status::busy));
    CHECK(asked.answers.empty());
    CHECK(node.requests(100ms).size() == 1);
    node.deliver(answer_to(request));
    REQUIRE(asked.answers.size() == 1);
    CHECK(asked.answers[0].is_ok());
}

TEST_CASE("SA client: what is no answer to the request is not taken for one") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member};
    const auto request = node.requests().at(0);
    auto other = answer_to(request);
    set_field(MutableOctets{other}, Mad::attribute_id, attribute::path_record);
    node.deliver(other);
    node.deliver(request);
    auto unknown = answer_to(request);
    set_field(MutableOctets{unknown}, Mad::transaction_id, header(request)[Mad::transaction_id] + 1);
    node.deliver(unknown);
    CHECK(asked.answers.empty());
    CHECK(node.cable.sent.empty());
}

TEST_CASE("SA client: forgotten requests are neither answered nor repeated") {
    Administered node;
    SaClient client{node.hca};
    const Asked asked{client, get_member};
    const auto request = node.requests().at(0);
    client.forget_all();
    node.deliver(answer_to(request));
    CHECK(node.requests(100s).empty());
    CHECK(asked.answers.empty());
}

TEST_CASE("SA client: a caller may ask again, forget, or end the client when it is answered") {
    Administered node;
    auto client = std::make_unique<SaClient>(node.hca);
    int answered = 0;
    client->ask(get_member, [&](const SaAnswer&) {
        ++answered;
        client->ask(get_member, [&](const SaAnswer&) {
            ++answered;
            client.reset();
        });
    });
    node.deliver(answer_to(node.requests().at(0)));
    node.deliver(answer_to(node.requests().at(0)));
    CHECK(answered == 2);
    CHECK(client == nullptr);
    node.deliver(answer_to(answer_to({})));
    CHECK(node.requests(100s).empty());
}

TEST_CASE("SA client: one that ends with requests open calls nobody") {
    Administered node;
    auto client = std::make_unique<SaClient>(node.hca);
    const Asked asked{*client, get_member};
    client.reset();
    node.loop.run_for(100s);
    CHECK(asked.answers.empty());
}

MadOctets report_of(const Bytes<Notice>& notice) {
    MadOctets mad{};
    const MutableOctets all{mad};
    set_field(all, Mad::base_version, 1);
    set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
    set_field(all, Mad::class_version, 2);
    set_field(all, Mad::method, Method::report);
    set_field(all, Mad::transaction_id, 0x77);
    set_field(all, Mad::attribute_id, attribute::notice);
    std::copy(notice.octets.begin(), notice.octets.end(), mad.begin() + SaHeader::data_offset);
    return mad;
}

TEST_CASE("SA client: what another port answers or reports is not heard") {
    Administered node;
    SaClient client{node.hca};
    unsigned reports = 0;
    client.on_report([&](View<Notice>) { ++reports; });
    const Asked asked{client, get_member}, of_table{client, get_table};
    const auto requests = node.requests();
    const auto table = records(5);
    const auto by = [&](std::uint16_t lid, const MadOctets& mad) {
        node.hca.receive(mad_frame({.slid = lid, .dlid = test_lid}, mad));
    };
    const auto all_by = [&](std::uint16_t lid) {
        by(lid, answer_to(requests.at(0)));
        for (const unsigned number : {1u, 2u}) by(lid, segment_of(requests.at(1), table, number));
        by(lid, report_of(Bytes<Notice>{}));
    };
    all_by(test_sm_lid + 6);
    CHECK(asked.answers.empty());
    CHECK(of_table.answers.empty());
    CHECK(reports == 0);
    CHECK(node.cable.sent.empty());
    all_by(test_sm_lid);
    CHECK(asked.answers.size() == 1);
    CHECK(of_table.answers.size() == 1);
    CHECK(reports == 1);
}

TEST_CASE("SA client: a report is answered with its own contents, then told") {
    Administered node;
    SaClient client{node.hca};
    std::vector<std::uint16_t> traps;
    client.on_report([&](View<Notice> notice) {
        CHECK(node.cable.sent.size() == 1);
        traps.push_back(notice[Notice::trap_number]);
    });
    const auto report = report_of(
        Bytes<Notice>{}.set(Notice::is_generic, true).set(Notice::trap_number, trap::multicast_group_created));
    node.deliver(report);
    CHECK(traps == std::vector{trap::multicast_group_created});
    const auto lrh = View<Lrh>::at(node.cable.sent.at(0).octets());
    CHECK(lrh[Lrh::dlid] == test_sm_lid);
    CHECK(lrh[Lrh::slid] == test_lid);
    auto expected = report;
    set_field(MutableOctets{expected}, Mad::method, Method::report_resp);
    CHECK(node.requests() == std::vector{expected});

    client.answers_reports = false;
    client.on_report([&](View<Notice> notice) { traps.push_back(notice[Notice::trap_number]); });
    node.deliver(report);
    CHECK(node.requests().empty());
    CHECK(traps.size() == 2);
    client.on_report(nullptr);
    node.deliver(report);
    CHECK(traps.size() == 2);
}

TEST_CASE("SA client: a report that its sender repeats is answered again, and told again unless it need not be") {
    Administered node;
    SaClient client{node.hca};
    unsigned told = 0;
    client.on_report([&](View<Notice>) { ++told; });
    const auto report = report_of(Bytes<Notice>{}.set(Notice::trap_number, trap::multicast_group_created));
    for (const bool tells : {true, false}) {
        client.tells_repeated_reports = tells;
        told = 0;
        node.deliver(report);
        node.deliver(report);
        CHECK(node.requests().size() == 2);
        CHECK(told == (tells ? 2u : 1u));
    }
    auto other = report;
    set_field(MutableOctets{other}, Mad::transaction_id, 0x78);
    node.deliver(other);
    CHECK(told == 2);
}

}  // namespace
}  // namespace ipoib::fabric

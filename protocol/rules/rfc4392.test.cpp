// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4392: what each rule must catch, and the false alarms that it must not raise.
#include "protocol/rules/test_rules.hpp"

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

using Record = McMemberRecord;
using component = Record::component;

constexpr auto creator = component::create | component::mtu_selector | component::mtu;

Bytes<Record> record_of(std::uint8_t state = 1) {
    return broadcast_record(a, plain)
        .set(Record::mgid, mgid_for_ipv4(group, plain.p_key, plain.scope))
        .set(Record::mlid, mlid)
        .set(Record::join_state, state);
}
PacketBuilder request(Method method, std::uint64_t mask = component::join, std::uint8_t state = 1) {
    return mc_member(a, samples::sa(), method, 1, record_of(state), mask);
}
PacketBuilder answer(Method method = Method::get_resp) {
    return mc_member(samples::sa(), a, method, 1, record_of(), component::join);
}
PacketBuilder with_mgid(PacketBuilder packet, std::string_view mgid, std::uint8_t scope) {
    return packet.set(Record::mgid, parse_gid(mgid).value()).set(Record::scope, scope);
}

}  // namespace

std::vector<Wrong> rules::testing::wrong_rfc4392() {
    const auto link = samples::controlled();
    build::Link reserved;
    reserved.scope = 0xf;
    return {
        {"another controlled Q_Key",
         lie(echo_request(a, b, link, 1), Deth::q_key, 0x80010000),
         {"RFC4391-9.1.2-03", "RFC4392-1.2-02"},
         link},
        {"scope F", udp_to_group(a, group, mlid, reserved, 5), {"RFC4392-1.2.1.2-02"}, reserved},
        {"scope 0",
         to_mgid(udp_to_group(a, group, mlid, plain, 5), "ff10:401b:ffff::fff:102"),
         {"RFC4391-4-11", "RFC4392-1.2.1.2-02"}},
        {"a join of scope 0",
         with_mgid(request(Method::set), "ff10:401b:ffff::fff:102", 0),
         {"RFC4392-1.2.1.2-02-record"}},
        {"a group of scope F", with_mgid(answer(), "ff1f:401b:ffff::fff:102", 0xf), {"RFC4392-1.2.1.2-02-record"}},
        {"a record of another scope", lie(answer(), Record::scope, 5), {"RFC4392-1.3.1-01"}},
        {"a table of another scope", lie(answer(Method::get_table_resp), Record::scope, 5), {"RFC4392-1.3.1-01"}},
        {"an answer that leaves Scope blank", lie(answer(), Record::scope, 0), {"RFC4392-1.3.1-01-blank"}},
        {"a join that gives another scope",
         lie(request(Method::set, component::join | component::scope), Record::scope, 0),
         {"RFC4392-1.3.1-01"}},
        {"a join by Send", request(Method::send), {"RFC4392-1.3.2-01"}},
        {"a creator without MTU",
         request(Method::set, creator & ~component::mtu),
         {"RFC4391-10-16", "RFC4392-1.3.2.1-02"}},
        {"a creator without P_Key", request(Method::set, creator & ~component::p_key), {"RFC4392-1.3.2.1-02"}},
        {"a creator without Q_Key", request(Method::set, creator & ~component::q_key), {"RFC4392-1.3.2.1-02"}},
        {"a creator without TClass", request(Method::set, creator & ~component::traffic_class), {"RFC4392-1.3.2.1-02"}},
        {"a unicast LID for a group", lie(answer(), Record::mlid, 0xbfff), {"RFC4392-1.3.2.1-03"}},
        {"the permissive LID for a group", lie(answer(), Record::mlid, 0xffff), {"RFC4392-1.3.2.1-03"}},
    };
}

TEST_CASE("RFC 4392: right requests and answers break nothing") {
    for (const auto& packet : {request(Method::set), request(Method::set, creator), request(Method::set, creator, 4),
                               request(Method::del), request(Method::get), request(Method::get_table), answer(),
                               answer(Method::get_table_resp), answer(Method::delete_resp)})
        CHECK(violated(packet) == Ids{});
}

TEST_CASE("False alarm: refused requests, blank and foreign records are nobody's group") {
    auto refused = answer();
    refused.set(Mad::status, sa_status::invalid_request).set(Record::mlid, 0).set(Record::scope, 0);
    CHECK(violated(refused) == Ids{});
    const auto blank = mc_member(a, samples::sa(), Method::get_table, 1, {}, 0);
    CHECK(violated(blank) == Ids{});
    CHECK(violated(mc_member(samples::sa(), a, Method::get_table_resp, 1, {}, 0)) == Ids{});
    auto foreign = with_mgid(answer(), "ff10:a01b:ffff::1", 5);
    CHECK(violated(foreign.set(Record::mlid, 0)) == Ids{});
}

TEST_CASE("False alarm: the Scope of a join that does not give it is the MGID's") {
    CHECK(violated(lie(request(Method::set, creator), Record::scope, 0)) == Ids{});
    CHECK(violated(lie(request(Method::set), Record::scope, 7)) == Ids{});
}

TEST_CASE("False alarm: a scope without meaning is a note") {
    build::Link odd;
    odd.scope = 3;
    const auto outcome = judge(udp_to_group(a, group, mlid, odd, 5).build(), odd);
    CHECK(outcome.violated == Ids{});
    CHECK(outcome.noted.count("RULE-RFC4392-1.2.1.2-02") == 1);
    CHECK(noted(with_mgid(answer(), "ff13:401b:ffff::fff:102", 3), "RFC4392-1.2.1.2-02-record"));
    CHECK_FALSE(noted(answer(), "RFC4392-1.2.1.2-02-record"));
}

TEST_CASE("RFC 4392: how groups are joined is noted") {
    CHECK(noted(request(Method::set, component::join, 4), "RFC4392-4.2.1-01"));
    CHECK_FALSE(noted(request(Method::set), "RFC4392-4.2.1-01"));
    CHECK(noted(request(Method::set), "RFC4392-4.2.1-01-full"));
    CHECK_FALSE(noted(request(Method::set, component::join, 2), "RFC4392-4.2.1-01-full"));
}

TEST_CASE("False alarm: an ordinary Q_Key is sent as it is given") {
    const auto link = samples::controlled();
    const auto outcome = judge(lie(echo_request(a, b, link, 1), Deth::q_key, 0x0b1c).build(), link);
    CHECK(outcome.violated.count("RFC4392-1.2-02") == 0);
    CHECK(judge(lie(echo_request(a, b, plain, 1), Deth::q_key, 0x80000b1b).build()).violated ==
          Ids{"RFC4391-9.1.2-03"});
}

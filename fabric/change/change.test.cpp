// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/change/change.hpp"

#include "catch2.hpp"

#include <set>

namespace ipoib::fabric {
namespace {

using namespace std::chrono_literals;

constexpr PortName by_guid{.guid = 0x0002c90300aa0001}, by_lid{.lid = 7};
const auto group = wire::mgid_for_ipv4(0xef010203, 0xffff, 2);

struct Sample {
    FabricChange change;
    std::string members;  ///< behind id and do
    std::optional<FabricChange> opposite;
};

const std::vector<Sample>& samples() {
    static const std::vector<Sample> all{
        {SetScenario{"mtu4k"}, R"(,"name":"mtu4k")", {}},
        {SetManager{.runs = false}, R"(,"state":"stop")", SetManager{.runs = true, .keeps_state = true}},
        {SetManager{.runs = true, .keeps_state = true}, R"(,"state":"start","keeps_state":true)", {}},
        {SetManager{}, R"(,"state":"start")", {}},
        {SetManager{.takes_over = true}, R"(,"state":"failover")", {}},
        {SetPort{by_guid, false}, R"(,"guid":"0x0002c90300aa0001","state":"down")", SetPort{by_guid, true}},
        {SetPort{by_lid, true}, R"(,"lid":7,"state":"up")", SetPort{by_lid, false}},
        {SetPKey{by_guid, 0x8abc, true}, R"(,"guid":"0x0002c90300aa0001","add":"0x8abc")",
         SetPKey{by_guid, 0x8abc, false}},
        {SetPKey{by_lid, 0x0abc, false}, R"(,"lid":7,"remove":"0x0abc")", SetPKey{by_lid, 0x0abc, true}},
        {SetPKey{by_guid, 0x8abc, true, 3}, R"(,"guid":"0x0002c90300aa0001","change":"move","pkey":"0x8abc","index":3)",
         Restore{}},
        {SetLid{by_guid, 12}, R"(,"guid":"0x0002c90300aa0001","lid":12)", {}},
        {SetLid{by_guid}, R"(,"guid":"0x0002c90300aa0001")", {}},
        {SetPrefix{0xfec0000000000001}, R"(,"prefix":"fec0:0:0:1::")", SetPrefix{}},
        {SetPrefix{}, R"(,"prefix":"fe80::")", {}},
        {SetSa{.delay = 1500us, .is_silent = false, .drop_next = 2}, R"(,"delay_ms":1.5,"silent":false,"drop_next":2)",
         SetSa{.resets = true}},
        {SetSa{.resets = true, .busy_next = 3, .refuse_joins = 0x0200, .refuse_only = group},
         R"(,"reset":true,"busy_next":3,"refuse_joins":512,"refuse_only":"ff12:401b:ffff::f01:203")",
         SetSa{.resets = true}},
        {SetSa{.resets = true}, R"(,"reset":true)", {}},
        {SetGroup{group, false}, R"(,"delete":"ff12:401b:ffff::f01:203")", SetGroup{group, true}},
        {SetGroup{group, true}, R"(,"create":"ff12:401b:ffff::f01:203")", SetGroup{group, false}},
        {SetGroup{group, true, 0x80000b1b, 0xfffff, 3, 0x20, 1, 3},
         R"(,"create":"ff12:401b:ffff::f01:203","q_key":"0x80000b1b","flow_label":1048575,"sl":3,"traffic_class":32,"hop_limit":1,"mtu":3)",
         SetGroup{group, false}},
        {SetPath{wire::Gid::of(0xfec0000000000001, 2), 9}, R"(,"gid":"fec0:0:0:1::2","lid":9)",
         SetPath{wire::Gid::of(0xfec0000000000001, 2), 0}},
        {SetPath{wire::Gid::of(0xfec0000000000001, 2), 9, 5}, R"(,"gid":"fec0:0:0:1::2","lid":9,"sl":5)",
         SetPath{wire::Gid::of(0xfec0000000000001, 2), 0}},
        {SetPath{wire::Gid::of(0xfec0000000000001, 2), 0}, R"(,"gid":"fec0:0:0:1::2")", {}},
        {SetFaults{by_lid, {.loss = 0.5, .corruption = 1, .delay = 2ms, .spares_management = false}},
         R"(,"lid":7,"loss":0.5,"corruption":1.0,"delay_ms":2.0,"spares_management":false)", SetFaults{by_lid, {}}},
        {SetFaults{by_lid, {.duplication = 0.25, .reordering = 0.125}},
         R"(,"lid":7,"duplication":0.25,"reordering":0.125)", SetFaults{by_lid, {}}},
        {SetFaults{by_lid, {}}, R"(,"lid":7)", {}},
        {Restore{}, "", {}}};
    return all;
}

TEST_CASE("Fabric change: a request says all of it, and is read as the same") {
    std::set<std::size_t> kinds;
    for (const auto& [change, members, undo] : samples()) {
        const auto line = request_text(change, 5);
        CHECK(line == R"({"id":5,"do":")" + std::string(verb(change)) + '"' + members + '}');
        CHECK(parse_change(line) == change);
        kinds.insert(change.index());
    }
    CHECK(kinds.size() == std::variant_size_v<FabricChange>);
}

TEST_CASE("Fabric change: what takes it back") {
    for (const auto& [change, members, undo] : samples()) {
        INFO(request_text(change, 0));
        CHECK(opposite(change) == undo);
    }
}

TEST_CASE("Fabric change: how long the answer may take is said in seconds") {
    CHECK(request_text(Restore{}, 1, 1500ms) == R"({"id":1,"do":"restore","deadline":1.5})");
}

TEST_CASE("Fabric change: what is no request, or names something that cannot be, is refused with a reason") {
    const auto refusal = [](const std::string& text) {
        try {
            (void)parse_change(text);
        } catch (const ChangeRefused& refused) {
            CHECK_FALSE(std::string(refused.what()).empty());
            return std::string(refused.is_unsupported ? "unsupported: " : "failed: ") + refused.what();
        }
        return std::string("none");
    };
    CHECK_THAT(refusal(R"({"do":"levitate"})"), ContainsSubstring("unsupported"));
    CHECK_THAT(refusal("[]"), ContainsSubstring("failed: the request is no JSON object"));
    CHECK_THAT(refusal(std::string(100'000, '[')), ContainsSubstring("failed: the request is no JSON object"));
    CHECK_THAT(refusal(R"({"do":"sm","x":)" + std::string(100'000, '[')), ContainsSubstring("no JSON object"));
    CHECK_THAT(refusal(R"({"do":"sm","state":"off"})"), ContainsSubstring("state is neither start nor stop"));
    CHECK_THAT(refusal(R"({"do":"port","state":"up"})"), ContainsSubstring("lid is missing"));
    CHECK_THAT(refusal(R"({"do":"port","state":"up","lid":65536})"),
               ContainsSubstring("lid is not a number up to 65535"));
    CHECK_THAT(refusal(R"({"do":"pkey","guid":"12345678901234567","add":1})"),
               ContainsSubstring("guid is not a number"));
    CHECK_THAT(refusal(R"({"do":"pkey","guid":"0x","add":1})"), ContainsSubstring("guid is not a number"));
    CHECK_THAT(refusal(R"({"do":"group","create":"fe80::1"})"), ContainsSubstring("begins with ff"));
    CHECK_THAT(refusal(R"({"do":"group","create":"ff12::1","mtu":0})"), ContainsSubstring("a code from 1 to 5"));
    CHECK_THAT(refusal(R"({"do":"pkey","guid":1,"change":"swap","pkey":1,"index":0})"),
               ContainsSubstring("change is not move"));
    CHECK_THAT(refusal(R"({"do":"lid","guid":1,"lid":49152})"), ContainsSubstring("lid is not a number up to 49151"));
    CHECK_THAT(refusal(R"({"do":"prefix","prefix":"fec0::1"})"), ContainsSubstring("prefix is no subnet prefix"));
    CHECK_THAT(refusal(R"({"do":"prefix","prefix":"ff12::"})"), ContainsSubstring("prefix is no subnet prefix"));
    CHECK_THAT(refusal(R"({"do":"faults","lid":1,"loss":1.1})"), ContainsSubstring("loss is not between 0 and 1"));
}

TEST_CASE("Fabric change: an answer repeats the id, and says what became of the change") {
    using enum ChangeAnswer::Outcome;
    CHECK(answer_text(R"({"id":7})", {}) == R"({"id":7,"ok":true})");
    CHECK(answer_text(R"({"id":"a\nb"})", {failed, "no"}) == R"({"id":"a\nb","error":"failed","message":"no"})");
    CHECK(answer_text("{", {unsupported, "no"}) == R"({"error":"unsupported","message":"no"})");
    CHECK(parse_answer(R"({"id":7,"ok":true})").is_done());
    CHECK(parse_answer(R"({"error":"unsupported","message":"no"})").outcome == unsupported);
    CHECK(parse_answer(R"({"error":"failed","message":"no"})").message == "no");
    for (const std::string line : {"", "[]", "{}", R"({"ok":false})", R"({"ok":1})", R"({"error":3,"message":3})"}) {
        INFO(line);
        CHECK(parse_answer(line).outcome == failed);
        CHECK_FALSE(parse_answer(line).message.empty());
    }
}

}  // namespace
}  // namespace ipoib::fabric

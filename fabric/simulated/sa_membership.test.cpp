// SPDX-License-Identifier: GPL-2.0-or-later
// Statuses of joins and leaves. The expected ones were seen at OpenSM 3.3.23, but for rows that say "strict".
#include "fabric/simulated/sa_test_bench.hpp"

namespace ipoib::fabric {
using namespace testing;

namespace {

struct Row {
    const char* what;
    std::uint64_t mask;
    std::function<void(McRecord&)> change;
    int status;
    int strict_status = -2;  ///< -2: the same
};

void check(const std::vector<Row>& rows, const Gid& mgid, bool is_strict) {
    for (const auto& row : rows) {
        Bench bench(SaBehaviour{.is_strict = is_strict});
        bench.add(1, {0xffff, 0x8001});
        bench.sa->create_broadcast_group({.p_key = 0x8001, .q_key = 0x1234});
        auto wanted = Bench::record(1, mgid, 1);
        if (row.change) row.change(wanted);
        CAPTURE(row.what, is_strict);
        const auto before = bench.sa->groups().size();
        const auto expected = is_strict && row.strict_status != -2 ? row.strict_status : row.status;
        CHECK(bench.set(1, wanted, row.mask) == expected);
        const bool creates = expected == 0 && mgid != broadcast;
        CHECK(bench.sa->groups().size() == before + creates);
        if (expected != 0) CHECK(bench.states(1, mgid) == 0);
    }
}

const std::vector<Row> joins{
    {"only what a join needs", C::join, {}, ok},
    {"everything right", whole, {}, ok},
    {"no PortGID", C::mgid | C::join_state, {}, insufficient},
    {"no JoinState", C::mgid | C::port_gid, {}, insufficient},
    {"no MGID", C::port_gid | C::join_state, {}, insufficient},
    {"JoinState 0", C::join, [](auto& r) { r.set(M::join_state, 0); }, invalid},
    {"wrong Q_Key", C::join | C::q_key, [](auto& r) { r.set(M::q_key, 0xdead); }, invalid},
    {"wrong Q_Key, not given", C::join, [](auto& r) { r.set(M::q_key, 0xdead); }, ok},
    {"wrong P_Key", C::join | C::p_key, [](auto& r) { r.set(M::p_key, 0x8001); }, invalid},
    {"P_Key of a limited member", C::join | C::p_key, [](auto& r) { r.set(M::p_key, 0x7fff); }, ok},
    {"P_Key without base", C::join | C::p_key, [](auto& r) { r.set(M::p_key, 0x8000); }, invalid},
    {"wrong SL", C::join | C::sl, [](auto& r) { r.set(M::sl, 3); }, invalid},
    {"wrong TClass", C::join | C::traffic_class, [](auto& r) { r.set(M::traffic_class, 9); }, invalid},
    {"wrong FlowLabel", C::join | C::flow_label, [](auto& r) { r.set(M::flow_label, 9); }, invalid},
    {"wrong HopLimit", C::join | C::hop_limit, [](auto& r) { r.set(M::hop_limit, 9); }, invalid},
    {"wrong scope", C::join | C::scope, [](auto& r) { r.set(M::scope, 5); }, ok, invalid},
    {"wrong MLID", C::join | C::mlid, [](auto& r) { r.set(M::mlid, 0xc777); }, ok, invalid},
    {"another lifetime", C::join | C::lifetime | C::lifetime_selector, [](auto& r) { r.set(M::lifetime, 3); }, ok,
     invalid},
    {"ProxyJoin", C::join | C::proxy_join, [](auto& r) { r.set(M::proxy_join, true); }, ok},
    {"MTU selector alone", C::join | C::mtu_selector, [](auto& r) { r.set(M::mtu, 5); }, invalid},
    {"MTU alone", C::join | C::mtu, [](auto& r) { r.set(M::mtu, 5); }, ok},
    {"rate of 20 Gb/s", C::join | C::rate | C::rate_selector, [](auto& r) { r.set(M::rate, 6); }, invalid},
    {"PortGID of another subnet", C::join,
     [](auto& r) { r.set(M::port_gid, Gid::of(0xfec0000000000000, Bench::gid(1).interface_id())); }, bad_gid},
    {"PortGID that nobody has", C::join, [](auto& r) { r.set(M::port_gid, Gid::of(default_prefix, 5)); }, invalid},
};

const std::vector<Row> creations{
    {"everything given", whole, {}, ok},
    {"the least", C::create, {}, ok},
    {"only what a join needs", C::join, {}, insufficient},
    {"no Q_Key", C::create & ~C::q_key, {}, insufficient},
    {"no P_Key", C::create & ~C::p_key, {}, insufficient},
    {"no TClass", C::create & ~C::traffic_class, {}, insufficient},
    {"no FlowLabel", C::create & ~C::flow_label, {}, insufficient},
    {"no SL", C::create & ~C::sl, {}, insufficient},
    {"not the link's Q_Key", whole, [](auto& r) { r.set(M::q_key, 0x9999); }, invalid},
    {"not the link's SL", whole, [](auto& r) { r.set(M::sl, 5); }, invalid},
    {"not the link's TClass", whole, [](auto& r) { r.set(M::traffic_class, 7); }, invalid},
    {"not the link's FlowLabel", whole, [](auto& r) { r.set(M::flow_label, 7); }, invalid},
    {"not the link's HopLimit", whole, [](auto& r) { r.set(M::hop_limit, 7); }, invalid},
    {"not the link's P_Key", whole, [](auto& r) { r.set(M::p_key, 0x8001); }, invalid},
    {"limited P_Key", whole, [](auto& r) { r.set(M::p_key, 0x7fff); }, ok, invalid},
    {"not the link's rate", whole, [](auto& r) { r.set(M::rate, 2); }, ok},
    {"not the link's MTU", whole, [](auto& r) { r.set(M::mtu, 3); }, ok, invalid},
    {"MTU above the port's", whole, [](auto& r) { r.set(M::mtu, 5); }, invalid},
    {"rate above the port's", whole, [](auto& r) { r.set(M::rate, 7); }, invalid},
    {"MTU code that is none", whole, [](auto& r) { r.set(M::mtu, 6); }, invalid},
    {"rate code that is none", whole, [](auto& r) { r.set(M::rate, 1); }, invalid},
    {"MTU selector alone", C::create | C::mtu_selector, [](auto& r) { r.set(M::mtu, 5); }, invalid},
    {"MTU alone", C::create | C::mtu, [](auto& r) { r.set(M::mtu, 5); }, ok},
    {"another scope than the MGID's", whole, [](auto& r) { r.set(M::scope, 14); }, ok, invalid},
};

}  // namespace

TEST_CASE("A join to a group that exists is checked component by component") {
    for (const bool is_strict : {false, true}) check(joins, broadcast, is_strict);
}

TEST_CASE("A join that creates a group is checked against the link and the port") {
    for (const bool is_strict : {false, true}) check(creations, group_mgid, is_strict);
}

TEST_CASE("An MGID that a new group may not have is refused") {
    struct Case {
        const char* what;
        Gid mgid;
        int status, strict_status;
    };
    const auto ipoib = [](std::uint64_t upper) { return Gid::of(upper, 0x1234); };
    const Case cases[]{{"no multicast GID", Gid::of(default_prefix, 1), invalid, invalid},
                       {"reserved flags", Gid::of(0xff72123400000000, 1), invalid, invalid},
                       {"the administrator's own signature", Gid::of(0xff12a01bffff0000, 1), invalid, invalid},
                       {"T clear", ipoib(0xff02401bffff0000), ok, invalid},
                       {"reserved flags with the signature of IPoIB", ipoib(0xff32401bffff0000), ok, invalid},
                       {"P_Key of a limited member", ipoib(0xff12401b7fff0000), invalid, invalid},
                       {"a link without broadcast group", ipoib(0xff12401b80550000), invalid, invalid},
                       {"a scope without broadcast group", ipoib(0xff15401bffff0000), invalid, invalid},
                       {"bits above the 28 of an IPv4 group", Gid::of(0xff12401bffff0000, 0xe0001234), ok, ok},
                       {"IPv6", Gid::of(0xff12601bffff0000, 0x00000001ff001234), ok, ok},
                       {"no IPoIB", foreign_mgid, ok, ok}};
    for (const auto& [what, mgid, status, strict_status] : cases)
        for (const bool is_strict : {false, true}) {
            CAPTURE(what, is_strict);
            Bench bench(SaBehaviour{.is_strict = is_strict});
            bench.add(1);
            CHECK(bench.join(1, mgid, 1, whole & ~C::scope) == (is_strict ? strict_status : status));
        }
}

TEST_CASE("The broadcast group of another scope can be created, and then groups beside it") {
    Bench bench;
    bench.add(1);
    const auto site_local = broadcast_gid(0xffff, 5);
    auto wanted = Bench::record(1, site_local, 1).set(M::scope, 5);
    CHECK(bench.set(1, wanted) == 0);
    CHECK(bench.answer<M>()[M::scope] == 5);
    CHECK(bench.set(1, wanted.set(M::mgid, mgid_for_ipv4(0xe0000001, 0xffff, 5))) == 0);
}

TEST_CASE("A port outside the partition can neither join nor create, a limited member can") {
    Bench bench;
    bench.sa->create_broadcast_group({.p_key = 0x8001, .q_key = 0x1234});
    bench.add(1, {0xffff});
    bench.add(2, {0xffff, 0x0001});
    const auto link = broadcast_gid(0x8001, 2);
    CHECK(bench.join(1, link, 1, C::join) == invalid);
    CHECK(bench.join(2, link, 1, C::join) == 0);
    auto wanted = Bench::record(1, foreign_mgid, 1).set(M::p_key, 0x8001);
    CHECK(bench.set(1, wanted) == invalid);
    CHECK(bench.set(2, wanted.set(M::port_gid, Bench::gid(2))) == 0);
}

TEST_CASE("MTU and rate of a new group follow the selectors") {
    struct Case {
        std::uint8_t selector, asked;
        int result;  ///< the group's code, or 0 where it is refused
    };
    const Case mtus[]{{0, 0, 0}, {0, 1, 4}, {0, 3, 4}, {0, 4, 0}, {0, 5, 0}, {0, 6, 0}, {1, 0, 0}, {1, 1, 0},
                      {1, 3, 2}, {1, 4, 3}, {1, 5, 4}, {1, 6, 0}, {2, 0, 0}, {2, 1, 1}, {2, 3, 3}, {2, 4, 4},
                      {2, 5, 0}, {2, 6, 0}, {3, 0, 0}, {3, 1, 4}, {3, 4, 4}, {3, 5, 4}, {3, 6, 0}};
    // 3 is 10 Gb/s, the port's; 5 is 5 Gb/s.
    const Case rates[]{{0, 1, 0}, {0, 2, 3}, {0, 3, 0}, {0, 4, 0}, {0, 6, 0}, {1, 1, 0}, {1, 2, 0},
                       {1, 3, 5}, {1, 4, 3}, {1, 6, 3}, {2, 1, 0}, {2, 2, 2}, {2, 3, 3}, {2, 4, 0},
                       {2, 6, 0}, {3, 1, 0}, {3, 2, 3}, {3, 3, 3}, {3, 4, 3}, {3, 6, 3}};
    const auto check_cases = [](std::span<const Case> cases, const auto& selector_field, const auto& field) {
        for (const auto& [selector, asked, result] : cases) {
            CAPTURE(field.name, selector, asked);
            Bench bench;
            bench.add(1);
            auto wanted = Bench::record(1, foreign_mgid, 1).set(selector_field, selector).set(field, asked);
            CHECK(bench.set(1, wanted) == (result ? ok : invalid));
            if (result) CHECK(bench.answer<M>()[field] == result);
            if (result) CHECK(bench.answer<M>()[selector_field] == selector::exactly);
        }
    };
    check_cases(mtus, M::mtu_selector, M::mtu);
    check_cases(rates, M::rate_selector, M::rate);
}

TEST_CASE("A join's MTU selector is compared with the group's MTU") {
    constexpr int expected[4][3]{{ok, invalid, invalid}, {invalid, invalid, ok}, {invalid, ok, invalid}, {ok, ok, ok}};
    for (std::uint8_t selector = 0; selector < 4; ++selector)
        for (std::uint8_t code = 3; code <= 5; ++code) {
            CAPTURE(selector, code);
            Bench bench;
            bench.add(1);
            const auto wanted = Bench::record(1, broadcast, 1).set(M::mtu_selector, selector).set(M::mtu, code);
            CHECK(bench.set(1, wanted, C::join | C::mtu | C::mtu_selector) == expected[selector][code - 3]);
        }
}

TEST_CASE("A join needs a port that can do the group's MTU and rate") {
    Bench bench;
    bench.add(1, {0xffff}, 3);
    bench.add(2, {0xffff}, 4, 2);
    CHECK(bench.join(1, broadcast, 1, C::join) == invalid);
    CHECK(bench.join(2, broadcast, 1, C::join) == invalid);
}

TEST_CASE("The answer to a join tells the group's parameters and the port's states") {
    Bench bench;
    bench.add(1);
    const Partition controlled{.p_key = 0x8123,
                               .q_key = 0x80000b1b,
                               .sl = 3,
                               .traffic_class = 0x20,
                               .hop_limit = 1,
                               .scope = 5,
                               .flow_label = 0x12345};
    bench.subnet.known[0].p_keys = {0x8123};
    bench.sa->create_broadcast_group(controlled);
    REQUIRE(bench.join(1, controlled.broadcast_gid(), 1, C::join) == 0);
    const auto answer = bench.answer<M>();
    CHECK(answer[M::mgid] == controlled.broadcast_gid());
    CHECK(answer[M::port_gid] == Bench::gid(1));
    CHECK(answer[M::q_key] == 0x80000b1b);
    CHECK(answer[M::mlid] == 0xc001);
    CHECK(answer[M::p_key] == 0x8123);
    CHECK(answer[M::sl] == 3);
    CHECK(answer[M::traffic_class] == 0x20);
    CHECK(answer[M::flow_label] == 0x12345);
    CHECK(answer[M::hop_limit] == 1);
    CHECK(answer[M::scope] == 5);
    CHECK(answer[M::mtu] == 4);
    CHECK(answer[M::rate] == 3);
    CHECK(answer[M::lifetime] == 17);
    CHECK(answer[M::join_state] == 1);
    CHECK(bench.last.header()[Mad::method] == Method::get_resp);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 7);
}

TEST_CASE("What a creating join does not give, the administrator chooses, whatever the record says") {
    Bench bench;
    bench.add(1, {0x8123});
    bench.sa->create_broadcast_group({.p_key = 0x8123, .hop_limit = 5, .scope = 5});
    const auto wanted = Bench::record(1, mgid_for_ipv4(0xe0001234, 0x8123, 5), 1)
                            .set(M::p_key, 0x8123)
                            .set(M::mlid, 0xc123)
                            .set(M::mtu, 1)
                            .set(M::rate, 2)
                            .set(M::lifetime, 3)
                            .set(M::hop_limit, 9)
                            .set(M::scope, 14);
    REQUIRE(bench.set(1, wanted, C::create) == ok);
    const auto answer = bench.answer<M>();
    CHECK(answer[M::mlid] == 0xc002);
    CHECK(answer[M::mtu] == 4);
    CHECK(answer[M::rate] == 3);
    CHECK(answer[M::lifetime] == 18);
    CHECK(answer[M::hop_limit] == 5);
    CHECK(answer[M::scope] == 5);
}

TEST_CASE("The answer to a join repeats its ProxyJoin") {
    Bench bench;
    bench.add(1);
    for (const bool is_set : {false, true}) {
        REQUIRE(bench.set(1, Bench::record(1, broadcast, 1).set(M::proxy_join, is_set), C::join) == ok);
        CHECK(bench.answer<M>()[M::proxy_join] == is_set);
    }
}

TEST_CASE("A PortGID with the link-local prefix is that of the subnet's port") {
    Bench bench;
    auto& port = bench.add(1);
    constexpr std::uint64_t prefix = 0xfec0000000000001;
    port.gid = Gid::of(prefix, port.port_guid);
    REQUIRE(bench.join(1, broadcast, 1, C::join) == ok);
    CHECK(bench.sa->find(broadcast)->members.contains(Gid::of(prefix, Bench::gid(1).interface_id())));
    const auto other = Gid::of(prefix + 1, Bench::gid(1).interface_id());
    CHECK(bench.set(1, Bench::record(1, broadcast, 1).set(M::port_gid, other), C::join) == bad_gid);
}

TEST_CASE("A zero MGID is replaced by one that the administrator makes") {
    Bench bench;
    bench.add(1);
    auto wanted = Bench::record(1, Gid{}, 1);
    REQUIRE(bench.set(1, wanted) == 0);
    const auto first = bench.answer<M>()[M::mgid];
    CHECK(first.prefix() == 0xff12a01bfe800000);
    REQUIRE(bench.set(1, wanted) == 0);
    CHECK(bench.answer<M>()[M::mgid] != first);
    CHECK(bench.leave(1, first) == 0);
    CHECK_FALSE(bench.exists(first));
}

TEST_CASE("A leave must name the member and states that it holds") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    REQUIRE(bench.join(1, group_mgid, 3) == 0);
    CHECK(bench.leave(1, group_mgid, 1, C::mgid | C::join_state) == insufficient);
    CHECK(bench.leave(1, group_mgid, 1, C::mgid | C::port_gid) == insufficient);
    CHECK(bench.leave(1, group_mgid, 0) == invalid);
    CHECK(bench.leave(1, group_mgid, 4) == invalid);
    CHECK(bench.leave(1, group_mgid, 5) == invalid);
    CHECK(bench.leave(2, group_mgid) == invalid);
    CHECK(bench.leave(1, foreign_mgid) == invalid);
    CHECK(bench.states(1, group_mgid) == 3);
    // Other components are not looked at.
    CHECK(bench.ask(1, Method::del, attribute::mc_member_record, C::join | C::q_key,
                    Bench::record(1, group_mgid, 2).set(M::q_key, 5)) == 0);
    CHECK(bench.answer<M>()[M::join_state] == 1);
    CHECK(bench.last.header()[Mad::method] == Method::delete_resp);
    CHECK(bench.states(1, group_mgid) == 1);
}

}  // namespace ipoib::fabric

// SPDX-License-Identifier: GPL-2.0-or-later
// The life of groups: join states, routes, beginning and end, MLIDs, ports that vanish.
#include "fabric/simulated/sa_test_bench.hpp"

namespace ipoib::fabric {
using namespace testing;

namespace {

using Lids = std::set<std::uint16_t>;

/// FullMember 1, NonMember 2, SendOnlyNonMember 4, SendOnlyFullMember 8.
constexpr std::uint8_t all_states = 16;

}  // namespace

TEST_CASE("Only FullMember and SendOnlyFullMember create a group") {
    for (std::uint8_t states = 0; states < all_states; ++states) {
        CAPTURE(int{states});
        Bench bench;
        bench.add(1);
        const bool creates = (states & 9) != 0;
        CHECK(bench.join(1, group_mgid, states) == (creates ? ok : invalid));
        CHECK(bench.exists(group_mgid) == creates);
        CHECK(bench.states(1, group_mgid) == (creates ? states : 0));
    }
}

TEST_CASE("Join states of an existing group are OR-ed, every one but none") {
    for (std::uint8_t first = 1; first < all_states; ++first)
        for (std::uint8_t second = 0; second < all_states; ++second) {
            CAPTURE(int{first}, int{second});
            Bench bench;
            bench.add(1);
            REQUIRE(bench.join(1, broadcast, first) == ok);
            CHECK(bench.answer<M>()[M::join_state] == first);
            CHECK(bench.join(1, broadcast, second) == (second ? ok : invalid));
            CHECK(bench.states(1, broadcast) == (first | second));
            if (second) CHECK(bench.answer<M>()[M::join_state] == (first | second));
        }
}

TEST_CASE("A leave takes away the states it names, and the group ends with the last that keeps it") {
    for (std::uint8_t held = 1; held < all_states; ++held)
        for (std::uint8_t given = 0; given < all_states; ++given) {
            if ((held & 9) == 0) continue;
            CAPTURE(int{held}, int{given});
            Bench bench;
            bench.add(1);
            REQUIRE(bench.join(1, group_mgid, held) == ok);
            const bool is_right = given != 0 && (given & ~held) == 0;
            CHECK(bench.leave(1, group_mgid, given) == (is_right ? ok : invalid));
            const int rest = is_right ? held & ~given : held;
            const bool lives = (rest & 9) != 0;
            CHECK(bench.exists(group_mgid) == lives);
            CHECK(bench.states(1, group_mgid) == (lives ? rest : 0));
            if (is_right) CHECK(bench.answer<M>()[M::join_state] == (lives ? rest : 0));
        }
}

TEST_CASE("Who does not count does not keep a group alive") {
    for (std::uint8_t other = 1; other < all_states; ++other) {
        CAPTURE(int{other});
        Bench bench;
        bench.add(1);
        bench.add(2);
        REQUIRE(bench.join(1, group_mgid) == ok);
        REQUIRE(bench.join(2, group_mgid, other) == ok);
        CHECK(bench.leave(1, group_mgid) == ok);
        const bool lives = (other & 9) != 0;
        CHECK(bench.exists(group_mgid) == lives);
        CHECK(bench.leave(2, group_mgid, other) == (lives ? ok : invalid));
        CHECK_FALSE(bench.exists(group_mgid));
    }
}

TEST_CASE("A group goes to its members, and only comes from those who only send") {
    struct Case {
        std::uint8_t states;
        bool receives;
    };
    for (const auto& [states, receives] :
         {Case{1, true}, {2, true}, {4, false}, {8, false}, {5, true}, {6, true}, {12, false}, {9, true}, {15, true}}) {
        CAPTURE(int{states});
        Bench bench;
        bench.add(1);
        bench.add(2);
        REQUIRE(bench.join(1, group_mgid) == ok);
        REQUIRE(bench.join(2, group_mgid, states) == ok);
        const auto mlid = bench.sa->find(group_mgid)->mlid();
        const Lids both{Bench::lid(1), Bench::lid(2)}, first{Bench::lid(1)}, second{Bench::lid(2)};
        CHECK(bench.subnet.routes[mlid].to == (receives ? both : first));
        CHECK(bench.subnet.routes[mlid].from_only == (receives ? Lids{} : second));
        REQUIRE(bench.leave(2, group_mgid, states) == ok);
        CHECK(bench.subnet.routes[mlid].to == first);
        CHECK(bench.subnet.routes[mlid].from_only.empty());
    }
}

TEST_CASE("The switches are told of a change of membership and of nothing else") {
    Bench bench;
    bench.add(1);
    REQUIRE(bench.join(1, group_mgid, 8) == ok);
    CHECK(bench.subnet.route_calls == 1);
    REQUIRE(bench.join(1, group_mgid, 8) == ok);
    REQUIRE(bench.join(1, group_mgid, 4) == ok);
    CHECK(bench.subnet.route_calls == 1);
    REQUIRE(bench.join(1, group_mgid, 1) == ok);
    CHECK(bench.subnet.route_calls == 2);
    REQUIRE(bench.leave(1, group_mgid, 4) == ok);
    CHECK(bench.subnet.route_calls == 2);
    const auto mlid = bench.sa->find(group_mgid)->mlid();
    REQUIRE(bench.leave(1, group_mgid, 9) == ok);
    CHECK(bench.subnet.route_calls == 3);
    CHECK(bench.subnet.routes[mlid].to.empty());
}

TEST_CASE("A port that joins again with another LID is routed to the new one") {
    Bench bench;
    bench.add(1);
    REQUIRE(bench.join(1, broadcast) == ok);
    bench.subnet.known[0].lid = Bench::lid(5);
    REQUIRE(bench.set(5, Bench::record(1, broadcast, 1)) == ok);
    CHECK(bench.subnet.routes[0xc000].to == Lids{Bench::lid(5)});
}

TEST_CASE("A group's MLID is the first that is free, or the one that was asked for") {
    Bench bench;
    bench.add(1);
    const auto other = mgid_for_ipv4(0xe0000001, 0xffff, 2), third = mgid_for_ipv4(0xe0000002, 0xffff, 2);
    const auto mlid = [&](const Gid& mgid) { return bench.sa->find(mgid)->mlid(); };
    REQUIRE(bench.join(1, group_mgid) == ok);
    REQUIRE(bench.join(1, other) == ok);
    CHECK(mlid(broadcast) == 0xc000);
    CHECK(mlid(group_mgid) == 0xc001);
    CHECK(mlid(other) == 0xc002);
    REQUIRE(bench.leave(1, group_mgid) == ok);
    REQUIRE(bench.join(1, third) == ok);
    CHECK(mlid(third) == 0xc001);
    REQUIRE(bench.set(1, Bench::record(1, group_mgid, 1).set(M::mlid, 0xc123), whole | C::mlid) == ok);
    CHECK(mlid(group_mgid) == 0xc123);
    const auto taken = Bench::record(1, foreign_mgid, 1).set(M::mlid, 0xc123);
    REQUIRE(bench.set(1, taken, whole | C::mlid) == ok);
    CHECK(mlid(foreign_mgid) == 0xc003);
}

TEST_CASE("Without a free MLID a group is refused for lack of resources until one is freed") {
    Bench bench(SaConfig{.most_groups = 3});
    bench.add(1);
    const auto nth = [](std::uint32_t n) { return mgid_for_ipv4(0xe0000000 + n, 0xffff, 2); };
    CHECK(bench.join(1, nth(1)) == ok);
    CHECK(bench.join(1, nth(2)) == ok);
    CHECK(bench.join(1, nth(3)) == no_resources);
    CHECK_FALSE(bench.exists(nth(3)));
    CHECK_FALSE(bench.sa->create_group(nth(3), {}));
    CHECK(bench.join(1, broadcast) == ok);
    CHECK(bench.leave(1, nth(1)) == ok);
    CHECK(bench.join(1, nth(3)) == ok);
    // The last MLID is 0xfffe.
    Bench narrow(SaConfig{.first_mlid = 0xfffd});
    narrow.add(1);
    CHECK(narrow.join(1, nth(1)) == ok);
    CHECK(narrow.sa->find(nth(1))->mlid() == 0xfffe);
    CHECK(narrow.join(1, nth(2)) == no_resources);
}

TEST_CASE("A group of the administrator's lives without members") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    CHECK(bench.sa->find(broadcast)->is_administrative);
    REQUIRE(bench.join(1, broadcast) == ok);
    REQUIRE(bench.join(2, broadcast, 2) == ok);
    REQUIRE(bench.leave(1, broadcast) == ok);
    REQUIRE(bench.exists(broadcast));
    // OpenSM forgets the others together with the last FullMember.
    CHECK(bench.sa->find(broadcast)->members.empty());
    CHECK(bench.subnet.routes[0xc000].to.empty());
    bench.sa->delete_group(broadcast);
    CHECK_FALSE(bench.exists(broadcast));
}

TEST_CASE("Strictly read, the last FullMember takes nobody along from the administrator's group") {
    Bench bench(SaBehaviour{.is_strict = true});
    bench.add(1);
    bench.add(2);
    REQUIRE(bench.join(1, broadcast) == ok);
    REQUIRE(bench.join(2, broadcast, 2) == ok);
    REQUIRE(bench.leave(1, broadcast) == ok);
    CHECK(bench.states(2, broadcast) == 2);
    CHECK(bench.subnet.routes[0xc000].to == Lids{Bench::lid(2)});
}

TEST_CASE("A partition without broadcast group leaves its creation to the first join") {
    Bench bench;
    bench.add(1, {0x8001});
    bench.sa->create_broadcast_group({.p_key = 0x8001, .has_broadcast_group = false});
    const auto link = broadcast_gid(0x8001, 2);
    CHECK_FALSE(bench.exists(link));
    CHECK(bench.set(1, Bench::record(1, link, 1).set(M::p_key, 0x8001)) == ok);
    CHECK(bench.leave(1, link) == ok);
    CHECK_FALSE(bench.exists(link));
}

TEST_CASE("A port that vanished is a member of nothing") {
    Bench bench;
    for (const unsigned n : {1u, 2u}) {
        bench.add(n);
        REQUIRE(bench.join(n, broadcast) == ok);
    }
    REQUIRE(bench.join(1, group_mgid) == ok);
    bench.sa->port_vanished(Bench::gid(1));
    CHECK_FALSE(bench.exists(group_mgid));
    CHECK(bench.states(1, broadcast) == 0);
    CHECK(bench.states(2, broadcast) == 1);
    CHECK(bench.subnet.routes[0xc000].to == Lids{Bench::lid(2)});
}

TEST_CASE("After a restart without state there is nothing") {
    Bench bench;
    bench.add(1);
    REQUIRE(bench.join(1, broadcast) == ok);
    REQUIRE(bench.join(1, group_mgid) == ok);
    REQUIRE(bench.ask(1, Method::set, attribute::service_record, 3,
                      Bytes<ServiceRecord>{}.set(ServiceRecord::service_gid, Bench::gid(1))) == ok);
    bench.send(1, Bench::request(Method::get, attribute::mc_member_record, 0, {}));
    bench.sa->forget_all();
    CHECK(bench.mail().empty());
    CHECK(bench.table<ServiceRecord>(1, attribute::service_record).empty());
    CHECK(bench.sa->groups().empty());
    CHECK(bench.subnet.routes[0xc000].to.empty());
    CHECK(bench.subnet.routes[0xc001].to.empty());
    bench.sa->create_broadcast_group({});
    CHECK(bench.sa->find(broadcast)->mlid() == 0xc000);
}

TEST_CASE("A port in the same partition may join another, and then both may end it") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    bench.add(3, {0x8001});
    const auto for_first = Bench::record(1, group_mgid, 1);
    CHECK(bench.set(3, for_first) == invalid);
    REQUIRE(bench.set(2, for_first) == ok);
    CHECK(bench.sa->find(group_mgid)->proxies.contains(Bench::gid(1)));
    CHECK(bench.subnet.routes[0xc001].to == Lids{Bench::lid(1)});
    CHECK(bench.join(1, group_mgid, 2) == ok);
    CHECK(bench.ask(3, Method::del, attribute::mc_member_record, C::join, for_first) == invalid);
    CHECK(bench.ask(2, Method::del, attribute::mc_member_record, C::join, for_first) == ok);
    CHECK_FALSE(bench.exists(group_mgid));
}

TEST_CASE("Who acts for another must be in the group's partition too") {
    Bench bench;
    bench.add(1, {0xffff, 0x8001});
    bench.add(2);
    bench.add(3, {0x8001});
    const auto for_first = Bench::record(1, group_mgid, 1);
    CHECK(bench.set(3, for_first) == invalid);
    CHECK(bench.set(3, Bench::record(1, broadcast, 1), C::join) == invalid);
    REQUIRE(bench.set(2, for_first) == ok);
    CHECK(bench.set(3, Bench::record(1, group_mgid, 2), C::join) == invalid);
    CHECK(bench.ask(3, Method::del, attribute::mc_member_record, C::join, for_first) == invalid);
    CHECK(bench.states(1, group_mgid) == 1);
    const auto all = bench.table<M>(1, attribute::mc_member_record, C::mgid, for_first);
    REQUIRE(all.size() == 1);
    CHECK(all[0][M::proxy_join]);
}

TEST_CASE("A port that joins itself after it was joined by another is its own again") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    REQUIRE(bench.set(2, Bench::record(1, broadcast, 1), C::join) == ok);
    REQUIRE(bench.leave(1, broadcast) == ok);
    REQUIRE(bench.join(1, group_mgid) == ok);
    REQUIRE(bench.join(2, group_mgid) == ok);
    REQUIRE(bench.leave(1, group_mgid) == ok);
    REQUIRE(bench.set(2, Bench::record(1, group_mgid, 1), C::join) == ok);
    REQUIRE(bench.leave(1, group_mgid) == ok);
    REQUIRE(bench.join(1, group_mgid) == ok);
    CHECK(bench.set(2, Bench::record(1, group_mgid, 2), C::join) == invalid);
}

TEST_CASE("What a port joined itself no other port changes") {
    Bench bench;
    bench.add(1);
    bench.add(2);
    REQUIRE(bench.join(1, group_mgid) == ok);
    CHECK(bench.set(2, Bench::record(1, group_mgid, 2)) == invalid);
    CHECK(bench.ask(2, Method::del, attribute::mc_member_record, C::join, Bench::record(1, group_mgid, 1)) == invalid);
    CHECK(bench.states(1, group_mgid) == 1);
}

}  // namespace ipoib::fabric

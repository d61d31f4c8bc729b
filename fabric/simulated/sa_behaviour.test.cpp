// SPDX-License-Identifier: GPL-2.0-or-later
// A wrong administrator differs from the right one in what its switch says.
#include "fabric/simulated/sa_test_bench.hpp"
#include "protocol/wire/class_port_info.hpp"

namespace ipoib::fabric {
using namespace testing;

namespace {

/// What is seen of an administrator that behaves so.
using Scene = std::function<int(Bench&)>;
void check(const char* what, const SaBehaviour& wrong, const Scene& scene, int right_outcome, int wrong_outcome) {
    CAPTURE(what);
    Bench right, mutant{wrong};
    for (auto* bench : {&right, &mutant}) {
        bench->add(1);
        bench->add(2);
        bench->add(3, {0x8001});
        bench->add(4, {0xffff}, 3, 2);
    }
    CHECK(scene(right) == right_outcome);
    CHECK(scene(mutant) == wrong_outcome);
}

Scene joins_with(std::uint64_t mask, const std::function<void(McRecord&)>& change) {
    return [=](Bench& bench) {
        auto wanted = Bench::record(1, broadcast, 1);
        change(wanted);
        return bench.set(1, wanted, C::join | mask);
    };
}

/// Port 1 creates, port 2 joins so, port 1 leaves; whether the group lives.
Scene outlives(std::uint8_t states) {
    return [=](Bench& bench) {
        REQUIRE(bench.join(1, group_mgid) == ok);
        REQUIRE(bench.join(2, group_mgid, states) == ok);
        REQUIRE(bench.leave(1, group_mgid) == ok);
        return int{bench.exists(group_mgid)};
    };
}

/// How many ports the broadcast group is routed to when port 1 joins so.
Scene routes(std::uint8_t states) {
    return [=](Bench& bench) {
        REQUIRE(bench.join(1, broadcast, states) == ok);
        const auto& told = bench.subnet.routes[0xc000];
        REQUIRE(told.to.size() + told.from_only.size() == 1);
        return static_cast<int>(told.to.size());
    };
}

/// A subscription to trap 66 of all groups, or its end.
Bytes<InformInfo> wish(bool is_wanted) {
    return Bytes<InformInfo>{}
        .set(InformInfo::lid_range_begin, InformInfo::all)
        .set(InformInfo::is_generic, 1)
        .set(InformInfo::subscribe, is_wanted ? 1 : 0)
        .set(InformInfo::type, InformInfo::all)
        .set(InformInfo::trap_number, trap::multicast_group_created)
        .set(InformInfo::qpn, 1)
        .set(InformInfo::producer_type, InformInfo::all_producers);
}

/// How many reports name the group that port 2 creates, once port 1 has subscribed.
int reports_of_creation(Bench& bench, const Gid& mgid) {
    REQUIRE(bench.ask(1, Method::set, attribute::inform_info, 0, wish(true)) == ok);
    bench.send(2, Bench::request(Method::set, attribute::mc_member_record, whole, Bench::record(2, mgid, 1).octets));
    int reports = 0;
    for (const auto& mail : bench.mail()) {
        const auto details =
            mail.header()[Mad::method] == Method::report ? gid_details(mail.record<Notice>()) : View<GidDetails>{};
        reports += details && details[GidDetails::gid] == mgid;
    }
    return reports;
}

}  // namespace

TEST_CASE("Each check of a join can be left out alone") {
    check(
        "MTU of the port", {.checks_mtu = false},
        [](Bench& b) {
            b.subnet.known[3].rate = 3;
            return b.join(4, broadcast, 1, C::join);
        },
        invalid, ok);
    check("MTU asked for", {.checks_mtu = false},
          joins_with(C::mtu | C::mtu_selector, [](auto& r) { r.set(M::mtu, 3); }), invalid, ok);
    check(
        "rate", {.checks_rate = false},
        [](Bench& b) {
            b.subnet.known[3].mtu = 4;
            return b.join(4, broadcast, 1, C::join);
        },
        invalid, ok);
    check(
        "P_Key of the port", {.checks_p_key = false}, [](Bench& b) { return b.join(3, broadcast, 1, C::join); },
        invalid, ok);
    check("P_Key given", {.checks_p_key = false}, joins_with(C::p_key, [](auto& r) { r.set(M::p_key, 0x8002); }),
          invalid, ok);
    check("Q_Key", {.checks_q_key = false}, joins_with(C::q_key, [](auto& r) { r.set(M::q_key, 1); }), invalid, ok);
    check("SL", {.checks_sl = false}, joins_with(C::sl, [](auto& r) { r.set(M::sl, 1); }), invalid, ok);
    check("TClass", {.checks_flow = false}, joins_with(C::traffic_class, [](auto& r) { r.set(M::traffic_class, 1); }),
          invalid, ok);
    check("FlowLabel", {.checks_flow = false}, joins_with(C::flow_label, [](auto& r) { r.set(M::flow_label, 1); }),
          invalid, ok);
    check("HopLimit", {.checks_flow = false}, joins_with(C::hop_limit, [](auto& r) { r.set(M::hop_limit, 1); }),
          invalid, ok);
}

TEST_CASE("A join without a join state and a leave of what is not held can be granted") {
    check("JoinState 0", {.demands_join_state = false}, joins_with(0, [](auto& r) { r.set(M::join_state, 0); }),
          invalid, ok);
    check(
        "leave of another state", {.checks_leave = false},
        [](Bench& b) {
            REQUIRE(b.join(1, broadcast) == ok);
            return b.leave(1, broadcast, 2);
        },
        invalid, ok);
}

TEST_CASE("What creates a group can be wrong") {
    check(
        "MGID", {.checks_mgid = false}, [](Bench& b) { return b.join(1, Gid::of(0xff72123400000000, 1)); }, invalid,
        ok);
    check(
        "components", {.demands_components = false},
        [](Bench& b) { return b.join(1, group_mgid, 1, C::join | C::p_key); }, insufficient, ok);
    for (const auto states : {join_state::non_member, join_state::send_only_non_member})
        check(
            "SendOnlyNonMember or NonMember", {.creates_for_send_only = true},
            [=](Bench& b) { return b.join(1, group_mgid, states); }, invalid, ok);
    check(
        "SendOnlyFullMember not offered", {.offers_send_only_full_member = false},
        [](Bench& b) { return b.join(1, group_mgid, 8); }, ok, invalid);
    check(
        "SendOnlyFullMember not seen", {.offers_send_only_full_member = false},
        [](Bench& b) {
            REQUIRE(b.join(1, group_mgid, 9) == ok);
            return int{b.states(1, group_mgid)};
        },
        9, 1);
    check(
        "SendOnlyFullMember in ClassPortInfo", {.offers_send_only_full_member = false},
        [](Bench& b) {
            REQUIRE(b.ask(1, Method::get, attribute::class_port_info, 0, Bytes<ClassPortInfo>{}) == ok);
            const auto options = b.answer<ClassPortInfo>()[ClassPortInfo::capability_mask2];
            return int{(options & ClassPortInfo::send_only_full_member) != 0};
        },
        1, 0);
}

TEST_CASE("A group that a sender created ends with its last member") {
    Bench bench(SaBehaviour{.creates_for_send_only = true});
    bench.add(1);
    REQUIRE(bench.join(1, group_mgid, 4) == ok);
    CHECK(bench.exists(group_mgid));
    REQUIRE(bench.leave(1, group_mgid, 4) == ok);
    CHECK_FALSE(bench.exists(group_mgid));
}

TEST_CASE("What keeps a group alive can be wrong") {
    check("SendOnlyNonMember counts", {.counts_send_only_member = true}, outlives(4), 0, 1);
    check("SendOnlyNonMember only", {.counts_send_only_member = true}, outlives(2), 0, 0);
    check("NonMember counts", {.counts_non_member = true}, outlives(2), 0, 1);
    check("never deleted", {.deletes_at_last_full_member = false}, outlives(2), 0, 1);
    check(
        "states replaced", {.merges_join_states = false},
        [](Bench& b) {
            REQUIRE(b.join(1, broadcast, 1) == ok);
            REQUIRE(b.join(1, broadcast, 4) == ok);
            return int{b.states(1, broadcast)};
        },
        5, 4);
    check(
        "everything left", {.leaves_part_by_part = false},
        [](Bench& b) {
            REQUIRE(b.join(1, broadcast, 5) == ok);
            REQUIRE(b.leave(1, broadcast, 4) == ok);
            return int{b.states(1, broadcast)};
        },
        1, 0);
    check(
        "the administrator's group deleted", {.keeps_administrative = false},
        [](Bench& b) {
            REQUIRE(b.join(1, broadcast) == ok);
            REQUIRE(b.leave(1, broadcast) == ok);
            return int{b.exists(broadcast)};
        },
        1, 0);
}

TEST_CASE("What an administrator does without room for another group can be wrong") {
    const auto third = mgid_for_ipv4(0xe0003333, 0xffff, 2);
    const auto joins_third = [&](SaBehaviour behaviour, bool leaves_first) {
        Bench bench(SaConfig{.most_groups = 2, .behaviour = behaviour});
        bench.add(1);
        REQUIRE(bench.join(1, group_mgid) == ok);
        if (leaves_first) {
            REQUIRE(bench.leave(1, group_mgid) == ok);
        }
        const auto status = bench.join(1, third);
        CHECK(bench.exists(group_mgid) == (!leaves_first && status != ok));
        return status;
    };
    CHECK(joins_third({}, false) == sa_status::no_resources);
    CHECK(joins_third({.makes_room = true}, false) == ok);
    CHECK(joins_third({}, true) == ok);
    CHECK(joins_third({.frees_mlids = false}, true) == sa_status::no_resources);
}

TEST_CASE("Routes can be wrong") {
    check("to a sender", {.routes_to_send_only = true}, routes(4), 0, 1);
    check("to a full sender", {.routes_to_send_only = true}, routes(8), 0, 1);
    check("not to a member", {.routes_to_members = false}, routes(1), 1, 0);
    check("not to a NonMember", {.routes_to_members = false}, routes(2), 1, 0);
    check("to FullMembers only", {.routes_to_non_members = false}, routes(2), 1, 0);
    check("to FullMembers still", {.routes_to_non_members = false}, routes(1), 1, 1);
}

TEST_CASE("Who may act for whom and who is pruned can be wrong") {
    check(
        "join of a foreign port", {.checks_proxy = false},
        [](Bench& b) {
            b.subnet.known[2].p_keys = {0x7fff};
            b.subnet.known[0].p_keys = {0x7fff};
            return b.set(3, Bench::record(1, broadcast, 1), C::join);
        },
        invalid, ok);
    check(
        "leave of another port", {.checks_proxy = false},
        [](Bench& b) {
            REQUIRE(b.join(1, group_mgid) == ok);
            return b.ask(2, Method::del, attribute::mc_member_record, C::join, Bench::record(1, group_mgid, 1));
        },
        invalid, ok);
    check(
        "pruning", {.prunes = false},
        [](Bench& b) {
            REQUIRE(b.join(1, broadcast) == ok);
            b.sa->port_vanished(Bench::gid(1));
            return int{b.states(1, broadcast)};
        },
        0, 1);
}

TEST_CASE("What is told can be wrong") {
    check(
        "MTU of the answer", {.answers_with_group_mtu = false},
        [](Bench& b) {
            b.subnet.known[0].mtu = 5;
            REQUIRE(b.join(1, broadcast, 1, C::join) == ok);
            return int{b.answer<M>()[M::mtu]};
        },
        4, 5);
    check(
        "reports", {.reports = false}, [](Bench& b) { return reports_of_creation(b, group_mgid); }, 1, 0);
    check(
        "the group reported", {.reports_right_group = false},
        [](Bench& b) { return reports_of_creation(b, group_mgid); }, 1, 0);
    check(
        "subscriptions without end", {.ends_subscriptions = false},
        [](Bench& b) {
            REQUIRE(b.ask(1, Method::set, attribute::inform_info, 0, wish(true)) == ok);
            REQUIRE(b.ask(1, Method::set, attribute::inform_info, 0, wish(false)) == ok);
            return static_cast<int>(b.sa->subscriptions());
        },
        0, 1);
    check(
        "tables", {.sends_whole_tables = false},
        [](Bench& b) {
            for (unsigned i = 1; i <= 5; ++i) REQUIRE(b.join(1, mgid_for_ipv4(0xe0000100 + i, 0xffff, 2)) == ok);
            return static_cast<int>(b.table<M>(1, attribute::mc_member_record).size());
        },
        6, 3);
    check(
        "limited members", {.parts_limited_members = false},
        [](Bench& b) {
            for (const auto port : {0u, 1u}) b.subnet.known[port].p_keys.push_back(0x0abc);
            const auto ends = Bytes<PathRecord>{}
                                  .set(PathRecord::sgid, Bench::gid(1))
                                  .set(PathRecord::dgid, Bench::gid(2))
                                  .set(PathRecord::p_key, 0x8abc);
            using component = PathRecord::component;
            return static_cast<int>(
                b.table(1, attribute::path_record, component::sgid | component::dgid | component::p_key, ends).size());
        },
        0, 1);
    check(
        "paths", {.knows_paths = false},
        [](Bench& b) {
            const auto ends =
                Bytes<PathRecord>{}.set(PathRecord::sgid, Bench::gid(1)).set(PathRecord::dgid, Bench::gid(2));
            return static_cast<int>(
                b.table(1, attribute::path_record, PathRecord::component::sgid | PathRecord::component::dgid, ends)
                    .size());
        },
        1, 0);
}

TEST_CASE("The broadcast group can be set up wrongly") {
    Bench bench(SaBehaviour{.changes_broadcast_group = [](McRecord& record) { record.set(M::sl, 7); }});
    REQUIRE(bench.exists(broadcast));
    CHECK(bench.sa->find(broadcast)->record[M::sl] == 7);
}

}  // namespace ipoib::fabric

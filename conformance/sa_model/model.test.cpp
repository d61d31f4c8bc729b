// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/sa_model/model.hpp"

#include "catch2.hpp"

#include <array>

namespace ipoib::conformance::sa_model {
namespace {
using namespace wire;
using M = McMemberRecord;
using C = M::component;

constexpr std::uint64_t whole = C::create | C::mtu | C::mtu_selector | C::rate | C::rate_selector | C::hop_limit;
const Gid broadcast = broadcast_gid(0xffff, 2), group = mgid_for_ipv4(0xe0001234, 0xffff, 2),
          other = Gid::of(0xff120b0b00000000, 7);

Gid port_gid(unsigned port) { return Gid::of(default_subnet_prefix, 0x100 + port); }

Record like(const Gid& mgid) {
    return Record{}
        .set(M::mgid, mgid)
        .set(M::q_key, 0x0b1b)
        .set(M::p_key, 0xffff)
        .set(M::mtu, 4)
        .set(M::rate, 3)
        .set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly)
        .set(M::scope, 2);
}

/// A subnet with two full members, a limited one, and a stranger of another partition.
struct Bench {
    explicit Bench(Facts facts = {.ports = {}, .administrative = {}})
        : model([&] {
              for (const auto p_key : std::array<std::uint16_t, 4>{0xffff, 0xffff, 0x7fff, 0x8001})
                  facts.ports.push_back(
                      {.gid = port_gid(static_cast<unsigned>(facts.ports.size())), .p_keys = {p_key}});
              facts.administrative = {like(broadcast)};
              return std::move(facts);
          }()) {}

    static Request request(bool is_leave, unsigned asker, unsigned of, const Gid& mgid, std::uint8_t states) {
        Request request{.is_leave = is_leave, .asker = asker, .record = like(mgid), .mask = is_leave ? C::join : whole};
        request.record.set(M::port_gid, port_gid(of)).set(M::join_state, states);
        return request;
    }
    static Request join(unsigned port, const Gid& mgid, std::uint8_t states = 1) {
        return request(false, port, port, mgid, states);
    }
    static Request leave(unsigned port, const Gid& mgid, std::uint8_t states = 1) {
        return request(true, port, port, mgid, states);
    }
    /// As an SA that is right: with the union, or what is left.
    std::vector<Deviation> granted(const Request& request, std::uint16_t mlid = 0xc005) {
        Answer answer{.is_answered = true, .status = 0, .record = request.record};
        const auto port = *model.port_of(request.record[M::port_gid]);
        const unsigned held = model.states(request.record[M::mgid], port), asked = request.record[M::join_state];
        answer.record.set(M::mlid, mlid)
            .set(M::join_state, static_cast<std::uint8_t>(request.is_leave ? held & ~asked : held | asked));
        return model.take(request, answer);
    }
    std::vector<Deviation> refused(const Request& request, std::uint16_t status = sa_status::invalid_request) {
        return model.take(request, {.is_answered = true, .status = status, .record = {}});
    }
    std::vector<Due> take_due() {
        auto due = model.due();
        (void)model.take_reports({});
        return due;
    }
    [[nodiscard]] Verdict verdict(const Request& request) const { return model.expected(request).verdict; }

    Model model;
};

TEST_CASE("A FullMember creates a group, a sender does not") {
    Bench bench;
    CHECK(bench.verdict(Bench::join(0, group)) == Verdict::grant);
    CHECK(bench.verdict(Bench::join(0, group, join_state::send_only_full_member)) == Verdict::grant);
    for (const auto states : std::array<std::uint8_t, 4>{0, 2, 4, 6})
        CHECK(bench.verdict(Bench::join(0, group, states)) == Verdict::refuse);
    auto without_q_key = Bench::join(0, group);
    without_q_key.mask &= ~C::q_key;
    CHECK(bench.verdict(without_q_key) == Verdict::refuse);
    CHECK(bench.verdict(Bench::join(3, group)) == Verdict::refuse);
    CHECK(bench.verdict(Bench::join(2, group)) == Verdict::either);
    CHECK(bench.refused(Bench::join(0, group)).size() == 1);
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.model.find(group)->record[M::mlid] == 0xc005);
}

TEST_CASE("Join states add up, and are left one by one") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group, 9)).empty());
    CHECK(bench.granted(Bench::join(0, group, 4)).empty());
    CHECK(bench.model.states(group, 0) == 13);
    CHECK(bench.verdict(Bench::leave(0, group, 2)) == Verdict::refuse);
    CHECK(bench.verdict(Bench::leave(0, group, 3)) == Verdict::refuse);
    CHECK(bench.granted(Bench::leave(0, group, 1)).empty());
    CHECK(bench.model.find(group));
    CHECK(bench.granted(Bench::leave(0, group, 8)).empty());
    CHECK_FALSE(bench.model.find(group));
}

TEST_CASE("An answer must tell the union, the group's parameters and its MLID") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    auto request = Bench::join(0, group, 2);
    Answer answer{.is_answered = true, .status = 0, .record = request.record};
    answer.record.set(M::mlid, 0xc006).set(M::q_key, 1);
    const auto deviations = bench.model.take(request, answer);
    REQUIRE(deviations.size() == 3);
    CHECK(deviations[0].kind == "parameters");
    CHECK(deviations[1].kind == "mlid");
    CHECK(deviations[2].kind == "states");
    CHECK(bench.model.take(request, {}).front().kind == "silence");
}

TEST_CASE("What a join gives must be the group's") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    const auto with = [](const auto& field, auto value) {
        auto request = Bench::join(1, group);
        request.record.set(field, value);
        return request;
    };
    CHECK(bench.verdict(Bench::join(1, group, 4)) == Verdict::grant);
    CHECK(bench.verdict(with(M::q_key, 1u)) == Verdict::refuse);
    CHECK(bench.verdict(with(M::p_key, std::uint16_t{0x8001})) == Verdict::refuse);
    CHECK(bench.verdict(with(M::sl, std::uint8_t{1})) == Verdict::refuse);
    CHECK(bench.verdict(with(M::hop_limit, std::uint8_t{1})) == Verdict::refuse);
    CHECK(bench.verdict(with(M::rate, std::uint8_t{2})) == Verdict::refuse);
    CHECK(bench.verdict(with(M::mtu, std::uint8_t{5})) == Verdict::refuse);
    CHECK(bench.verdict(with(M::rate_selector, selector::greater)) == Verdict::either);
    auto of_configuration = Bench::join(1, broadcast);
    of_configuration.mask |= C::mlid;
    CHECK(bench.verdict(of_configuration) == Verdict::either);
    auto bare = with(M::q_key, 1u);
    bare.mask = C::join;
    CHECK(bench.verdict(bare) == Verdict::grant);
    bare.mask &= ~C::port_gid;
    CHECK(bench.verdict(bare) == Verdict::refuse);
}

TEST_CASE("A membership is its port's own, unless another has joined for it") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.verdict(Bench::request(true, 1, 0, group, 1)) == Verdict::refuse);
    CHECK(bench.verdict(Bench::request(false, 1, 1, group, 1)) == Verdict::grant);
    const auto proxy = Bench::request(false, 0, 1, group, 1);
    CHECK(bench.verdict(proxy) == Verdict::either);
    CHECK(bench.granted(proxy).empty());
    CHECK(bench.verdict(Bench::request(true, 0, 1, group, 1)) == Verdict::grant);
    CHECK(bench.verdict(Bench::request(true, 3, 1, group, 1)) == Verdict::refuse);
    Seen seen{.exists = true, .states = 1, .is_proxy = false, .record = bench.model.find(group)->record};
    CHECK(bench.model.compare(group, 1, seen).front().rule.starts_with("ProxyJoin"));
    CHECK(bench.granted(Bench::join(1, group)).empty());
    CHECK(bench.model.compare(group, 1, seen).empty());
    CHECK(bench.verdict(Bench::request(true, 0, 1, group, 1)) == Verdict::either);
}

TEST_CASE("A group ends with its last FullMember, and with it the other memberships") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.granted(Bench::join(1, group, 6)).empty());
    CHECK(bench.granted(Bench::leave(0, group)).empty());
    CHECK_FALSE(bench.model.find(group));
    CHECK(bench.model.states(group, 1) == 0);
    CHECK(bench.model.compare(group, 1, {.exists = true, .states = 4, .record = {}}).size() == 2);
}

TEST_CASE("A group of the configuration stays; what of its other members is not said") {
    Bench bench;
    CHECK(bench.model.take_subscription(0, 67, true, {.is_answered = true, .status = 0, .record = {}}).empty());
    CHECK(bench.granted(Bench::join(0, broadcast)).empty());
    CHECK(bench.granted(Bench::join(1, broadcast, 4)).empty());
    CHECK(bench.granted(Bench::leave(0, broadcast)).empty());
    REQUIRE(bench.model.find(broadcast));
    CHECK(bench.model.find(broadcast)->is_open);
    CHECK(bench.model.compare(broadcast, 1, {.exists = true, .record = {}}).empty());
    bench.model.adopt(broadcast, {{0, {.exists = true, .record = {}}}, {1, {.exists = true, .record = {}}}}, false);
    // Whoever looks first and listens then hears of its end.
    CHECK(bench.model.due().size() == 1);
    CHECK(bench.model.states(broadcast, 1) == 0);
    CHECK(bench.verdict(Bench::leave(1, broadcast, 4)) == Verdict::refuse);
}

TEST_CASE("Who is gone is no member and no subscriber, and a restart forgets all") {
    Bench bench;
    CHECK(bench.model.take_subscription(1, trap::all, true, {.is_answered = true, .status = 0, .record = {}}).empty());
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.take_due().size() == 1);
    bench.model.vanish(0);
    const auto due = bench.take_due();
    REQUIRE(due.size() == 1);
    CHECK(due[0].trap == trap::multicast_group_deleted);
    CHECK(due[0].least == 1);
    CHECK(bench.verdict(Bench::request(false, 1, 0, group, 1)) == Verdict::refuse);
    bench.model.come_back(0);
    CHECK(bench.granted(Bench::join(0, group)).empty());
    bench.model.restart();
    CHECK_FALSE(bench.model.find(group));
    CHECK(bench.model.find(broadcast));
    CHECK(bench.take_due().empty());
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.take_due().empty());
}

TEST_CASE("Reports go to subscribers of the partition, once for each subscription at most") {
    Bench bench;
    const Answer granted{.is_answered = true, .status = 0, .record = {}};
    for (const unsigned port : {0u, 2u, 3u}) CHECK(bench.model.take_subscription(port, 66, true, granted).empty());
    CHECK(bench.model.take_subscription(0, trap::all, true, granted).empty());
    CHECK(bench.model.take_subscription(0, 67, false, granted).size() == 1);
    CHECK(bench.granted(Bench::join(1, other)).empty());
    const auto due = bench.take_due();
    REQUIRE(due.size() == 2);
    CHECK((due[0].port == 0 && due[0].least == 1 && due[0].most == 2));
    CHECK((due[1].port == 2 && due[1].least == 0 && due[1].most == 1));
}

TEST_CASE("RFC 4391 binds groups of IP, RFC 4392 its three join states") {
    const auto requirement_of = [](const Gid& mgid) {
        Bench bench;
        CHECK(bench.granted(Bench::join(0, mgid)).empty());
        auto request = Bench::join(1, mgid);
        request.record.set(M::mtu, 5);
        return bench.model.expected(request).requirement;
    };
    CHECK(requirement_of(group) != nullptr);
    CHECK(requirement_of(other) == nullptr);
    const auto forgets = [](std::uint8_t states) {
        Bench bench;
        CHECK(bench.granted(Bench::join(0, group, 1)).empty());
        CHECK(bench.granted(Bench::join(1, group, states)).empty());
        const auto found = bench.model.compare(group, 1, {.exists = true, .record = like(group)});
        REQUIRE(found.size() == 1);
        return found[0].requirement;
    };
    CHECK(forgets(2) != nullptr);
    CHECK(forgets(8) == nullptr);
}

TEST_CASE("A new group is as its creator asked for, and the answer is about it") {
    Bench bench;
    auto request = Bench::join(0, group);
    Answer answer{.is_answered = true, .status = 0, .record = request.record};
    answer.record.set(M::mlid, 0xc005).set(M::mtu, 1);
    CHECK(bench.model.take(request, answer).size() == 1);
    request = Bench::join(0, other);
    answer.record = like(group);
    answer.record.set(M::mlid, 0xc006).set(M::join_state, 1).set(M::port_gid, port_gid(0));
    CHECK(bench.model.take(request, answer).size() == 1);
}

TEST_CASE("There is room for as many groups as there were before") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    CHECK(bench.granted(Bench::join(0, other), 0xc006).empty());
    CHECK(bench.model.peak() == 2);
    CHECK(bench.model.mlids().size() == 2);
    CHECK(bench.granted(Bench::leave(0, other)).empty());
    CHECK(bench.refused(Bench::join(0, other), sa_status::no_resources).front().kind == "room");
    Bench small{{.ports = {}, .administrative = {}, .room = 1}};
    CHECK(small.verdict(Bench::join(0, group)) == Verdict::refuse);
}

TEST_CASE("An MGID that the SA chooses is one that no group has") {
    Bench bench;
    const auto request = Bench::join(0, {});
    CHECK(bench.verdict(request) == Verdict::grant);
    const auto own = Gid::of(0xff12a01bfe800000, 1);
    Answer answer{.is_answered = true, .status = 0, .record = request.record};
    answer.record.set(M::mgid, own).set(M::mlid, 0xc005);
    CHECK(bench.model.take(request, answer).empty());
    CHECK(bench.model.states(own, 0) == 1);
    CHECK(bench.model.take(request, answer).front().kind == "group");
    CHECK(bench.verdict(Bench::join(1, own)) == Verdict::grant);
    CHECK(bench.verdict(Bench::join(1, Gid::of(0xff12a01bfe800000, 2))) == Verdict::refuse);
    CHECK(bench.verdict(Bench::join(0, port_gid(1))) == Verdict::refuse);
}

TEST_CASE("Groups may share an MLID, of whatever partitions they are") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group)).empty());
    auto request = Bench::join(3, other);
    request.record.set(M::p_key, 0x8001);
    CHECK(bench.granted(request).empty());
    CHECK(bench.granted(Bench::join(0, mgid_for_ipv4(1, 0xffff, 2)), 0x1234).front().kind == "mlid");
}

TEST_CASE("Of a leave that gives more than it must it is not said whether the rest is looked at") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group, 9)).empty());
    auto request = Bench::leave(0, group);
    request.mask |= C::p_key;
    CHECK(bench.verdict(request) == Verdict::either);
    CHECK(bench.granted(request).empty());
    CHECK(bench.model.states(group, 0) == 8);
    request.mask = C::mgid | C::port_gid;
    CHECK(bench.verdict(request) == Verdict::refuse);
}

TEST_CASE("A request that comes twice is answered as before, or as another one") {
    Bench bench;
    CHECK(bench.granted(Bench::join(0, group, 3)).empty());
    const auto request = Bench::leave(0, group, 2);
    const auto answer = [&](std::uint8_t left) {
        Answer granted{.is_answered = true, .status = 0, .record = request.record};
        granted.record.set(M::join_state, left);
        return granted;
    };
    CHECK(bench.model.take(request, answer(1)).empty());
    CHECK(bench.model.take_again(request, answer(1), answer(1)).empty());
    CHECK(bench.model.states(group, 0) == 1);
    CHECK(bench.model.take_again(request, answer(1), {.is_answered = true, .status = 0x0200, .record = {}}).empty());
    CHECK(bench.model.take_again(request, answer(1), answer(0)).front().kind == "answer");
    CHECK(bench.model.take_again(request, answer(1), {}).front().kind == "silence");
}

TEST_CASE("Memberships are of a port with another LID, subscriptions may be") {
    Bench bench;
    const Answer granted{.is_answered = true, .status = 0, .record = {}},
        refused{.is_answered = true, .status = 0x0200, .record = {}};
    CHECK(bench.model.take_subscription(0, 66, true, granted).empty());
    bench.model.move(0);
    CHECK(bench.granted(Bench::join(1, group)).empty());
    REQUIRE(bench.model.due().size() == 1);
    CHECK(bench.model.due()[0].least == 0);
    CHECK(bench.model.take_reports({{0, 66, group}}).empty());
    CHECK(bench.model.take_subscription(0, 66, true, granted).empty());
    CHECK(bench.granted(Bench::join(1, other)).empty());
    CHECK(bench.model.due()[0].least == 1);
    CHECK(bench.model.take_reports({{0, 66, other}, {0, 66, other}}).empty());
    CHECK(bench.model.take_subscription(0, 66, false, granted).empty());
    CHECK(bench.model.take_subscription(0, 66, false, refused).empty());
    // It may hold the last place still.
    Bench small{{.ports = {}, .administrative = {}, .subscriptions = 1}};
    CHECK(small.model.take_subscription(0, 66, true, granted).empty());
    small.model.move(0);
    CHECK(small.model.take_subscription(0, 66, false, refused).empty());
    CHECK(small.model
              .take_subscription(1, 66, true, {.is_answered = true, .status = sa_status::no_resources, .record = {}})
              .empty());
    bench.model.move(1);
    CHECK(bench.verdict(Bench::leave(1, group)) == Verdict::grant);
}

TEST_CASE("Of a selector without its value, or a value without its selector, nothing is said") {
    Bench bench;
    const auto halves =
        std::array{C::mtu, C::mtu_selector, C::rate, C::rate_selector, C::lifetime, C::lifetime_selector};
    for (const auto half : halves) {
        auto request = Bench::join(0, group);
        request.mask = C::create | half;
        CHECK(bench.verdict(request) == Verdict::either);
    }
    CHECK(bench.granted(Bench::join(1, group)).empty());
    for (const auto half : halves) {
        auto request = Bench::join(0, group);
        request.mask = C::join | half;
        CHECK(bench.verdict(request) == Verdict::either);
    }
}

TEST_CASE("A P_Key is told with the membership bit or without") {
    Bench bench;
    auto request = Bench::join(0, group);
    Answer answer{.is_answered = true, .status = 0, .record = request.record};
    answer.record.set(M::mlid, 0xc005).set(M::p_key, 0x7fff);
    CHECK(bench.model.take(request, answer).empty());
    Seen seen{.exists = true, .states = 1, .record = answer.record};
    CHECK(bench.model.compare(group, 0, seen).empty());
    seen.record.set(M::p_key, 0xffff);
    CHECK(bench.model.compare(group, 0, seen).empty());
    seen.record.set(M::p_key, 0x8001);
    CHECK(bench.model.compare(group, 0, seen).front().kind == "parameters");
}

TEST_CASE("That a group outlives its FullMembers violates no requirement: RFC 4392 lets it be deleted") {
    Bench bench;
    const auto all = bench.model.compare(group, 0, {.exists = true, .record = like(group)});
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == "group");
    CHECK(all[0].requirement == nullptr);
}

TEST_CASE("In real time a report that need not come may come late, and once") {
    const Answer granted{.is_answered = true, .status = 0, .record = {}};
    for (const bool is_real : {false, true}) {
        Bench bench{{.ports = {}, .administrative = {}, .reports_come_late = is_real}};
        CHECK(bench.model.take_subscription(0, 66, true, granted).empty());
        bench.model.move(0);
        CHECK(bench.granted(Bench::join(1, group)).empty());
        CHECK(bench.model.take_reports({}).empty());
        CHECK(bench.model.take_reports({{0, 66, other}}).size() == 1);
        CHECK(bench.model.take_reports({{0, 66, group}}).empty() == is_real);
        CHECK(bench.model.take_reports({{0, 66, group}}).size() == 1);
    }
}

TEST_CASE("An SA of release 1.2 refuses SendOnlyFullMember, or does not see it") {
    Bench bench{{.ports = {}, .administrative = {}, .offers_send_only_full_member = false}};
    CHECK(bench.verdict(Bench::join(0, group, 8)) == Verdict::refuse);
    CHECK(bench.verdict(Bench::join(0, group, 9)) == Verdict::either);
    auto request = Bench::join(0, group, 9);
    Answer answer{.is_answered = true, .status = 0, .record = request.record};
    answer.record.set(M::mlid, 0xc005).set(M::join_state, 1);
    CHECK(bench.model.take(request, answer).empty());
    CHECK(bench.model.states(group, 0) == 1);
}

}  // namespace
}  // namespace ipoib::conformance::sa_model

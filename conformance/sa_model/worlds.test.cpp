// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/sa_model/worlds.hpp"

#include "catch2.hpp"

namespace ipoib::conformance::sa_model {
namespace {
using namespace wire;
using M = McMemberRecord;

const Gid kept_group = mgid_for_ipv4(0xe0001234, 0xffff, 2);
const Gid member_gid = Gid::of(default_subnet_prefix, 0x100);
const Answer ok{.is_answered = true, .status = 0, .record = {}};

Record kept_record() {
    return Record{}
        .set(M::mgid, kept_group)
        .set(M::mlid, 0xc005)
        .set(M::p_key, 0xffff)
        .set(M::mtu, 4)
        .set(M::rate, 3)
        .set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly)
        .set(M::port_gid, member_gid)
        .set(M::join_state, 1);
}

Request request_of(bool is_leave) {
    return {.is_leave = is_leave,
            .asker = 0,
            .record = kept_record(),
            .mask = M::component::join | (is_leave ? 0 : M::component::create)};
}

Worlds with_a_group() {
    Worlds worlds{Facts{.ports = {{.gid = member_gid, .p_keys = {0xffff}}}, .administrative = {}}};
    CHECK(worlds.take(request_of(false), {.is_answered = true, .status = 0, .record = kept_record()}).empty());
    CHECK(worlds.take_subscription(0, trap::all, true, ok).empty());
    CHECK(worlds.count() == 1);
    return worlds;
}

Seen told(bool exists) {
    return {.exists = exists, .states = static_cast<std::uint8_t>(exists ? 1 : 0), .record = kept_record()};
}

TEST_CASE("After a restart an SA has all that it had, or nothing") {
    for (const bool is_kept : {true, false}) {
        auto worlds = with_a_group();
        worlds.restart();
        CHECK(worlds.count() == 2);
        CHECK(worlds.most().find(kept_group));
        CHECK(worlds.look(kept_group, {told(is_kept)}).empty());
        CHECK(worlds.count() == 1);
        CHECK((worlds.most().find(kept_group) != nullptr) == is_kept);
        CHECK(worlds.take_subscription(0, trap::all, false, ok).empty() == is_kept);
    }
}

TEST_CASE("After another LID a port has what it had, or has it no more, or nobody has anything") {
    auto worlds = with_a_group();
    worlds.move_somehow(0);
    CHECK(worlds.count() == 3);
    auto gone = worlds;
    CHECK(worlds.look(kept_group, {told(true)}).empty());
    CHECK(worlds.count() == 1);
    CHECK(worlds.most().find(kept_group));
    CHECK(gone.look(kept_group, {told(false)}).empty());
    CHECK(gone.count() == 2);
    // Whose group is to be seen in another port's.
    auto of_two = with_a_group();
    auto others = request_of(false);
    others.record.set(M::mgid, mgid_for_ipv4(0xe0001235, 0xffff, 2));
    CHECK(of_two.take(others, {.is_answered = true, .status = 0, .record = others.record}).empty());
    of_two.move_somehow(0);
    CHECK(of_two.look(kept_group, {told(true)}).empty());
    CHECK_FALSE(of_two.look(others.record[M::mgid], {told(false)}).empty());
}

TEST_CASE("What it has shown by an answer holds for all the rest") {
    auto worlds = with_a_group();
    worlds.restart();
    worlds.restart();
    CHECK(worlds.count() == 3);
    CHECK(worlds.take(request_of(true), {.is_answered = true, .status = sa_status::invalid_request, .record = {}})
              .empty());
    CHECK(worlds.look(kept_group, {told(true)}).size() == 2);
    CHECK(worlds.count() == 1);
}

TEST_CASE("A report that one of them has due is waited for, and is no stray") {
    auto worlds = with_a_group();
    worlds.restart();
    CHECK(
        worlds.take(request_of(true), {.is_answered = true, .status = 0, .record = kept_record().set(M::join_state, 0)})
            .empty());
    CHECK(worlds.reports_due() == 1);
    CHECK(worlds.is_due(kept_group));
    CHECK(worlds.take_reports({{0, trap::multicast_group_deleted, kept_group}}).empty());
    CHECK(worlds.take_reports({{0, trap::multicast_group_deleted, kept_group}}).size() == 1);
}

}  // namespace
}  // namespace ipoib::conformance::sa_model

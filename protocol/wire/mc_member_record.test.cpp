// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of MCMemberRecord. IBTA Vol 1, 15.2.5.17.
#include "protocol/wire/mc_member_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("MCMemberRecord: golden octets read and write back") {
    using R = McMemberRecord;
    // By hand from IBTA Vol 1, 15.2.5.17, table "MCMemberRecord"; Wireshark 4.0 shows the same values.
    const auto golden =
        hex("ff12401b8123000000000000ffffffff fe800000000000000002c90300001491"
            "80000b1b c003 84 5a 8123 c3 92 3abcde07 21 800000");
    check_table<R>(golden, row(R::mgid, gid("ff12401b8123000000000000ffffffff")),
                   row(R::port_gid, gid("fe800000000000000002c90300001491")), row(R::q_key, 0x80000b1b),
                   row(R::mlid, 0xc003), row(R::mtu_selector, selector::exactly), row(R::mtu, 4),
                   row(R::traffic_class, 0x5a), row(R::p_key, 0x8123), row(R::rate_selector, selector::largest),
                   row(R::rate, 3), row(R::lifetime_selector, selector::exactly), row(R::lifetime, 0x12), row(R::sl, 3),
                   row(R::flow_label, 0xabcde), row(R::hop_limit, 7), row(R::scope, 2),
                   row(R::join_state, join_state::full_member), row(R::proxy_join, true), row(R::reserved, 0));
}

TEST_CASE("MCMemberRecord: the component mask has one bit a component, in the record's order") {
    using R = McMemberRecord;
    using c = R::component;
    const std::array bits{c::mgid,
                          c::port_gid,
                          c::q_key,
                          c::mlid,
                          c::mtu_selector,
                          c::mtu,
                          c::traffic_class,
                          c::p_key,
                          c::rate_selector,
                          c::rate,
                          c::lifetime_selector,
                          c::lifetime,
                          c::sl,
                          c::flow_label,
                          c::hop_limit,
                          c::scope,
                          c::join_state,
                          c::proxy_join};
    // Every row but Reserved has a bit, and both are in the same order.
    REQUIRE(bits.size() + 1 == R::fields.size());
    for (std::size_t i = 0; i < bits.size(); ++i) CHECK(bits[i] == std::uint64_t{1} << i);
    CHECK(c::join == 0x10003);
    // The mask with which OpenSM lets a group be created; MLID, MTU, Rate and their selectors are the SA's to choose.
    CHECK(c::create == 0x130c7);
}

TEST_CASE("MCMemberRecord: every JoinState has a name") {
    REQUIRE(join_state_names.size() == 16);
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(join_state_names[i].value == i);
        const auto has = [&](std::string_view name) {
            return (", " + std::string{join_state_names[i].name} + ",").find(" " + std::string{name} + ",") !=
                   std::string::npos;
        };
        CHECK(has("FullMember") == ((i & join_state::full_member) != 0));
        CHECK(has("NonMember") == ((i & join_state::non_member) != 0));
        CHECK(has("SendOnlyNonMember") == ((i & join_state::send_only_non_member) != 0));
        CHECK(has("SendOnlyFullMember") == ((i & join_state::send_only_full_member) != 0));
    }
}

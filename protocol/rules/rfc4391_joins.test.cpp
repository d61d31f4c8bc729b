// SPDX-License-Identifier: GPL-2.0-or-later
// Joins by RFC 4391, 4.1, 5 and 10: JoinState, and the parameters of a group that a join creates.
#include "protocol/rules/test_rules.hpp"

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

using Record = McMemberRecord;
using component = Record::component;
using JoinState = std::uint8_t;

const build::Link controlled = samples::controlled();
constexpr auto linux_creates = component::create | component::mtu_selector | component::mtu | component::rate_selector |
                               component::rate | component::hop_limit;
constexpr auto all_components = linux_creates | component::lifetime_selector | component::lifetime | component::scope;

/// A join of the MGID, with all parameters of the broadcast group.
Bytes<Record> record_of(const Gid& mgid, JoinState state) {
    return broadcast_record(a, controlled).set(Record::mgid, mgid).set(Record::join_state, state);
}
Gid mgid_of_group() { return mgid_for_ipv4(group, controlled.p_key, controlled.scope); }
PacketBuilder join(JoinState state, const Gid& mgid = mgid_of_group(), std::uint64_t mask = component::join) {
    return mc_member(a, samples::sa(), Method::set, 1, record_of(mgid, state), mask);
}
PacketBuilder creation(std::uint64_t mask = all_components) { return join(1, mgid_of_group(), mask); }

}  // namespace

std::vector<Wrong> rules::testing::wrong_joins() {
    const auto wrong = [](const char* what, const PacketBuilder& packet, Ids breaks) {
        return Wrong{what, packet, std::move(breaks), controlled};
    };
    return {
        wrong("broadcast group joined to send", join(4, controlled.broadcast_gid()), {"RFC4391-5-02"}),
        wrong("send-only join as SendOnlyFullMember", join(8), {"RFC4391-10-09"}),
        wrong("another MTU", lie(creation(), Record::mtu, 5), {"RFC4391-10-16"}),
        wrong("an MTU that is only a limit", lie(creation(), Record::mtu_selector, selector::greater),
              {"RFC4391-10-16"}),
        wrong("an MTU without selector", creation(all_components & ~component::mtu_selector), {"RFC4391-10-16"}),
        wrong("another P_Key", lie(creation(), Record::p_key, 0x8124), {"RFC4391-4-05-join", "RFC4391-10-17-p-key"}),
        wrong("another Q_Key", lie(creation(), Record::q_key, 0x0b1b), {"RFC4391-10-17-q-key"}),
        wrong("another SL", lie(creation(), Record::sl, 0), {"RFC4391-10-17-sl"}),
        wrong("another HopLimit", lie(creation(), Record::hop_limit, 255), {"RFC4391-10-17-hop-limit"}),
        wrong("another TClass", lie(creation(), Record::traffic_class, 0), {"RFC4391-10-18-tclass"}),
        wrong("another FlowLabel", lie(creation(), Record::flow_label, 0), {"RFC4391-10-18-flow-label"}),
        wrong("another Rate", lie(creation(), Record::rate, 7), {"RFC4391-10-18-rate"}),
        wrong("another PacketLifeTime", lie(creation(), Record::lifetime, 18), {"RFC4391-10-18-lifetime"}),
        wrong("another Scope", lie(creation(), Record::scope, 5), {"RFC4391-10-18-scope", "RFC4392-1.3.1-01"}),
    };
}

TEST_CASE("Joins: what a right stack asks the SA breaks nothing") {
    const auto broadcast = controlled.broadcast_gid();
    for (const auto& packet : {join(1, broadcast), join(1), join(4), creation(), creation(linux_creates),
                               join(1, broadcast, linux_creates), join(1, local_group6)})
        CHECK(violated(packet, controlled) == Ids{});
    for (const auto& packet : {creation(), creation(linux_creates)}) {
        const auto outcome = judge(packet.build(), controlled);
        for (const auto* id : {"16", "17-p-key", "17-q-key", "17-sl", "17-hop-limit", "18-tclass", "18-flow-label"})
            CHECK(outcome.observed.count("RULE-RFC4391-10-" + std::string(id)) == 1);
    }
}

TEST_CASE("Joins: leaving is no join") {
    for (const auto state : {JoinState{1}, JoinState{4}, JoinState{8}}) {
        const auto leave =
            mc_member(a, samples::sa(), Method::del, 1, record_of(controlled.broadcast_gid(), state), component::join);
        CHECK(violated(leave, controlled) == Ids{});
    }
}

TEST_CASE("False alarm: a multicast router joins every group as NonMember, the broadcast group among them") {
    for (const auto state : {JoinState{2}, JoinState{3}, JoinState{6}}) {
        CHECK(violated(join(state, controlled.broadcast_gid()), controlled) == Ids{});
        CHECK(violated(join(state), controlled) == Ids{});
        CHECK(judge(join(state).build(), controlled).observed.count("RULE-RFC4391-10-09") == 0);
    }
}

TEST_CASE("False alarm: a group that is not IPoIB's is joined as its own program likes") {
    const auto foreign = parse_gid("ff12:a01b:8123::ffff:ffff").value();
    CHECK(violated(join(8, foreign), controlled) == Ids{});
    CHECK(violated(lie(join(1, foreign, all_components), Record::q_key, 1), controlled) == Ids{});
}

TEST_CASE("False alarm: parameters that a join does not give are not judged") {
    auto packet = creation(linux_creates & ~component::hop_limit);
    packet.set(Record::hop_limit, 9).set(Record::scope, 0).set(Record::lifetime, 9);
    CHECK(violated(packet, controlled) == Ids{});
    auto plain_join = join(1);
    plain_join.set(Record::q_key, 0).set(Record::mtu, 0).set(Record::sl, 0);
    CHECK(violated(plain_join, controlled) == Ids{});
}

TEST_CASE("False alarm: one parameter alone is a condition of a join, not the making of a group") {
    CHECK(violated(join(1, mgid_of_group(), component::join | component::q_key), controlled) == Ids{});
}

TEST_CASE("False alarm: Rate and PacketLifeTime may be limits") {
    auto packet = creation();
    packet.set(Record::rate_selector, selector::less).set(Record::rate, 7);
    packet.set(Record::lifetime_selector, selector::less).set(Record::lifetime, 20);
    CHECK(violated(packet, controlled) == Ids{});
}

TEST_CASE("False alarm: the membership bit of a creator's P_Key is its port's") {
    CHECK(violated(lie(creation(), Record::p_key, 0x0123), controlled) == Ids{});
}

TEST_CASE("False alarm: the group of another link need not be like this one's broadcast group") {
    build::Link other;
    other.p_key = 0x8777;
    auto packet = creation();
    packet.set(Record::mgid, mgid_for_ipv4(group, other.p_key, other.scope)).set(Record::p_key, other.p_key);
    packet.set(Record::q_key, 0x0b1b).set(Record::sl, 0);
    CHECK(violated(packet, controlled) == Ids{});
}

TEST_CASE("Joins: the creator of the broadcast group has nothing to be like") {
    auto packet = join(1, controlled.broadcast_gid(), all_components);
    CHECK(violated(packet.set(Record::sl, 9).set(Record::mtu, 5), controlled) == Ids{});
}

TEST_CASE("Joins: values that are the defaults anyway are noted to prove little") {
    const build::Link usual;
    const auto record = broadcast_record(a, usual).set(Record::mgid, mgid_for_ipv4(group, usual.p_key, usual.scope));
    const auto frame = mc_member(a, samples::sa(), Method::set, 1, record, all_components).build();
    for (const auto* id : {"RULE-RFC4391-10-16", "RULE-RFC4391-10-17-q-key", "RULE-RFC4391-10-17-sl"})
        CHECK(judge(frame, usual).noted.count(id) == 1);
    CHECK(judge(creation().build(), controlled).noted.count("RULE-RFC4391-10-17-q-key") == 0);
}

TEST_CASE("Joins: another scope than local-subnet is a note") {
    build::Link wide = controlled;
    wide.scope = 5;
    const auto noted = [](const PacketBuilder& packet, const build::Link& of) {
        const auto outcome = judge(packet.build(), of);
        CHECK(outcome.violated == Ids{});
        CHECK(outcome.observed.count("RULE-RFC4391-4.1-07") == 1);
        return outcome.noted.count("RULE-RFC4391-4.1-07") == 1;
    };
    CHECK_FALSE(noted(join(1, controlled.broadcast_gid()), controlled));
    CHECK(noted(join(1, wide.broadcast_gid()), wide));
    CHECK_FALSE(noted(samples::broadcast_join_answer(a, controlled), controlled));
    CHECK(noted(samples::broadcast_join_answer(a, wide), wide));
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/siege/on_fabric.hpp"

#include "catch2.hpp"
#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/paper.hpp"
#include "conformance/siege/siege.hpp"
#include "conformance/siege/test_lapses.hpp"
#include "fabric/simulated/fabric.hpp"

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

TEST_CASE("On a fabric of others everything is played that can be") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    const auto exhausted = exhaust({.each = 199}, subject);
    INFO(text(exhausted));
    CHECK_FALSE(exhausted.arena.has_broadcast);
    // Without the 15 states in which members hold nothing.
    CHECK(exhausted.all == (std::uint64_t{256 - 15} * 60 + 198) / 199);
    CHECK(exhausted.sieged.histories == exhausted.all);
    CHECK(exhausted.sieged.unplayable == 0);
    CHECK(exhausted.sieged.found.empty());

    const Arena of_one_port{.ports = 2, .by_proxy = true, .has_broadcast = false};
    for (std::uint64_t i = 0; i < exhaustive_histories(of_one_port, 0); ++i)
        for (const auto& step : exhaustive_history(of_one_port, i, 0).steps) {
            CHECK(step.port == 0);
            CHECK(step.group == group_number::ip);
        }
    CHECK(exhaustive_histories({.ports = 1}, 0) == std::uint64_t{16} * 30);
}

TEST_CASE("A group has the same name everywhere, and is left out where there is none") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    const auto ground = subject.begin(true);
    CHECK(wire::has_ipoib_signature(ground.groups.at(group_number::ip)[wire::McMemberRecord::mgid]));
    CHECK_FALSE(ground.groups.contains(group_number::broadcast));
    const auto outcome =
        play({{{.group = group_number::broadcast, .states = 1}, {.group = group_number::ip, .states = 1}}}, subject);
    CHECK(outcome.skipped == std::vector<std::size_t>{0});
    CHECK(PaperSubject{}.begin(true).groups.size() == group_names.size());
}

TEST_CASE("The administrator of a fabric is asked by the tester's ports, and for others") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    CHECK(subject.abilities().askers == 2);
    CHECK(subject.abilities().restarts);
    const auto sieged = lay_siege({.histories = 100}, subject);
    INFO(text(sieged));
    CHECK(sieged.found.empty());
    CHECK(sieged.tells_leaks);
}

TEST_CASE("There, too, requests come twice and ports get other LIDs") {
    using L = fabric::SaLapse;
    auto leaves_twice = Step{.what = Do::leave, .states = 1};
    leaves_twice.is_twice = true;
    struct Row {
        L lapse;
        History history;
    };
    const std::vector<Row> rows{{L::doubled_leave_takes_more, {{{.states = 11}, leaves_twice}}},
                                {L::vanished_port_keeps_mlid, {{{.states = 1}, {.what = Do::port_moves}}}}};
    for (const auto& [lapse, history] : rows)
        for (const bool is_wrong : {false, true}) {
            fabric::SimulatedFabric fabric{{.sa = is_wrong ? with(lapse) : fabric::SaBehaviour{}}};
            FabricSubject subject{fabric, {}};
            const auto before = fabric.ports()[0]->facts().lid;
            const auto outcome = play(history, subject);
            INFO(text(history, outcome.violations));
            CHECK(outcome.skipped.empty());
            CHECK_FALSE(outcome.is_disturbed);
            CHECK(outcome.violations.empty() == !is_wrong);
            CHECK((fabric.ports()[0]->facts().lid != before) == (lapse == L::vanished_port_keeps_mlid));
        }
}

TEST_CASE("A fabric that gives no other LIDs is asked for one once") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    CHECK(subject.move_port(0).empty());
    CHECK(subject.abilities().ports_move);
    fabric::SimulatedFabric away{{}};
    FabricSubject other{away, {}};
    REQUIRE(away.change(fabric::SetManager{.runs = false}).is_done());
    CHECK_FALSE(other.move_port(0).empty());
    CHECK_FALSE(other.abilities().ports_move);
    CHECK(other.left_out().size() > subject.left_out().size());
}

TEST_CASE("Of one that falls silent nothing is told, and one that stays so ends it") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    const auto ground = subject.begin(true);
    const auto mgid = ground.groups.at(group_number::ip)[wire::McMemberRecord::mgid];
    CHECK_FALSE(subject.look(mgid).empty());
    REQUIRE(fabric.change(fabric::SetSa{.is_silent = true}).is_done());
    CHECK(subject.look(mgid).empty());
    CHECK(subject.problem().empty());
    CHECK_FALSE(subject.restart().empty());
    CHECK_FALSE(subject.problem().empty());
    CHECK_FALSE(subject.left_out().empty());
    CHECK(subject.begin(true).groups.size() == ground.groups.size());
}

TEST_CASE("What a fabric cannot do is told") {
    fabric::SimulatedFabric fabric{{.tester_ports = 1}};
    FabricSubject subject{fabric, {}};
    const auto said = text(lay_siege({.histories = 1, .confirms = false}, subject));
    CHECK(said.find("left out here: its broadcast groups") != std::string::npos);
    CHECK(said.find("requests of a second port") != std::string::npos);
    CHECK(said.find("--fabric-control") == std::string::npos);
    PaperSubject paper;
    CHECK(text(lay_siege({.histories = 1}, paper)).find("left out") == std::string::npos);
}

TEST_CASE("Where answers are lost an administrator that is right is not found fault with") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    for (auto* port : fabric.ports())
        REQUIRE(fabric
                    .change(fabric::SetFaults{.port = {.guid = port->facts().gid.interface_id()},
                                              .faults = {.loss = 0.05, .spares_management = false}})
                    .is_done());
    const auto sieged = lay_siege({.histories = 60}, subject);
    INFO(text(sieged));
    CHECK(sieged.found.empty());
    CHECK(sieged.disturbed > 5);
}

TEST_CASE("On every subnet that can be simulated an administrator that is right is found right", "[breadth]") {
    for (const auto& scenario : fabric::scenarios()) {
        for (const unsigned ports : {1u, 2u}) {
            if (!scenario.link.has_broadcast_group) continue;
            fabric::SimulatedFabric fabric{{.scenario = &scenario, .tester_ports = ports}};
            FabricSubject subject{fabric, {.p_key = scenario.link.p_key}};
            const auto sieged = lay_siege({.histories = 60}, subject);
            INFO(scenario.name << ", " << ports << " ports\n" << text(sieged));
            CHECK(sieged.found.empty());
            CHECK(sieged.disturbed == 0);
            CHECK(sieged.unplayable == 0);
        }
    }
}

TEST_CASE("What deviates for as long as is waited is not waited for again") {
    fabric::SimulatedFabric fabric{{}};
    FabricSubject subject{fabric, {}};
    const auto waits = [&](const std::vector<std::string>& keys) {
        const auto begin = fabric.loop().now();
        while (subject.may_follow(keys)) {
        }
        return fabric.loop().now() - begin;
    };
    CHECK(waits({"one"}) == std::chrono::seconds{1});
    CHECK(waits({"one"}) == fabric::Duration{});
    CHECK(waits({"one", "two"}) == std::chrono::seconds{1});
}

TEST_CASE("Its leaks are found, too") {
    fabric::SimulatedFabric fabric{{.sa = with(fabric::SaLapse::union_keeps_mlid)}};
    FabricSubject subject{fabric, {}};
    const auto sieged = lay_siege({.histories = 100, .most_repeats = 1100}, subject);
    INFO(text(sieged));
    const auto* leak = leak_in(sieged);
    REQUIRE(leak);
    CHECK(leak->repeats > 900);
}

}  // namespace
}  // namespace ipoib::conformance::siege

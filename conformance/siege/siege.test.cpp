// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/siege/siege.hpp"

#include "catch2.hpp"
#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/lapses.hpp"
#include "conformance/siege/on_fabric.hpp"
#include "conformance/siege/paper.hpp"
#include "fabric/simulated/fabric.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

fabric::SaBehaviour with(fabric::SaLapse lapse) {
    fabric::SaBehaviour behaviour;
    behaviour.lapse = lapse;
    return behaviour;
}

const Found* leak_in(const Sieged& sieged) {
    const auto at = std::ranges::find_if(sieged.found,
                                         [](const Found& one) { return one.violation.weight() == Weight::suspicion; });
    return at == sieged.found.end() ? nullptr : &*at;
}

TEST_CASE("The simulated administrator holds what the model holds") {
    PaperSubject subject;
    const auto sieged = lay_siege({.histories = 3000}, subject);
    INFO(text(sieged));
    CHECK(sieged.found.empty());
    CHECK(sieged.tells_leaks);
    CHECK(sieged.requests > 30'000);
}

TEST_CASE("What is permitted is not found fault with") {
    fabric::SaBehaviour strict, old, limited;
    strict.is_strict = true;
    old.offers_send_only_full_member = false;
    limited.parts_limited_members = false;
    for (const auto& behaviour : {strict, old, limited}) {
        PaperSubject subject{behaviour};
        const auto sieged = lay_siege({.histories = 2000}, subject);
        INFO(text(sieged));
        CHECK(sieged.found.empty());
    }
}

TEST_CASE("A history goes to a file and back") {
    const History history{
        {{.what = Do::join, .port = 1, .group = 2, .states = 9, .fault = Fault::q_key, .components = 0},
         {.what = Do::join, .port = 1, .group = 2, .states = 1, .components = 0x100ff},
         {.what = Do::leave_for, .port = 0, .of = 1, .group = 2, .states = 8},
         {.what = Do::subscribe, .port = 3, .trap = wire::trap::all},
         {.what = Do::port_down, .port = 3},
         {.what = Do::restart}}};
    CHECK(parse_history(text(history, {"a remark"})) == history);
    for (const auto* wrong :
         {"", "[]", R"({"explore-sa": 2, "steps": []})", R"({"explore-sa": 1, "steps": [1]})",
          R"({"explore-sa": 1, "steps": [{"do": "nothing"}]})", R"({"explore-sa": 1, "steps": [], "step": []})",
          R"({"explore-sa": 1, "steps": [{"do": "restart", "port": 1}]})",
          R"({"explore-sa": 1, "steps": [{"do": "subscribe", "port": 0, "trap": 65}]})",
          R"({"explore-sa": 1, "steps": [{"do": "join", "port": 64, "group": 0, "states": 1}]})"})
        CHECK_THROWS_AS(parse_history(wrong), std::invalid_argument);
    // A file may name what there is not.
    PaperSubject subject;
    const auto outcome = play({{{.port = 63, .group = 63, .states = 1}, {.what = Do::port_up, .port = 63}}}, subject);
    CHECK(outcome.violations.empty());
    CHECK(outcome.skipped == std::vector<std::size_t>{0, 1});
}

TEST_CASE("Every transition of two ports in one group is as the model has it") {
    PaperSubject subject;
    const auto sieged = exhaust({}, subject);
    INFO(text(sieged));
    CHECK(sieged.histories == std::uint64_t{exhaustive_states} * exhaustive_inputs);
    CHECK(sieged.found.empty());
    CHECK(exhaustive_histories(2) == sieged.histories * 16 * 16);
}

TEST_CASE("Behind the transitions come others") {
    PaperSubject subject;
    const auto sieged = exhaust({.hidden = 2, .each = 1009}, subject);
    INFO(text(sieged));
    CHECK(sieged.histories > 3000);
    CHECK(sieged.found.empty());
}

TEST_CASE("Every lapse is found by chance", "[breadth]") {
    const auto all = recall({.is_exhaustive = false});
    INFO(text(all));
    CHECK(all.size() >= 20);
    for (const auto& one : all) CHECK(one.found.has_value());
}

TEST_CASE("A leak is suspected, shrunk and confirmed") {
    PaperSubject subject{with(fabric::SaLapse::union_keeps_mlid)};
    const auto sieged = lay_siege({.histories = 200}, subject);
    INFO(text(sieged));
    const auto* leak = leak_in(sieged);
    REQUIRE(leak);
    CHECK(leak->history.steps.size() == 2);
    CHECK(leak->repeats > 0);
    CHECK(leak->repeats <= PaperSubject::room);
    CHECK(repeats_until_full(leak->history, subject, 1) == 0);
    PaperSubject right;
    CHECK(repeats_until_full(leak->history, right, 100) == 0);
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

// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/siege/siege.hpp"

#include "catch2.hpp"
#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/free_administrator.hpp"
#include "conformance/siege/lapses.hpp"
#include "conformance/siege/on_fabric.hpp"
#include "conformance/siege/paper.hpp"
#include "conformance/siege/roles.hpp"
#include "conformance/siege/test_lapses.hpp"
#include "fabric/simulated/fabric.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

/// Without any of its steps, or with one of them plainer, the history does not show it.
bool shows_nothing_plainer(const Found& found, fabric::SaLapse lapse) {
    PaperSubject subject{with(lapse)};
    const auto shows = [&](const History& history) {
        const auto outcome = play(history, subject);
        return std::ranges::any_of(outcome.violations,
                                   [&](const Violation& one) { return one.key() == found.violation.key(); });
    };
    return found.is_plainest && shows(found.history) && std::ranges::none_of(plainer(found.history), shows);
}

TEST_CASE("The simulated administrator holds what the model holds") {
    PaperSubject subject;
    const auto sieged = lay_siege({.histories = 3000}, subject);
    INFO(text(sieged));
    CHECK(sieged.found.empty());
    CHECK(sieged.tells_leaks);
    CHECK(sieged.requests > 30'000);
}

TEST_CASE("What is permitted is not found fault with", "[breadth]") {
    fabric::SaBehaviour strict, old, limited, lasting;
    strict.is_strict = true;
    old.offers_send_only_full_member = false;
    limited.parts_limited_members = false;
    lasting.keeps_database = true;
    for (const auto& behaviour : {strict, old, limited, lasting}) {
        PaperSubject subject{behaviour};
        const auto sieged = lay_siege({.histories = 2000}, subject);
        INFO(text(sieged));
        CHECK(sieged.found.empty());
    }
}

/// In so many histories each.
void spare(std::uint64_t administrators, std::uint64_t histories) {
    for (std::uint64_t seed = 0; seed < administrators; ++seed) {
        FreeAdministrator subject{seed};
        const auto sieged = lay_siege({.generator = {.seed = seed + 1}, .histories = histories}, subject);
        INFO("administrator " << seed << '\n' << text(sieged));
        CHECK(sieged.found.empty());
        const auto exhausted = exhaust({.each = 61}, subject);
        INFO(text(exhausted));
        CHECK(exhausted.sieged.found.empty());
    }
}

TEST_CASE("Whatever administrators choose that IBA leaves to them, no fault is found") { spare(24, 300); }
TEST_CASE("Nor with more of them", "[breadth]") { spare(128, 1500); }

TEST_CASE("A history goes to a file and back") {
    const History history{
        {{.what = Do::join, .port = 1, .group = 2, .states = 9, .fault = Fault::q_key, .components = 0},
         {.what = Do::join, .port = 1, .group = 2, .states = 1, .components = 0x100ff},
         {.what = Do::leave_for, .port = 0, .of = 1, .group = 2, .states = 8, .components = 7, .is_twice = true},
         {.what = Do::subscribe, .port = 3, .is_twice = true, .trap = wire::trap::all},
         {.what = Do::port_moves, .port = 2},
         {.what = Do::port_down, .port = 3},
         {.what = Do::restart}}};
    CHECK(parse_history(text(history, {"a remark"})) == history);
    auto of_ports = history;
    of_ports.ports = {{0, {}},
                      {1, {.link = Membership::limited, .other = Membership::full}},
                      {2, {.link = Membership::none}},
                      {3, {.is_narrow = true}}};
    CHECK(parse_history(text(of_ports)) == of_ports);
    for (const auto* wrong :
         {"", "[]", R"({"explore-sa": 1, "steps": []})", R"({"explore-sa": 3, "steps": []})",
          R"({"explore-sa": 2, "steps": [1]})", R"({"explore-sa": 2, "steps": [{"do": "nothing"}]})",
          R"({"explore-sa": 2, "steps": [], "step": []})",
          R"({"explore-sa": 2, "steps": [{"do": "restart", "port": 1}]})",
          R"({"explore-sa": 2, "steps": [{"do": "restart", "twice": true}]})",
          R"({"explore-sa": 2, "steps": [{"do": "subscribe", "port": 0, "trap": 65}]})",
          R"({"explore-sa": 2, "steps": [{"do": "join", "port": 64, "group": "ip-1", "states": 1}]})",
          R"({"explore-sa": 2, "steps": [{"do": "join", "port": 0, "group": "ip-4", "states": 1}]})",
          R"({"explore-sa": 2, "steps": [{"do": "join", "port": 0, "group": 0, "states": 1}]})",
          R"({"explore-sa": 2, "ports": [1], "steps": []})",
          R"({"explore-sa": 2, "ports": [{"port": 0, "link": "half", "other": "none", "mtu": "usual"}], "steps": []})",
          R"({"explore-sa": 2, "ports": [{"port": 0, "link": "full", "other": "none", "mtu": 4}], "steps": []})",
          R"({"explore-sa": 2, "ports": [{"port": 0, "link": "full", "other": "none", "mtu": "more"}], "steps": []})",
          R"({"explore-sa": 2, "ports": [{"port": 0, "link": "full", "other": "none", "mtu": "less"},
                                         {"port": 0, "link": "full", "other": "none", "mtu": "less"}], "steps": []})",
          R"({"explore-sa": 2, "ports": [{"port": 0, "link": "full", "other": "none", "mtu": "less"}],
              "steps": [{"do": "reregister", "port": 1}]})"})
        CHECK_THROWS_AS(parse_history(wrong), std::invalid_argument);
    // A file may name what there is not.
    PaperSubject subject;
    const auto outcome = play({{{.port = 63, .states = 1}, {.what = Do::port_up, .port = 63}}}, subject);
    CHECK(outcome.violations.empty());
    CHECK(outcome.skipped == std::vector<std::size_t>{0, 1});
}

TEST_CASE("A history is played by ports that are as its own were") {
    // Full members of both, twice; of the link; a limited one of the link; a narrow one.
    const auto facts = PaperSubject{}.begin(true).facts;
    const auto abilities = PaperSubject{}.abilities();
    const History of_limited{
        {{.port = 3, .states = 1}, {.what = Do::join_for, .port = 3, .of = 1, .states = 1}, {.what = Do::restart}}};
    const auto told = with_roles(of_limited, facts);
    CHECK(told.ports.size() == 2);
    CHECK(told.ports.at(3) == Role{.link = Membership::limited, .other = Membership::full});
    CHECK(told.ports.at(1) == Role{.link = Membership::full, .other = Membership::full});
    const auto here = fitted(told, facts, abilities);
    CHECK(here.renamed.empty());
    CHECK(here.history == told);

    auto turned = facts;
    std::ranges::reverse(turned.ports);
    const auto there = fitted(told, turned, abilities);
    CHECK(there.why_not.empty());
    CHECK(there.renamed == std::vector<std::pair<unsigned, unsigned>>{{1, 3}, {3, 1}});
    CHECK(there.history.steps[0].port == 1);
    CHECK(there.history.steps[1].of == 3);
    // Another one must give way for it.
    History of_two{{{.port = 0, .states = 1}, {.port = 1, .states = 1}}};
    of_two = with_roles(of_two, facts);
    auto few = abilities;
    few.askers = 1;
    CHECK(fitted(of_two, facts, few).why_not.find("asks by itself") != std::string::npos);
    const auto swapped =
        fitted(with_roles({{{.what = Do::join_for, .port = 1, .of = 0, .states = 1}}}, facts), facts, few);
    CHECK(swapped.why_not.empty());
    CHECK(swapped.history.steps[0].port == 0);
    CHECK(swapped.history.steps[0].of == 1);

    auto alike = facts;
    for (auto& port : alike.ports) port = facts.ports[0];
    CHECK(fitted(told, alike, abilities).why_not.find("port 3 of the history is a limited member of the link") !=
          std::string::npos);
    CHECK(fitted(of_limited, alike, abilities).history == of_limited);
    auto none_vanishes = abilities;
    none_vanishes.ports_vanish = false;
    CHECK(fitted(with_roles({{{.what = Do::port_down, .port = 0}}}, facts), facts, none_vanishes)
              .why_not.find("vanishes") != std::string::npos);
}

TEST_CASE("Every transition of two ports in one group is as the model has it", "[breadth]") {
    PaperSubject subject;
    const auto exhausted = exhaust({}, subject);
    INFO(text(exhausted));
    CHECK(exhausted.sieged.histories == std::uint64_t{256} * 60);
    CHECK(exhausted.sieged.histories == exhausted.all);
    CHECK(exhausted.sieged.unplayable == 0);
    CHECK(exhausted.sieged.found.empty());
    CHECK(exhaustive_histories(exhausted.arena, 2) == exhausted.all * 16 * 16);
}

TEST_CASE("Behind the transitions come others") {
    PaperSubject subject;
    const auto exhausted = exhaust({.hidden = 2, .each = 1009}, subject);
    INFO(text(exhausted));
    CHECK(exhausted.sieged.histories > 3000);
    CHECK(exhausted.sieged.found.empty());
}

TEST_CASE("Every lapse is found by chance", "[breadth]") {
    const auto all = recall({.is_exhaustive = false});
    INFO(text(all));
    CHECK(all.size() >= 20);
    for (const auto& one : all) {
        INFO(one.lapse->name);
        REQUIRE(one.found.has_value());
        CHECK(shows_nothing_plainer(*one.found, one.lapse->lapse));
    }
}

TEST_CASE("What is found is told by the plainest history that shows it") {
    using L = fabric::SaLapse;
    for (const auto lapse : {L::union_keeps_mlid, L::third_join_replaces, L::own_mgid_keeps_mlid, L::full_stays_full}) {
        PaperSubject subject{with(lapse)};
        const auto sieged = lay_siege({.histories = 2000, .ends_at_first = true, .most_tries = 5000}, subject);
        INFO(text(sieged));
        REQUIRE_FALSE(sieged.found.empty());
        CHECK(shows_nothing_plainer(sieged.found.front(), lapse));
    }
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

TEST_CASE("An administrator that gives no MLID again is suspected before any history, and confirmed") {
    fabric::SaBehaviour behaviour;
    behaviour.frees_mlids = false;
    const auto look = [](Subject& subject, std::uint64_t least) {
        const auto sieged = lay_siege({.histories = 5, .most_repeats = 1100}, subject);
        INFO(text(sieged));
        const auto* leak = leak_in(sieged);
        REQUIRE(leak);
        CHECK(leak->history.steps.empty());
        CHECK(leak->repeats > least);
        CHECK(sieged.mlids_come_again_after == 0);
    };
    PaperSubject paper{behaviour};
    look(paper, 0);
    fabric::SimulatedFabric fabric{{.sa = behaviour}};
    FabricSubject subject{fabric, {}};
    look(subject, 400);
}

TEST_CASE("One that gives MLIDs in turn is not") {
    FreeAdministrator subject{static_cast<std::uint64_t>(FreeAdministrator::Mlids::in_turn)};
    const auto sieged = lay_siege({.histories = 5}, subject);
    INFO(text(sieged));
    CHECK_FALSE(sieged.tells_leaks);
    CHECK(sieged.found.empty());
    CHECK(sieged.mlids_come_again_after == 10);
}

std::vector<std::string> keys_of(const Outcome& outcome) {
    std::vector<std::string> keys;
    for (const auto& one : outcome.violations) keys.push_back(one.key());
    return keys;
}

/// What it tells is what it held a few looks ago.
class Behind : public PaperSubject {
public:
    explicit Behind(unsigned looks) : looks_(looks) {}
    [[nodiscard]] Abilities abilities() const override {
        auto all = PaperSubject::abilities();
        all.lasts = true;
        return all;
    }
    [[nodiscard]] std::vector<sa_model::Seen> look(const wire::Gid& mgid) override {
        if (asked_ < looks_) return std::vector<sa_model::Seen>(abilities().ports);
        return PaperSubject::look(mgid);
    }
    [[nodiscard]] bool may_follow(const std::vector<std::string>& keys) override {
        keys_ = keys;
        if (++asked_ <= 3) return true;
        asked_ = 0;
        return false;
    }
    std::vector<std::string> keys_;

private:
    unsigned looks_, asked_ = 0;
};

/// Grants one leave and says that it does not.
class OnceWrong : public PaperSubject {
public:
    [[nodiscard]] sa_model::Answer ask(const sa_model::Request& request) override {
        constexpr unsigned number = 20;
        const auto answer = PaperSubject::ask(request);
        const bool is_plain =
            request.is_leave && answer.is_ok() && request.mask == wire::McMemberRecord::component::join;
        if (is_plain && ++leaves_ == number)
            return {.is_answered = true, .status = wire::sa_status::invalid_request, .record = {}};
        return answer;
    }

private:
    unsigned leaves_ = 0;
};

TEST_CASE("What does not show again fails nobody") {
    OnceWrong subject;
    const auto sieged = lay_siege({.histories = 100}, subject);
    INFO(text(sieged));
    REQUIRE_FALSE(sieged.found.empty());
    for (const auto& one : sieged.found) CHECK(one.violation.weight() == Weight::once);
    CHECK(text(sieged).find("  ONCE ") != std::string::npos);
}

TEST_CASE("Records may follow their answers, for a while") {
    const History history{{{.states = 1}}};
    Behind soon{2}, never{100};
    CHECK(keys_of(play(history, soon)).empty());
    CHECK_FALSE(soon.keys_.empty());
    CHECK_FALSE(keys_of(play(history, never)).empty());
}

}  // namespace
}  // namespace ipoib::conformance::siege

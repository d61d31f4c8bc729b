// SPDX-License-Identifier: GPL-2.0-or-later
// Schedules as text, their playing, and what is found by it.
#include "conformance/explore/explore.hpp"

#include "catch2.hpp"
#include "conformance/explore/action.hpp"
#include "sanitized.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ipoib::conformance::explore {
namespace {

using namespace std::chrono_literals;

Step step(fabric::Duration at, std::string_view name, std::uint32_t first = 0, std::uint32_t second = 0) {
    const auto* action = find_action(name);
    REQUIRE(action);
    return {at, action, {first, second}};
}

std::vector<std::string> keys(const std::vector<Violation>& violations) {
    std::vector<std::string> all;
    for (const auto& one : violations) all.push_back(one.key() + ": " + one.what);
    return all;
}

std::string refusal(const std::string& text) {
    try {
        (void)parse_schedule(text);
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return "taken";
}

const Mutant& mutant_named(std::string_view name) {
    const auto* mutant = find_mutant(name);
    REQUIRE(mutant);
    return *mutant;
}

}  // namespace

TEST_CASE("Explore: every action has a name of its own, words for its arguments, and values in order") {
    std::vector<std::string_view> names;
    for (const auto& action : all_actions()) {
        CAPTURE(action.name);
        CHECK(std::ranges::find(names, action.name) == names.end());
        names.push_back(action.name);
        CHECK(action.arguments.size() <= 2);
        std::size_t places = 0;
        for (auto at = action.words.find("{}"); at != std::string_view::npos; at = action.words.find("{}", at + 1))
            ++places;
        CHECK(places == action.arguments.size());
        for (const auto& argument : action.arguments) {
            CHECK(!argument.values.empty());
            CHECK(std::ranges::is_sorted(argument.values));
        }
    }
}

TEST_CASE("Explore: a schedule is the same when it was written and read") {
    Walk walk{{.scenario = "controlled", .seed = 7, .depth = 6, .is_systematic = false}};
    for (int i = 0; i < 50; ++i) {
        const auto schedule = walk.next();
        CHECK(parse_schedule(text(schedule, {"a \"remark\""})) == schedule);
        walk.learn(schedule, {static_cast<std::uint64_t>(i)});
    }
}

TEST_CASE("Explore: what is no schedule is refused by what is wrong with it") {
    const auto with = [](const std::string& steps) {
        return R"({"explore":1,"scenario":"default","seed":1,"steps":[)" + steps + "]}";
    };
    CHECK(refusal(with("")) == "taken");
    CHECK_THAT(refusal(""), ContainsSubstring("not a JSON object"));
    CHECK_THAT(refusal("[1]"), ContainsSubstring("not a JSON object"));
    CHECK_THAT(refusal("{}"), ContainsSubstring("explore"));
    CHECK_THAT(refusal(R"({"explore":2})"), ContainsSubstring("explore"));
    CHECK_THAT(refusal(R"({"explore":1,"scenario":7})"), ContainsSubstring("scenario"));
    CHECK_THAT(refusal(with("7")), ContainsSubstring("step 1"));
    CHECK_THAT(refusal(with(R"({"at":0,"do":"dance"})")), ContainsSubstring("nothing is named 'dance'"));
    CHECK_THAT(refusal(with(R"({"at":-1,"do":"up"})")), ContainsSubstring("at"));
    CHECK_THAT(refusal(with(R"({"at":1e9,"do":"up"})")), ContainsSubstring("at"));
    CHECK_THAT(refusal(with(R"({"at":0,"do":"join"})")), ContainsSubstring("group"));
    CHECK_THAT(refusal(with(R"({"at":0,"do":"join","group":99})")), ContainsSubstring("group"));
    CHECK_THAT(refusal(with(R"({"at":0,"do":"join","group":"x"})")), ContainsSubstring("group"));
    CHECK(refusal(with(R"({"at":0,"do":"join","group":0,"peer":1})")) == "step 1: peer is no member of it");
    CHECK(refusal(R"({"explore":1,"scenario":"default","seed":1,"steps":[],"sede":2})") == "sede is no member of it");
    std::string many;
    for (int i = 0; i < 1001; ++i) many += std::string(i ? "," : "") + R"({"at":0,"do":"up"})";
    CHECK_THAT(refusal(with(many)), ContainsSubstring("more than 1000"));
}

TEST_CASE("Explore: the same schedule gives the same frames, another seed others") {
    Schedule schedule{.steps = short_life()};
    schedule.steps.push_back(step(30ms, "loss", 50, 1500));
    std::ranges::stable_sort(schedule.steps, {}, &Step::at);
    const auto first = play(schedule, {}), again = play(schedule, {});
    CHECK(first.digest == again.digest);
    CHECK(first.transitions == again.transitions);
    schedule.seed = 2;
    CHECK(play(schedule, {}).digest != first.digest);
}

TEST_CASE("Explore: the same seed plays the same schedules", "[breadth]") {
    const auto digest = [](std::uint64_t seed) {
        return explore({.walk = {.seed = seed, .is_systematic = false}, .schedules = 40, .shrinks = false}).digest;
    };
    CHECK(digest(3) == digest(3));
    CHECK(digest(3) != digest(4));
}

TEST_CASE("Explore: the reference is right again after every storm") {
    constexpr std::uint64_t schedules = is_sanitized ? 50 : 250;
    for (const auto* scenario : {"default", "controlled"}) {
        CAPTURE(scenario);
        for (const bool is_systematic : {true, false}) {
            const auto explored = explore({.walk = {.scenario = scenario, .is_systematic = is_systematic},
                                           .schedules = schedules,
                                           .shrinks = false});
            CHECK(explored.schedules == schedules);
            for (const auto& one : explored.found) FAIL_CHECK(text(one.schedule, {one.violation}));
        }
    }
}

TEST_CASE("Explore: a stack that does not rejoin is found, and the schedule is as short as can be") {
    const auto explored = explore({.walk = {.kinds = {"sm"}},
                                   .mutant = &mutant_named("ignores-reregistration"),
                                   .schedules = 60,
                                   .ends_at_first = true});
    REQUIRE(!explored.found.empty());
    const auto& found = explored.found.front();
    CHECK(found.violation.weight == Weight::fail);
    CHECK(found.schedule.steps.size() <= 3);
    CHECK(std::ranges::any_of(found.schedule.steps, [](const Step& one) { return one.action->kind == "sm"; }));
    // It is there again, without any one of its steps it is not.
    const Playing playing{.mutant = &mutant_named("ignores-reregistration")};
    CHECK(!play(found.schedule, playing).violations.empty());
    CHECK(play(found.schedule, {}).violations.empty());
}

TEST_CASE("Explore: each thing that can change shows who does not follow it") {
    struct Row {
        const char *mutant, *invariant;
        std::vector<Step> steps;
    };
    const std::vector<Row> rows{
        {"asks-first-manager", "up", {step(0ms, "up"), step(40ms, "sm-elsewhere")}},
        {"keeps-first-gid", "reach", {step(0ms, "up"), step(40ms, "prefix", 1)}},
        {"mixes-partitions",
         "RULE-RFC4391-4-05",
         {step(0ms, "up"), step(40ms, "pkey-first", 1500), step(500ms, "send-group", 4)}},
        {"sends-from-first-lid", "lid", {step(0ms, "up"), step(40ms, "lid-change"), step(1900ms, "send-group", 4)}},
        {"believes-checksums",
         "damaged",
         {step(0ms, "up"), step(40ms, "damage-data", 0, 4), step(500ms, "peer-sends", 1),
          step(900ms, "peer-sends", 1)}},
        {"tells-first-neighbours",
         "neighbours",
         {step(0ms, "up"), step(40ms, "send-unicast", 1), step(500ms, "peer-move", 1)}},
        {"sticks-after-burst", "reach", {step(0ms, "up"), step(40ms, "sa-silent", 1500), step(60ms, "burst", 4)}},
        {"leaves-once",
         "leak",
         {step(0ms, "up"), step(40ms, "join", 0), step(80ms, "sa-silent", 12000), step(90ms, "leave", 0)}},
        {"forgets-lowered-mtu", "mtu", {step(0ms, "up"), step(40ms, "set-mtu", 576), step(80ms, "sm-restart")}},
        {"keeps-first-path",
         "old-path",
         {step(0ms, "up"), step(40ms, "send-unicast", 1), step(500ms, "sm-other-lids")}},
        {"refused-group-holds-up-others", "membership", {step(0ms, "up"), step(40ms, "hosts-refused", 4)}},
        {"refused-group-holds-up-others-ipv6", "membership", {step(0ms, "up"), step(40ms, "hosts-refused", 6)}},
        {"drops-answers-without-a-path", "newcomer", {step(0ms, "up")}},
        {"drops-answers-without-a-path-ipv6", "newcomer", {step(0ms, "up")}},
        {"drops-what-waits-for-a-path", "newcomer", {step(0ms, "up")}},
        {"drops-what-waits-for-a-path-ipv6", "newcomer", {step(0ms, "up")}}};
    for (const auto& row : rows) {
        CAPTURE(row.mutant);
        const Schedule schedule{.steps = row.steps};
        CHECK(keys(play(schedule, {}).violations) == std::vector<std::string>{});
        const auto found = play(schedule, {.mutant = &mutant_named(row.mutant)}).violations;
        CHECK(std::ranges::find(found, row.invariant, &Violation::invariant) != found.end());
    }
}

TEST_CASE("Explore: what it found of the reference is found no more") {
    const std::vector<std::vector<Step>> schedules{
        // The group of the old link, left while the interface is on another.
        {step(0ms, "up"), step(1ms, "join", 0), step(1ms, "pkey-first", 1500), step(2ms, "leave", 0)},
        {step(0ms, "pkey-first", 300), step(0ms, "port-down")}};
    for (const auto* scenario : {"default", "controlled"})
        for (const auto& steps : schedules) {
            CAPTURE(scenario);
            CHECK(keys(play({.scenario = scenario, .steps = steps}, {}).violations) == std::vector<std::string>{});
        }
}

TEST_CASE("Explore: only events of the kinds that are asked for happen") {
    Walk walk{{.kinds = {"peer"}}};
    for (int i = 0; i < 300; ++i)
        for (const auto& one : walk.next().steps) CHECK((one.action->kind == operation || one.action->kind == "peer"));
}

TEST_CASE("Explore: what is permitted is no violation", "[breadth]") {
    for (const auto* name : {"permitted-path-table", "permitted-asks-by-joining", "permitted-grh-on-unicast",
                             "permitted-broadcast-fallback"}) {
        CAPTURE(name);
        const auto explored = explore({.mutant = &mutant_named(name), .schedules = 200, .shrinks = false});
        for (const auto& one : explored.found) FAIL_CHECK(text(one.schedule, {one.violation}));
    }
}

TEST_CASE("Explore: a violation has the weight of its requirement") {
    CHECK(name(Weight::fail) == "FAIL");
    CHECK(name(Weight::crash) == "FAIL.CRASH");
    CHECK(name(Weight::finding) == "FINDING");
    Schedule schedule{.steps = {step(0ms, "up")}};
    const auto outcome = play(schedule, {.mutant = &mutant_named("broadcast-join-non-member")});
    CHECK(!keys(outcome.violations).empty());
    CHECK(std::ranges::any_of(outcome.violations, [](const Violation& one) { return one.weight == Weight::fail; }));
}

TEST_CASE("Explore: the page has all that a schedule can do") {
    std::ifstream file{IPOIB_SOURCE_DIR "/docs/explore.md"};
    const std::string page{std::istreambuf_iterator<char>{file}, {}};
    for (const auto& action : all_actions()) {
        CAPTURE(std::string(action.name));
        CHECK(page.find("| `" + std::string(action.name) + "` |") != std::string::npos);
        for (const auto& argument : action.arguments)
            CHECK(page.find('`' + std::string(argument.name) + '`') != std::string::npos);
    }
}

}  // namespace ipoib::conformance::explore

// SPDX-License-Identifier: GPL-2.0-or-later
// A DUT in another process: the reference stack and mutants of it, by raw port and adapter, in real time.
#include "conformance/explore/remote.hpp"

#include "catch2.hpp"
#include "conformance/explore/action.hpp"
#include "conformance/explore/explore.hpp"
#include "temporary_folder.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
namespace {

using namespace std::chrono_literals;

/// Up, in a group, and then the subnet manager has forgotten all of it.
Schedule restart() {
    return {.steps = {{0ms, find_action("up"), {}},
                      {300ms, find_action("join"), {0, 0}},
                      {600ms, find_action("sm-restart"), {}}}};
}

struct Plugged {
    explicit Plugged(const std::string& words = {}, double timeout_scale = 1)
        : dut({.listen = path(),
               .command = std::string(IPOIB_PLUGGED_STACK) + ' ' + path() + ' ' + words,
               .interface = {},
               .timeout_scale = timeout_scale}) {}
    [[nodiscard]] std::string path() const { return (folder.path() / "fabric").string(); }
    [[nodiscard]] std::vector<std::string> broken(const Schedule& schedule) {
        std::vector<std::string> all;
        for (const auto& one : play(schedule, {.remote = &dut}).violations) all.push_back(one.key() + ": " + one.what);
        return all;
    }
    TemporaryFolder folder;
    RemoteDut dut;
};

}  // namespace

TEST_CASE("Explore: a right stack in another process is right again, time after time") {
    Plugged plugged;
    for (int i = 0; i < 2; ++i) CHECK(plugged.broken(restart()) == std::vector<std::string>{});
}

TEST_CASE("Explore: a wrong stack in another process is found, and needless steps are left out for all that it breaks",
          "[breadth]") {
    // It never joins again: nothing is gained by waiting long for that.
    Plugged plugged{"--mutant ignores-reregistration", 0.1};
    auto schedule = restart();
    schedule.steps.push_back({700ms, find_action("flush-neighbours"), {}});
    const auto violations = play(schedule, {.remote = &plugged.dut}).violations;
    const auto is_about_group = [](const Violation& one) { return one.key() == "membership RFC4391-10-15"; };
    REQUIRE(std::ranges::any_of(violations, is_about_group));
    const auto found = shrunk_together(schedule, violations, {.remote = &plugged.dut});
    REQUIRE(found.size() == violations.size());
    CHECK(found.front().tries == schedule.steps.size());
    CHECK(found.front().schedule.steps.size() < schedule.steps.size());
    // What is left does not have a group to be a member of, so that this one needs all that there was.
    for (const auto& one : found)
        if (is_about_group(one.violation))
            CHECK((one.schedule.steps.size() == schedule.steps.size() || one.schedule.steps[1].action->name == "join"));
}

TEST_CASE("Explore: a DUT is told that its link is pulled, and what it does not tell or do is not held against it") {
    // Deaf to a manager that asks for it, the stack joins again only because its link has come up again.
    Plugged plugged{"--tells-little --mutant ignores-reregistration"};
    const Schedule schedule{.steps = {{0ms, find_action("up"), {}},
                                      {300ms, find_action("join"), {0, 0}},
                                      {600ms, find_action("port-bounce"), {300, 0}}}};
    CHECK(plugged.broken(schedule) == std::vector<std::string>{});
}

TEST_CASE("Explore: an adapter that is at its end is told of") {
    RemoteDut dead{{.listen = "fabric", .command = "exit 3", .interface = {}}};
    CHECK_THROWS_AS(play(restart(), {.remote = &dead}), ChannelBroken);
}

TEST_CASE("Explore: a program that is told to stop plays nothing to its end") {
    fabric::Loop::request_stop();
    const auto outcome = play(restart(), {});
    fabric::Loop::clear_stop();
    CHECK(outcome.violations.empty());
}

}  // namespace ipoib::conformance::explore

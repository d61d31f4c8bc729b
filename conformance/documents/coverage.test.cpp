// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/documents/coverage.hpp"

#include "catch2.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::conformance;
using requirements::Requirement;
using requirements::Test;

TEST_CASE("Coverage: what a peer can provoke is open until a case does, also where a rule watches") {
    const Requirement provocable{.id = "X-1", .test = Test::passive | Test::active};
    const Requirement watched{.id = "X-2", .test = Test::passive};
    const Requirement looked_at{.id = "X-3", .test = Test::inspection};
    const auto* const rule = &rules::all().front();
    const auto* const one = all_cases().front();
    CHECK(Coverage{&provocable}.status() == "open: needs a case");
    CHECK(Coverage{&provocable, {}, {rule}}.status() == "open: needs a case");
    CHECK(Coverage{&provocable, {one}, {rule}}.status() == "case and rule");
    CHECK(Coverage{&provocable, {one}}.status() == "case");
    CHECK(Coverage{&watched}.status() == "open: needs a rule");
    CHECK(Coverage{&watched, {}, {rule}}.status() == "rule");
    CHECK(Coverage{&looked_at}.status() == "open: needs a reason");
}

TEST_CASE("Coverage: a stated ground closes what no case can decide") {
    const Requirement provocable{.id = "X-1", .test = Test::active};
    const Ground must_look{&provocable, Manner::inspection, "Look."};
    const Ground cannot_be{&provocable, Manner::construction, "So it is."};
    CHECK(Coverage{&provocable, {}, {}, &must_look}.status() == "inspection");
    CHECK(Coverage{&provocable, {}, {}, &cannot_be}.status() == "construction");
    CHECK(Coverage{&provocable, {}, {&rules::all().front()}, &must_look}.status() == "rule and inspection");
    CHECK_FALSE(Coverage{&provocable, {}, {}, &must_look}.is_open());
}

TEST_CASE("Coverage: no requirement waits for a rule or a reason, and no ground is left where a case decides") {
    const auto all = coverage();
    CHECK(all.size() == requirements::all().size());
    std::size_t grounded = 0;
    for (const auto& one : all) {
        INFO(one.requirement->id);
        CHECK_FALSE(one.status() == "open: needs a rule");
        CHECK_FALSE(one.status() == "open: needs a reason");
        if (!one.ground) continue;
        ++grounded;
        CHECK(one.cases.empty() == !one.ground->is_rest);
        CHECK(one.ground->reason.ends_with('.'));
    }
    CHECK(grounded == grounds().size());
    CHECK(std::ranges::is_sorted(grounds(), {}, [](const Ground& ground) {
        return std::ranges::find(requirements::all(), ground.requirement) - requirements::all().begin();
    }));
}

TEST_CASE("Coverage: cases and rules count for what they imply") {
    for (const auto& one : coverage()) {
        if (one.requirement->id != "RFC4391-6-01") continue;
        // The rule names a part of it.
        const auto by = one.by();
        CHECK(std::ranges::find(by, "RULE-RFC4391-6-02") != by.end());
        return;
    }
    FAIL("RFC4391-6-01 is missing");
}

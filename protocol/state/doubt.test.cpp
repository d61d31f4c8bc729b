// SPDX-License-Identifier: GPL-2.0-or-later
// The list of doubts, and what the user may vouch for.
#include "protocol/state/doubt.hpp"
#include "catch2.hpp"

#include <set>

using namespace ipoib::state;

TEST_CASE("Doubts: each stands at its place, with a name of its own and all that it declares") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < doubt_specs.size(); ++i) {
        const auto& one = doubt_specs[i];
        CHECK(static_cast<std::size_t>(one.doubt) == i);
        CHECK(&spec(one.doubt) == &one);
        CHECK(names.insert(one.name).second);
        CHECK_FALSE(one.supposes.empty());
        CHECK_FALSE(one.refuted_by.empty());
        CHECK_FALSE(one.settled_by.empty());
    }
}

TEST_CASE("Doubts: each assumption lifts one") {
    Assumptions lifting = 0;
    for (const auto& one : doubt_specs)
        if (one.lifted_by) {
            CHECK((lifting & assumptions(*one.lifted_by)) == 0);
            lifting |= assumptions(*one.lifted_by);
        }
    CHECK(lifting == all_assumptions);
}

TEST_CASE("Assumptions: by name, and as a list of names") {
    for (const auto& one : assumption_specs) {
        CHECK(name(one.assumption) == one.name);
        CHECK(assumption_named(one.name) == one.assumption);
    }
    CHECK_FALSE(assumption_named("Whole"));
    CHECK_FALSE(assumption_named("whole=1"));
    CHECK_FALSE(assumption_named(""));
    CHECK(in_words(0).empty());
    CHECK(in_words(assumptions(Assumption::from_start)) == "from-start");
    CHECK(in_words(all_assumptions) == "whole, from-start, steady-clock");
}

TEST_CASE("Reasons: as many as are added, but for those that are taken back") {
    Reasons reasons{{Doubt::life_before, "a"}};
    reasons.add({Doubt::another_interface, "b"});
    reasons.add({Doubt::life_before, "c"});
    CHECK(reasons.end() - reasons.begin() == 3);
    reasons.remove("a");
    reasons.remove("not there");
    REQUIRE(reasons.end() - reasons.begin() == 2);
    CHECK(reasons.begin()->text == "b");
    CHECK((reasons.end() - 1)->text == "c");
    CHECK(Reasons{}.empty());
}

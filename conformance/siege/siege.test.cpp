// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/siege/siege.hpp"

#include "catch2.hpp"
#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/lapses.hpp"
#include "conformance/siege/paper.hpp"

namespace ipoib::conformance::siege {
namespace {

TEST_CASE("The simulated administrator holds what the model holds") {
    PaperSubject subject;
    const auto sieged = lay_siege({.histories = 3000}, subject);
    INFO(text(sieged));
    CHECK(sieged.found.empty());
    CHECK(sieged.tells_leaks);
    CHECK(sieged.requests > 3000);
}

TEST_CASE("Every transition of two ports in one group is as the model has it") {
    PaperSubject subject;
    const auto sieged = exhaust({}, subject);
    INFO(text(sieged));
    CHECK(sieged.histories == exhaustive_states * exhaustive_inputs);
    CHECK(sieged.found.empty());
}

TEST_CASE("Every lapse is found by chance") {
    const auto all = recall({.is_exhaustive = false});
    INFO(text(all));
    for (const auto& one : all) CHECK(one.found.has_value());
}

}  // namespace
}  // namespace ipoib::conformance::siege

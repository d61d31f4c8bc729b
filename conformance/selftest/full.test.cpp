// SPDX-License-Identifier: GPL-2.0-or-later
// The whole kill matrix, with a new DUT for each case and with one for all of them.
#include "catch2.hpp"
#include "conformance/selftest/selftest.hpp"

using namespace ipoib::conformance;

TEST_CASE(
    "Selftest: each mutant breaks what it declares and nothing else, under every case, also with one DUT for all") {
    const std::vector<Order> orders{{}, {1}};
    const auto outcome = selftest({.is_full = true, .cases = all_cases(), .lasting = orders});
    INFO(kill_matrix(outcome));
    CHECK(outcome.is_complete);
    CHECK(outcome.mutants.size() >= 60);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Rates as people write them, and the pauses that they are.
#include "traffic-gen/rate.hpp"

#include "catch2.hpp"

#include <stdexcept>
#include <string>

namespace ipoib::traffic {
using namespace std::chrono_literals;

namespace {

auto at(double progress) {
    return [progress] { return progress; };
}

}  // namespace

TEST_CASE("Rate: packets, bits, ramps, no pauses") {
    CHECK(Rate{"1000"}.spacing(100, at(0.5)) == 1ms);
    CHECK(Rate{"0.5"}.spacing(100, at(0)) == 2s);
    CHECK(Rate{"8Mbit"}.spacing(1000, at(0)) == 1ms);
    CHECK(Rate{"8kbit"}.spacing(1, at(0.9)) == 1ms);
    CHECK(Rate{"1Gbit"}.spacing(125, at(0)) == 1us);
    CHECK(Rate{"100..300"}.spacing(1, at(0)) == 10ms);
    CHECK(Rate{"100..300"}.spacing(1, at(0.5)) == 5ms);
    CHECK(Rate{"200..100"}.spacing(1, at(1)) == 10ms);
    CHECK(Rate{"max"}.spacing(1, at(0)) == 0s);
}

TEST_CASE("Rate: what is none") {
    for (const std::string text : {"", "0", "-1", "x", "1MB", "1..", "..1", "1..2Mbit", "nan", "inf", "1e13", "1 2"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(Rate{text}, std::invalid_argument);
    }
}

}  // namespace ipoib::traffic

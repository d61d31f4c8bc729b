// SPDX-License-Identifier: GPL-2.0-or-later
// Lost packets are told from a node that is gone, or was.
#include "conformance/bench/series.hpp"

#include "catch2.hpp"

#include <string_view>

using ipoib::conformance::Series;

namespace {

/// Of `most` requests those in order: '+' is answered, '-' is not.
Series of(std::string_view answers, unsigned most) {
    Series series{most};
    for (const char c : answers) {
        REQUIRE(series.goes_on());
        series.take(c == '+');
    }
    return series;
}

}  // namespace

TEST_CASE("Series: who answers some and not those between loses packets") {
    for (const auto* answers : {"+-+", "++--+", "+---+", "--+-+"}) {
        CAPTURE(answers);
        const auto series = of(answers, 9);
        CHECK(series.loses());
        CHECK_FALSE(series.loses_nothing());
        CHECK_FALSE(series.goes_on());
    }
    CHECK_THAT(of("++--+", 9).text(),
               ContainsSubstring("of 5 ordinary echo requests one after the other 2 got no answer"));
}

TEST_CASE("Series: who answers all, or all but the first, loses none") {
    for (const auto* answers : {"+++++", "---++"}) {
        CAPTURE(answers);
        const auto series = of(answers, 5);
        CHECK_FALSE(series.loses());
        CHECK(series.loses_nothing());
        CHECK_FALSE(series.goes_on());
    }
}

TEST_CASE("Series: who answers none, or no more, is gone") {
    for (const auto* answers : {"----", "++----", "-+----"}) {
        CAPTURE(answers);
        const auto series = of(answers, 60);
        CHECK_FALSE(series.loses());
        CHECK_FALSE(series.loses_nothing());
        CHECK_FALSE(series.goes_on());
    }
    CHECK(of("++---", 60).goes_on());
    CHECK_FALSE(of("++---", 5).loses_nothing());
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Each job is done once, and what one throws is thrown.
#include "base/parallel.hpp"

#include "catch2.hpp"

#include <stdexcept>

using namespace ipoib;

TEST_CASE("parallel: each job is done once, by however many threads") {
    for (const std::size_t threads : {0u, 1u, 3u, 64u}) {
        std::vector<std::size_t> done(50);
        in_parallel(
            done.size(), [&](std::size_t i) { done[i] += i + 1; }, threads);
        for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == i + 1);
    }
    in_parallel(0, [](std::size_t) { FAIL("there is no job"); });
}

TEST_CASE("parallel: what a job throws is thrown, and no further one is begun") {
    std::atomic<std::size_t> begun{0};
    const auto job = [&](std::size_t) {
        ++begun;
        throw std::runtime_error("no");
    };
    CHECK_THROWS_AS(in_parallel(1000, job, 2), std::runtime_error);
    CHECK(begun <= 2);
}

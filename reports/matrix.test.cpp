// SPDX-License-Identifier: GPL-2.0-or-later
// Many hosts at once: who has which verdict on what, named shortly.
#include "reports/matrix.hpp"

#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;
using enum Verdict;

namespace {

Results named_hosts(const std::vector<std::string>& names) {
    Results results;
    for (const auto& name : names) results.hosts.push_back({.name = name});
    return results;
}

std::string all_named(const std::vector<std::string>& names) {
    const auto results = named_hosts(names);
    Hosts hosts;
    for (std::size_t i = 0; i < names.size(); ++i) hosts.push_back(i);
    return named(results, hosts);
}

std::vector<std::string> numbered(const std::string& before, unsigned first, unsigned last) {
    std::vector<std::string> names;
    for (auto i = first; i <= last; ++i) names.push_back(before + std::to_string(i));
    return names;
}

}  // namespace

TEST_CASE("Matrix: a row puts hosts with the same verdict together, the worst decides") {
    const auto results = samples::merged({pass, fail, pass, warn});
    const auto rows = matrix(results).rows;
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].hosts[static_cast<std::size_t>(pass)] == Hosts{0, 2});
    CHECK(rows[0].worst() == fail);
    CHECK_FALSE(rows[0].is_well());
    CHECK(where(results, rows[0]) == "FAIL on 1 of 4 hosts: n2; WARN on 1: n4; PASS on 2");
    CHECK(rows[1].is_well());
    CHECK(where(results, rows[1]) == "PASS on all 4 hosts");
    CHECK(rows[2].worst() == na);
    CHECK(rows[2].is_well());
}

TEST_CASE("Matrix: the same bad verdict everywhere is not well, nor are two good ones") {
    CHECK_FALSE(matrix(samples::merged({warn, warn})).rows[0].is_well());
    CHECK_FALSE(matrix(samples::merged({pass, na})).rows[0].is_well());
    CHECK(matrix(samples::merged({xfail, xfail})).rows[0].is_well());
}

TEST_CASE("Matrix: a host without any result stands apart") {
    const auto results = samples::merged({pass, std::nullopt, pass});
    const auto found = matrix(results);
    CHECK(found.silent == Hosts{1});
    CHECK(where(results, found.rows[0]) == "PASS on 2 of 3 hosts; no results of 1");
    CHECK(found.counts[0][static_cast<std::size_t>(pass)] == 2);
    CHECK(found.counts[1] == std::array<std::size_t, verdicts>{});
}

TEST_CASE("Findings: one for each id and verdict, with all its hosts") {
    const auto results = samples::merged({fail, pass, fail});
    const auto found = findings(results, fail);
    REQUIRE(found.size() == 1);
    CHECK(found[0].result == &results.results[0]);
    CHECK(on_hosts(results, found[0].hosts) == "on 2 of 3 hosts: n1, n3");
    CHECK(findings(samples::every_verdict(), fail).size() == 1);
    CHECK(on_hosts(samples::merged({fail}), {0}) == "on n1");
    CHECK(on_hosts(results, {0, 1, 2}) == "on all 3 hosts");
}

TEST_CASE("Host names: few one by one, many as ranges") {
    CHECK(all_named({"n1", "n7", "n19"}) == "n1, n7, n19");
    CHECK(all_named(numbered("n", 1, 200)) == "n[1-200]");
    CHECK(all_named({"n1", "n2", "n3", "n5", "n6", "n8", "n9", "n10", "x"}) == "n[1-3,5-6,8-10], x");
    CHECK(all_named({"a01.c", "a02.c", "a03.c", "a04.c", "a05.c", "a06.c", "a07.c", "a08.c", "a09.c", "a10.c"}) ==
          "a[01-10].c");
    CHECK(all_named({"r1-n1", "r1-n2", "r1-n3", "r2-n1", "r2-n2", "r2-n3", "r2-n5", "7", "n12345678901"}) ==
          "r1-n[1-3], r2-n[1-3,5], 7, n12345678901");
}

TEST_CASE("Host names: hostile ones are shown and bounded") {
    std::vector<std::string> names;
    for (int i = 0; i < 300; ++i) names.push_back(samples::hostile() + std::string(static_cast<std::size_t>(i), 'x'));
    const auto text = all_named(names);
    CHECK(text.size() <= 1000);
    for (const char c : text) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
}

TEST_CASE("Matrix: five hundred hosts and the whole catalogue of this test take no time") {
    std::vector<std::optional<Verdict>> hosts(500, pass);
    hosts[2] = fail;
    hosts[6] = std::nullopt;
    const auto results = samples::merged(hosts);
    CHECK(where(results, matrix(results).rows[0]) == "FAIL on 1 of 500 hosts: n3; PASS on 498; no results of 1");
    CHECK(exit_code(results) == 3);
}

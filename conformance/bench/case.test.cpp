// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/bench/case.hpp"

#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/bench/order.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <algorithm>
#include <regex>
#include <set>

using namespace ipoib;
using namespace ipoib::conformance;

TEST_CASE("Case ids: numbers are ordered by their value") {
    CHECK(in_order("IPOIB-4391-9-VAL-001", "IPOIB-4391-10-VAL-001"));
    CHECK(in_order("IPOIB-4391-9-VAL-001", "IPOIB-4391-9.1.1-INV-001"));
    CHECK(in_order("IPOIB-4391-9.1.1-INV-001", "IPOIB-4391-9.2-VAL-001"));
    CHECK_FALSE(in_order("IPOIB-4391-10-VAL-001", "IPOIB-4391-9-VAL-001"));
    CHECK_FALSE(in_order("a", "a"));
}

TEST_CASE("Cases: each has a permanent id of its document and section, and says what it checks") {
    const std::regex form{R"(IPOIB-((4390|4391|4392|4755|8064|IBA)-[0-9]+(\.[0-9]+)*|UDMC)-(VAL|INV|INO)-[0-9]{3})"};
    std::set<std::string_view> ids;
    REQUIRE(all_cases().size() >= 25);
    for (const auto* one : all_cases()) {
        INFO(one->id);
        CHECK(std::regex_match(std::string(one->id), form));
        CHECK(ids.insert(one->id).second);
        CHECK_FALSE(one->checks.empty());
        CHECK_FALSE(one->title.empty());
        CHECK_FALSE(one->pass_if.empty());
        CHECK_FALSE(one->tags.empty());
        CHECK(one->steps != nullptr);
        for (const auto* requirement : one->checks) {
            CHECK(requirements::find(requirement->id) == requirement);
        }
    }
}

TEST_CASE("Shards: together they are everything, and none is in two") {
    std::size_t total = 0;
    for (unsigned shard = 1; shard <= 4; ++shard)
        total += static_cast<std::size_t>(
            std::ranges::count_if(all_cases(), [&](const Case* one) { return is_in_shard(one->id, shard, 4); }));
    CHECK(total == all_cases().size());
    CHECK(is_in_shard("anything", 1, 1));
}

namespace {

std::optional<Obstacle> obstacle_of(const char* id, const ActiveRun& run, fabric::Abilities abilities) {
    const auto* one = find_case(id);
    REQUIRE(one != nullptr);
    return obstacle(*one, run, abilities);
}

}  // namespace

TEST_CASE("Obstacles: what is not here, not allowed or not the DUT's role makes a case NA, with the reason") {
    using fabric::Ability;
    using reports::NotJudged;
    const auto everything = Ability::any_frame | Ability::see_all | Ability::reports | Ability::fabric_control |
                            Ability::two_ports | Ability::trusted_sa | Ability::long_tables;
    ActiveRun run;
    CHECK_FALSE(obstacle_of("IPOIB-4391-5-VAL-001", run, everything));
    const auto blind = obstacle_of("IPOIB-4391-5-VAL-001", run, everything.without(Ability::see_all));
    REQUIRE(blind);
    CHECK(blind->reason == NotJudged::tester);
    CHECK(blind->why == "this fabric cannot show the frames between other nodes");

    run.has_control = false;
    CHECK(obstacle_of("IPOIB-4391-5-VAL-001", run, everything)->reason == NotJudged::tester);
    CHECK_FALSE(obstacle_of("IPOIB-4391-6-INV-001", run, everything));
    run.has_control = true;

    run.allow = Impact::dut;
    CHECK(obstacle_of("IPOIB-4391-10-VAL-003", run, everything)->reason == NotJudged::safety);
    CHECK_FALSE(obstacle_of("IPOIB-4391-6-INV-001", run, everything));
    run.allow = Impact::observe;
    CHECK(obstacle_of("IPOIB-4391-6-INV-001", run, everything)->reason == NotJudged::safety);
    run.allow = Impact::fabric;

    CHECK(obstacle_of("IPOIB-4391-5-INV-001", run, everything)->reason == NotJudged::profile);
    run.judges_sa = true;
    CHECK_FALSE(obstacle_of("IPOIB-4391-5-INV-001", run, everything));
    CHECK(obstacle_of("IPOIB-4391-6-INV-001", run, everything)->reason == NotJudged::profile);
}

TEST_CASE("Orders: a seed shuffles cases, everywhere the same way") {
    auto cases = all_cases();
    put_in({}, cases);
    CHECK(cases == all_cases());
    put_in({7}, cases);
    CHECK(cases != all_cases());
    auto again = all_cases(), other = all_cases();
    put_in({7}, again);
    put_in({8}, other);
    CHECK(again == cases);
    CHECK(other != cases);
    CHECK(std::ranges::is_permutation(cases, all_cases()));
}

TEST_CASE("Orders: their names") {
    for (const auto& order : {Order{}, Order{0}, Order{18446744073709551615U}}) CHECK(order_of(text(order)) == order);
    for (const auto* const wrong : {"", "seed", "seed=", "seed=-1", "seed=1x", "seed=18446744073709551616", "Declared"})
        CHECK_FALSE(order_of(wrong));
}

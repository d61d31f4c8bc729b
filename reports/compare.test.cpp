// SPDX-License-Identifier: GPL-2.0-or-later
// Two runs compared: what counts as worse decides the exit code.
#include "reports/compare.hpp"

#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;

namespace {

Results run_of(Verdict verdict, const std::string& type = "") {
    Results run;
    run.results = {samples::result("R", verdict, "A-1-01")};
    run.results[0].fail_type = type;
    return run;
}

}  // namespace

TEST_CASE("Compare: how firmly a text says it makes no difference") {
    const auto must = run_of(Verdict::fail, "FAIL.MUST"), stated = run_of(Verdict::fail, "FAIL.STATED");
    CHECK(compare(must, stated).worse == 0);
    CHECK(compare(must, stated).better == 0);
    CHECK(compare(stated, must).worse == 0);
}

TEST_CASE("Compare: each step down the order is worse, each step up is better") {
    const std::vector<Results> order{run_of(Verdict::pass),
                                     run_of(Verdict::xfail),
                                     run_of(Verdict::warn),
                                     run_of(Verdict::inconc),
                                     run_of(Verdict::error),
                                     run_of(Verdict::fail, "FAIL.MUST"),
                                     run_of(Verdict::fail, "FAIL.CRASH")};
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = 0; j < order.size(); ++j) {
            CAPTURE(i, j);
            const auto comparison = compare(order[i], order[j]);
            CHECK(comparison.worse == (j > i ? 1 : 0));
            CHECK(comparison.better == (j < i ? 1 : 0));
            CHECK(comparison.same == (j == i ? 1 : 0));
            CHECK(exit_code(comparison) == (j > i ? 1 : 0));
        }
    CHECK(compare(run_of(Verdict::xfail), run_of(Verdict::xpass)).better == 1);
    CHECK(compare(run_of(Verdict::pass), run_of(Verdict::xpass)).same == 1);
}

TEST_CASE("Compare: what is judged only once is new or gone, but a new failure is worse") {
    CHECK(compare(Results{}, run_of(Verdict::pass)).fresh == 1);
    CHECK(compare(run_of(Verdict::na), run_of(Verdict::warn)).fresh == 1);
    CHECK(compare(run_of(Verdict::na), run_of(Verdict::fail)).worse == 1);
    CHECK(compare(Results{}, run_of(Verdict::error)).worse == 1);
    CHECK(compare(run_of(Verdict::fail), run_of(Verdict::na)).gone == 1);
    CHECK(compare(run_of(Verdict::pass), Results{}).gone == 1);
    CHECK(compare(run_of(Verdict::na), Results{}).same == 1);
    CHECK(exit_code(compare(run_of(Verdict::pass), Results{})) == 0);
}

TEST_CASE("Compare: the lines say id, both verdicts and title, worse ones first, the counts last") {
    auto before = run_of(Verdict::pass), after = run_of(Verdict::fail, "FAIL.MUST");
    before.results.push_back(samples::result("S", Verdict::pass, "A-1-01"));
    after.results.insert(after.results.begin(), samples::result("T", Verdict::pass, "A-1-01"));
    CHECK(compare(before, after).lines ==
          std::vector<std::string>{"worse: R PASS -> FAIL.MUST: title of R", "new: T absent -> PASS: title of T",
                                   "gone: S PASS -> absent: title of S", "1 worse, 0 better, 1 new, 1 gone, 0 same"});
}

TEST_CASE("Compare: one capture each is compared by id, several by file name") {
    auto before = run_of(Verdict::pass), after = run_of(Verdict::pass);
    before.captures = {{"one/before.pcap", 247, 1, 1, {}, {}}};
    after.captures = {{"two/after.pcap", 247, 1, 1, {}, {}}};
    CHECK(compare(before, after).same == 1);
    after.captures.push_back({"two/before.pcap", 247, 1, 1, {}, {}});
    after.results.push_back(samples::failure("R", "A-1-01"));
    after.results[1].capture = 1;
    const auto comparison = compare(before, after);
    CHECK(comparison.worse == 1);
    CHECK(comparison.fresh == 1);
    CHECK_THAT(comparison.lines[0], ContainsSubstring("R PASS -> FAIL.MUST in before.pcap"));
}

TEST_CASE("Compare: the same id twice in a run is two results") {
    auto before = run_of(Verdict::pass), after = run_of(Verdict::pass);
    after.results.push_back(samples::failure("R", "A-1-01"));
    const auto comparison = compare(before, after);
    CHECK(comparison.same == 1);
    CHECK(comparison.worse == 1);
}

TEST_CASE("Compare: merged reports are compared host by host") {
    using enum Verdict;
    const auto before = samples::merged({pass, fail}), after = samples::merged({fail, pass});
    const auto comparison = compare(before, after);
    CHECK(comparison.worse == 1);
    CHECK(comparison.better == 1);
    CHECK_THAT(comparison.lines[0], ContainsSubstring("PASS -> FAIL.MUST on n1"));
    // A run of one host is that host's.
    CHECK(compare(samples::run_on("n1", pass), samples::merged({fail})).worse == 1);
    CHECK(compare(samples::merged({pass}), samples::run_on("n1", fail)).worse == 1);
}

TEST_CASE("Compare: a host whose results are missing now is worse, one that they are missing of again is not") {
    using enum Verdict;
    const auto whole = samples::merged({pass, pass}), lost = samples::merged({pass, std::nullopt});
    const auto comparison = compare(whole, lost);
    CHECK(exit_code(comparison) == 1);
    CHECK_THAT(comparison.lines[0], ContainsSubstring("worse: HOST absent -> ERROR on n2"));
    CHECK(comparison.gone == 2);
    CHECK(exit_code(compare(lost, lost)) == 0);
    CHECK(exit_code(compare(lost, whole)) == 0);
}

TEST_CASE("Compare: a rule that changed is told from a DUT that did") {
    auto before = run_of(Verdict::pass), after = run_of(Verdict::fail, "FAIL.MUST");
    before.results[0].id = after.results[0].id = "RULE-R";
    before.results[0].revision = after.results[0].revision = "00000001";
    CHECK(compare(before, after).redefined == 0);
    CHECK(compare(before, after).lines[0] == "worse: RULE-R PASS -> FAIL.MUST: title of R");
    after.results[0].revision = "00000002";
    const auto comparison = compare(before, after);
    CHECK(comparison.redefined == 1);
    CHECK(exit_code(comparison) == 1);
    CHECK(comparison.lines ==
          std::vector<std::string>{"worse: RULE-R PASS -> FAIL.MUST (the rule changed): title of R",
                                   "1 worse, 0 better, 0 new, 0 gone, 0 same; 1 of the worse and better by a rule or "
                                   "case that changed"});
    // Results of a suite that did not tell.
    before.results[0].revision.clear();
    CHECK(compare(before, after).redefined == 0);
    CHECK(compare(after, after).redefined == 0);
}

TEST_CASE("Compare: hostile text is shown, not passed on") {
    auto run = run_of(Verdict::fail);
    run.results[0].id = run.results[0].title = samples::hostile();
    const auto lines = compare(Results{}, run).lines;
    REQUIRE(lines.size() == 2);
    for (const char c : lines[0]) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
}

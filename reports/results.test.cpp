// SPDX-License-Identifier: GPL-2.0-or-later
// What a run as a whole means: exit code, coverage, the verdict on each requirement.
#include "reports/results.hpp"

#include "catch2.hpp"
#include "reports/failure.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;
using samples::requirement;
using samples::result;

namespace {

Results run_of(std::initializer_list<Verdict> verdicts) {
    Results run;
    for (const auto verdict : verdicts) run.results.push_back(result("R", verdict, "A-1-01"));
    return run;
}

Verdict rolled_up(Results run) {
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1")};
    roll_up(run, catalogue);
    return run.requirements.at(0).verdict;
}

}  // namespace

TEST_CASE("Verdicts: each name reads back, nothing else does") {
    for (int i = 0; i <= static_cast<int>(Verdict::na); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        CHECK(verdict_of(name(verdict)) == verdict);
    }
    CHECK(name(Verdict::inconc) == "INCONC");
    CHECK_FALSE(verdict_of("fail"));
    CHECK_FALSE(verdict_of(""));
}

TEST_CASE("Reasons for NA: each name reads back, the empty one does not") {
    for (int i = 1; i <= static_cast<int>(NotJudged::inspection); ++i) {
        const auto reason = static_cast<NotJudged>(i);
        CHECK(not_judged_of(name(reason)) == reason);
    }
    CHECK(name(NotJudged::not_seen) == "not-seen");
    CHECK_FALSE(not_judged_of(""));
}

TEST_CASE("Called: this program with its version, or who called it") {
    Results run{.suite = "0.1.0", .command = {}};
    CHECK(called(run) == "ipoib-conform 0.1.0");
    run.command = {"ipoib-conform", "run", "rfc4391/6"};
    CHECK(called(run) == "ipoib-conform 0.1.0 run rfc4391/6");
    run.command = {"scripts/lab", "run", "two\nlines"};
    CHECK(called(run) == "scripts/lab run two lines (ipoib-conform 0.1.0)");
}

TEST_CASE("Exit code: 3 before 1 before 5 before 4, and WARN, NA and XFAIL never change it") {
    using enum Verdict;
    CHECK(exit_code(run_of({pass, warn, xfail, na})) == 0);
    CHECK(exit_code(run_of({pass, inconc, na})) == 5);
    CHECK(exit_code(run_of({pass, inconc, fail})) == 1);
    CHECK(exit_code(run_of({pass, xpass})) == 1);
    CHECK(exit_code(run_of({fail, inconc, error})) == 3);
    CHECK(exit_code(run_of({na, na})) == 4);
    CHECK(exit_code(run_of({})) == 4);
    CHECK(exit_code(run_of({warn})) == 0);
    CHECK(exit_code(run_of({xfail})) == 0);
    CHECK(exit_code(run_of({inconc, na})) == 5);
}

TEST_CASE("Exit code: a capture that broke off is an ERROR") {
    auto run = run_of({Verdict::pass, Verdict::fail});
    run.captures.push_back({"a.pcap", 247, 3, 1, {}, "frame 4, offset 412: length 99999"});
    CHECK(exit_code(run) == 3);
}

TEST_CASE("Exit code: a PASS that observed nothing is not judged") {
    auto run = run_of({Verdict::pass});
    run.results[0].observed = 0;
    CHECK(exit_code(run) == 4);
    CHECK(rolled_up(run) == Verdict::na);
}

TEST_CASE("Roll-up: a requirement names the first thousand results that judged it, each once") {
    const auto verdict = GENERATE(Verdict::pass, Verdict::na);
    Results run;
    for (int i = 0; i < 1001; ++i)
        for (int twice = 0; twice < 2; ++twice)
            run.results.push_back(result("R" + std::to_string(i), verdict, "A-1-01"));
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1")};
    roll_up(run, catalogue);
    const auto& by = run.requirements.at(0).by;
    REQUIRE(by.size() == 1000);
    CHECK(by.front() == "R0");
    CHECK(by.back() == "R999");
    run.results.back().verdict = Verdict::fail;
    roll_up(run, catalogue);
    CHECK(run.requirements.at(0).verdict == Verdict::fail);
}

TEST_CASE("Strict: WARN becomes FAIL.SHOULD, nothing else changes") {
    auto run = run_of({Verdict::warn, Verdict::pass, Verdict::inconc});
    apply_strict(run);
    CHECK(run.results[0].verdict == Verdict::fail);
    CHECK(run.results[0].fail_type == "FAIL.SHOULD");
    CHECK(run.results[1].verdict == Verdict::pass);
    CHECK(run.results[2].verdict == Verdict::inconc);
    CHECK(exit_code(run) == 1);
}

TEST_CASE("Roll-up: the worst of those that observed something wins") {
    using enum Verdict;
    CHECK(rolled_up(run_of({pass, fail, error})) == fail);
    CHECK(rolled_up(run_of({xfail, xpass, error})) == xpass);
    CHECK(rolled_up(run_of({warn, inconc, pass})) == inconc);
    CHECK(rolled_up(run_of({pass, xfail})) == xfail);
    CHECK(rolled_up(run_of({warn, xfail})) == warn);
    CHECK(rolled_up(run_of({pass, na})) == pass);
    CHECK(rolled_up(run_of({na})) == na);
}

TEST_CASE("Roll-up: an ERROR or INCONC that observed nothing counts only when nothing else does") {
    auto run = run_of({Verdict::error, Verdict::inconc, Verdict::pass});
    run.results[0].observed = run.results[1].observed = 0;
    CHECK(rolled_up(run) == Verdict::pass);
    run.results.pop_back();
    CHECK(rolled_up(run) == Verdict::error);
    run.results.erase(run.results.begin());
    CHECK(rolled_up(run) == Verdict::inconc);
}

TEST_CASE("Roll-up: a crash before the first assertion is not lost") {
    auto run = run_of({Verdict::fail});
    run.results[0].observed = 0;
    run.results[0].fail_type = "FAIL.CRASH";
    CHECK(rolled_up(run) == Verdict::fail);
}

TEST_CASE("Roll-up: a verdict reaches what the checked requirement implies, over several steps and round circles") {
    const std::vector<RequirementMeta> catalogue{
        requirement("A-1-01", "must", "1"), requirement("A-1-02", "must", "1", {"A-1-01"}),
        requirement("B-1-01", "must", "1", {"A-1-02", "B-1-01", "gone"}), requirement("C-1-01", "must", "1")};
    Results run;
    run.results = {samples::failure("RULE-B-1-01", "B-1-01"), result("RULE-A-1-01", Verdict::pass, "A-1-01")};
    roll_up(run, catalogue);
    REQUIRE(run.requirements.size() == 4);
    CHECK(run.requirements[0].verdict == Verdict::fail);
    CHECK(run.requirements[0].by == std::vector<std::string>{"RULE-B-1-01", "RULE-A-1-01"});
    CHECK(run.requirements[1].verdict == Verdict::fail);
    CHECK(run.requirements[2].verdict == Verdict::fail);
    CHECK(run.requirements[3].verdict == Verdict::na);
    CHECK(run.requirements[3].by.empty());
}

TEST_CASE("Roll-up: the general statement's verdict says nothing about its parts") {
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1"),
                                                 requirement("A-1-02", "must", "1", {"A-1-01"})};
    Results run;
    run.results = {samples::failure("RULE-A-1-01", "A-1-01")};
    roll_up(run, catalogue);
    CHECK(run.requirements[0].verdict == Verdict::fail);
    CHECK(run.requirements[1].verdict == Verdict::na);
}

TEST_CASE("Roll-up: the same rule over several captures is named once, its worst verdict counts") {
    Results run;
    run.captures.resize(2);
    run.results = {result("R", Verdict::pass, "A-1-01"), samples::failure("R", "A-1-01")};
    run.results[1].capture = 1;
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1")};
    roll_up(run, catalogue);
    CHECK(run.requirements[0].verdict == Verdict::fail);
    CHECK(run.requirements[0].by == std::vector<std::string>{"R"});
}

TEST_CASE("Roll-up: NA says what could have been seen before what cannot") {
    auto run = run_of({Verdict::na, Verdict::na});
    run.results[0].na = NotJudged::link;
    run.results[0].message = "no GRH here";
    run.results[1].message = "no ARP request";
    auto unchecked = requirement("A-2-01", "must", "2");
    unchecked.unjudged = NotJudged::inspection;
    unchecked.reason = "by reading the vendor's documents";
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1"), unchecked};
    roll_up(run, catalogue);
    CHECK(run.requirements[0].na == NotJudged::not_seen);
    CHECK(run.requirements[0].reason == "no ARP request");
    CHECK(run.requirements[1].na == NotJudged::inspection);
    CHECK(run.requirements[1].reason == "by reading the vendor's documents");
}

TEST_CASE("Roll-up: a case with several checks says of each what it found") {
    const std::vector<RequirementMeta> catalogue{
        requirement("A-1-01", "must", "1"), requirement("A-1-02", "must", "1", {"A-1-01"}),
        requirement("A-1-03", "should", "1"), requirement("A-1-04", "must", "1")};
    auto one = result("CASE", Verdict::fail, "A-1-02");
    one.checks = {"A-1-02", "A-1-03", "A-1-04"};
    one.parts = {{"A-1-02", Verdict::pass, NotJudged::none, 3},
                 {"A-1-03", Verdict::warn, NotJudged::none, 1},
                 {"A-1-04", Verdict::fail, NotJudged::none, 1}};
    Results run;
    run.results = {one};
    roll_up(run, catalogue);
    CHECK(run.requirements[0].verdict == Verdict::pass);
    CHECK(run.requirements[1].verdict == Verdict::pass);
    CHECK(run.requirements[2].verdict == Verdict::warn);
    CHECK(run.requirements[3].verdict == Verdict::fail);
    run.results[0].verdict = Verdict::warn;
    run.results[0].parts[2].verdict = Verdict::na;
    apply_strict(run);
    roll_up(run, catalogue);
    CHECK(run.requirements[2].verdict == Verdict::fail);
    CHECK(run.requirements[3].verdict == Verdict::na);
}

TEST_CASE("Roll-up: no verdict is worse than the requirement's own strength, whatever it follows from") {
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "should", "1"),
                                                 requirement("A-1-02", "may", "1"),
                                                 requirement("B-1-01", "must", "1", {"A-1-01", "A-1-02"})};
    Results run;
    run.results = {samples::failure("CASE", "B-1-01")};
    const auto verdicts = [&] {
        roll_up(run, catalogue);
        std::vector<Verdict> all;
        for (const auto& one : run.requirements) all.push_back(one.verdict);
        return all;
    };
    CHECK(verdicts() == std::vector{Verdict::warn, Verdict::pass, Verdict::fail});
    CHECK(run.requirements[0].reason == "CASE is FAIL.MUST; this statement advises only");
    CHECK(run.requirements[1].reason == "CASE is FAIL.MUST; this statement permits only");
    CHECK(run.requirements[2].reason.empty());
    // Without parts all checks share the verdict, and are no worse for that.
    run.results[0].checks = {"A-1-01", "A-1-02", "B-1-01"};
    CHECK(verdicts() == std::vector{Verdict::warn, Verdict::pass, Verdict::fail});
    apply_strict(run);
    CHECK(verdicts() == std::vector{Verdict::fail, Verdict::pass, Verdict::fail});
}

TEST_CASE("Roll-up: of many hosts no verdict is worse than the requirement's own strength either") {
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "should", "1"),
                                                 requirement("RFC4391-6-01", "must", "6", {"A-1-01"})};
    auto run = samples::merged({Verdict::fail, Verdict::pass});
    roll_up(run, catalogue);
    CHECK(run.hosts[0].requirements == std::vector{Verdict::warn, Verdict::fail});
    CHECK(run.hosts[1].requirements == std::vector{Verdict::pass, Verdict::pass});
}

TEST_CASE("Adding up: a note that counts counts of all, and the cases follow each other") {
    auto sum = samples::failure("R", "A-1-01"), more = sum;
    sum.message = "1 of 12 packets; first in frame 7: 1 of 2 is wrong";
    sum.notes = {"3 of 12 packets: flags", "1 of 12 packets: old"};
    sum.cases = {{"CASE-1", 1, {7}}};
    more.notes = {"2 of 12 packets: flags", "other"};
    more.cases = {{"CASE-2", 1, {9}}};
    add_up(sum, std::move(more));
    CHECK(sum.notes == std::vector<std::string>{"5 of 24 packets: flags", "1 of 24 packets: old", "other"});
    REQUIRE(sum.cases.size() == 2);
    CHECK(sum.cases[1].id == "CASE-2");
    CHECK(sum.message == "2 of 24 packets; first in frame 7: 1 of 2 is wrong");
    CHECK(sum.violations == 2);
    CHECK(counts_of(sum) == "2 violations in 24 observed");
}

TEST_CASE("Coverage: what the selectors left out is not counted") {
    Results run;
    run.results = {result("R", Verdict::pass, "A-1-01")};
    const std::vector<RequirementMeta> catalogue{requirement("A-1-01", "must", "1"), requirement("A-1-02", "must", "1"),
                                                 requirement("A-1-03", "must", "1")};
    roll_up(run, catalogue);
    CHECK(coverage_sentence(run) ==
          "judged 1 of 3 binding statements (3 MUST, 0 stated); 2 not judgeable here: 2 tester");
    run.selected = {"A-1-01", "A-1-03"};
    CHECK(coverage_sentence(run) ==
          "judged 1 of 2 binding statements (2 MUST, 0 stated); 1 not judgeable here: 1 tester");
    run.selected->clear();
    CHECK(coverage_sentence(run) == "judged 0 of 0 binding statements (0 MUST, 0 stated); 0 not judgeable here");
}

TEST_CASE("Coverage: binding are those of strength must, reasons are counted") {
    Results run;
    const auto add = [&](Verdict verdict, NotJudged na, const char* strength) {
        RequirementResult requirement;
        requirement.level = "stmt";
        requirement.strength = strength;
        requirement.force = na == NotJudged::inspection ? "STATED" : "MUST";
        requirement.verdict = verdict;
        requirement.na = na;
        run.requirements.push_back(requirement);
    };
    CHECK(coverage_sentence(run) == "judged 0 of 0 binding statements (0 MUST, 0 stated); 0 not judgeable here");
    add(Verdict::pass, NotJudged::none, "must");
    add(Verdict::xfail, NotJudged::none, "must");
    add(Verdict::pass, NotJudged::none, "should");
    add(Verdict::na, NotJudged::inspection, "may");
    CHECK(coverage_sentence(run) == "judged 2 of 2 binding statements (2 MUST, 0 stated); 0 not judgeable here");
    add(Verdict::na, NotJudged::inspection, "must");
    add(Verdict::na, NotJudged::not_seen, "must");
    add(Verdict::na, NotJudged::not_seen, "must");
    add(Verdict::inconc, NotJudged::none, "must");
    add(Verdict::error, NotJudged::none, "must");
    CHECK(coverage_sentence(run) ==
          "judged 2 of 7 binding statements (6 MUST, 1 stated); 3 not judgeable here: 2 not-seen, 1 inspection; 1 "
          "inconclusive; 1 in error");
}

// SPDX-License-Identifier: GPL-2.0-or-later
// A baseline excuses requirements, not whole results: a second fault of the same id is seen.
#include "catch2.hpp"
#include "reports/baseline_samples.hpp"
#include "reports/failure.hpp"

using namespace ipoib::reports;
using samples::entry, samples::error_of, samples::run_with, samples::today;

TEST_CASE("Baseline: what is written has all that an id violates, in any capture, and nothing that it keeps") {
    auto run = run_with(samples::two_faults());
    run.results[0].parts[1].verdict = Verdict::pass;
    run.results.push_back(samples::two_faults());
    CHECK_THAT(write_baseline(run), ContainsSubstring("\nrequirements = [\"A-1-01\", \"A-1-02\"]\nreason"));
}

TEST_CASE("Baseline: an entry excuses the requirements that it names; another violation of the id is a FAIL") {
    auto run = run_with(samples::two_faults());
    CHECK(apply(run, entry("R", "FAIL"), today).empty());
    const auto& result = run.results[0];
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.fail_type == "FAIL.STATED");
    CHECK(result.parts[0].verdict == Verdict::xfail);
    CHECK(result.parts[1].verdict == Verdict::fail);
    CHECK(concerned(result) == std::vector<std::string_view>{"A-1-02"});
    CHECK(result.message == "not excused: A-1-02; first in frame 9: Arp.hln is 6, expected 20");
    CHECK(result.frames == std::vector<std::uint64_t>{9, 7});
    CHECK(result.notes == std::vector<std::string>{"excused by the baseline: FAIL.MUST of A-1-01 (known)"});
    CHECK(exit_code(run) == 1);
    const std::vector<RequirementMeta> catalogue{samples::requirement("A-1-01", "must", "1"),
                                                 samples::requirement("A-1-02", "must", "1")};
    roll_up(run, catalogue);
    CHECK(run.requirements[0].verdict == Verdict::xfail);
    CHECK(run.requirements[1].verdict == Verdict::fail);

    run = run_with(samples::two_faults());
    CHECK(apply(run, entry("R", "FAIL", "requirements = [\"A-1-02\", \"A-1-01\"]\n"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(exit_code(run) == 0);
}

TEST_CASE("Baseline: several entries together excuse a result, each its own requirements, in any order") {
    for (const bool first : {true, false}) {
        auto run = run_with(samples::two_faults());
        auto both = entry("R", first ? "FAIL.MUST" : "FAIL.STATED", first ? "" : "requirements = [\"A-1-02\"]\n");
        both.expected.push_back(
            entry("R", first ? "FAIL.STATED" : "FAIL.MUST", first ? "requirements = [\"A-1-02\"]\n" : "").expected[0]);
        CHECK(apply(run, both, today).empty());
        CHECK(run.results[0].verdict == Verdict::xfail);
        CHECK(run.results[0].notes.size() == 2);
    }
}

TEST_CASE("Baseline: FAIL.MUST also excuses FAIL.STATED, and not the reverse") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL.STATED"), today).size() == 1);
    CHECK(run.results[0].verdict == Verdict::fail);
    run.results[0].fail_type = "FAIL.STATED";
    auto again = run;
    CHECK(apply(run, entry("R", "FAIL.MUST"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(apply(again, samples::whole("R", "FAIL.MUST"), today).size() == 1);
    CHECK(again.results[0].verdict == Verdict::xfail);
}

TEST_CASE("Baseline: an entry without requirements excuses all of the id, and a note says so") {
    auto run = run_with(samples::two_faults());
    CHECK(apply(run, samples::whole("R", "FAIL"), today) ==
          std::vector<std::string>{"B.toml:1: R: names no requirements, so it excuses whatever fails there"});
    CHECK(run.results[0].verdict == Verdict::xfail);
    run = run_with(samples::failure("R", "A-1-01"));
    run.results[0].fail_type = "FAIL.CRASH";
    CHECK(apply(run, samples::whole("R", "FAIL.CRASH"), today).empty());
}

TEST_CASE("Baseline: a requirement that passes now is XPASS, though another one still fails as expected") {
    auto run = run_with(samples::two_faults());
    run.results[0].parts[1] = {"A-1-02", Verdict::pass, NotJudged::none, 2, {}};
    auto gone = run;
    CHECK(apply(run, entry("R", "FAIL", "requirements = [\"A-1-01\", \"A-1-02\"]\n"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xpass);
    CHECK(run.results[0].message == "A-1-02 passes, although FAIL is expected (B.toml:1: R); remove it from the entry");
    CHECK(run.results[0].parts[0].verdict == Verdict::xfail);
    CHECK(run.results[0].parts[1].verdict == Verdict::xpass);
    // What fails and is not excused goes before it.
    CHECK(apply(gone, entry("R", "FAIL", "requirements = [\"A-1-02\"]\n"), today).empty());
    CHECK(gone.results[0].verdict == Verdict::fail);
    CHECK(gone.results[0].parts[1].verdict == Verdict::xpass);
}

TEST_CASE("Baseline: advice that is not kept is left when only the violation is excused") {
    auto one = samples::two_faults();
    one.parts[1] = {"A-1-02", Verdict::warn, NotJudged::none, 2, {}};
    auto run = run_with(one), strict = run_with(one);
    CHECK(apply(run, entry("R", "FAIL"), today).empty());
    CHECK(run.results[0].verdict == Verdict::warn);
    apply_strict(strict);
    CHECK(apply(strict, entry("R", "FAIL"), today).empty());
    CHECK(strict.results[0].verdict == Verdict::fail);
    CHECK(strict.results[0].fail_type == "FAIL.SHOULD");
}

TEST_CASE("Baseline: requirements that do not exist, are there twice or cannot be excused are refused") {
    const std::string one = "[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\n";
    CHECK_THAT(error_of(one + "requirements = [\"A-9-99\"]\n"),
               ContainsSubstring("B.toml:5: there is no requirement \"A-9-99\""));
    CHECK_THAT(error_of(one + "requirements = []\n"), ContainsSubstring("B.toml:5: requirements must be a list"));
    CHECK_THAT(error_of(one + "requirements = \"A-1-01\"\n"), ContainsSubstring("B.toml:5: requirements must be a"));
    CHECK_THAT(error_of(one + "requirements = [1]\n"), ContainsSubstring("B.toml:5: a requirement must be a string"));
    CHECK_THAT(error_of(one + "requirements = [\"A-1-01\", \"A-1-01\"]\n"),
               ContainsSubstring("B.toml:5: A-1-01 is there twice"));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"FAIL.CRASH\"\nreason = \"x\"\n"
                        "requirements = [\"A-1-01\"]\n"),
               ContainsSubstring("B.toml:5: FAIL.CRASH is of the whole case"));
    const auto two = [&](const char* first, const char* second) {
        const auto named = [&](const char* id) { return one + "requirements = [\"" + id + "\"]\n"; };
        return error_of(named(first) + named(second));
    };
    CHECK(two("A-1-01", "A-1-02") == "read");
    CHECK_THAT(two("A-1-01", "A-1-01"), ContainsSubstring("B.toml:6: R has this verdict in line 1 already"));
    CHECK_THAT(error_of(one + "requirements = [\"A-1-01\"]\n" + one),
               ContainsSubstring("B.toml:6: R has this verdict in line 1 already"));
}

// SPDX-License-Identifier: GPL-2.0-or-later
// A baseline excuses what it names, contradicts what passes, and refuses to be vague.
#include "reports/baseline.hpp"

#include "base/atomic_file.hpp"
#include "catch2.hpp"
#include "reports/baseline_samples.hpp"
#include "temporary_folder.hpp"

using namespace ipoib;
using namespace ipoib::reports;
using samples::entry, samples::error_of, samples::run_with, samples::today;
using namespace std::chrono_literals;

TEST_CASE("Baseline: all members are read") {
    const auto baseline =
        entry("R", "FAIL.MUST", "expires = 2027-01-31\nwhen = { driver = \"mlx5\", kernel = \"6.1\" }\n");
    REQUIRE(baseline.expected.size() == 1);
    const auto& expected = baseline.expected[0];
    CHECK(expected.id == "R");
    CHECK(expected.verdict == "FAIL.MUST");
    CHECK(expected.reason == "known");
    CHECK(expected.reference == "BUG-1");
    CHECK(expected.expires == std::chrono::year_month_day{2027y, std::chrono::January, 31d});
    CHECK(expected.when == std::vector<std::pair<std::string, std::string>>{{"driver", "mlx5"}, {"kernel", "6.1"}});
    CHECK(expected.line == 1);
}

TEST_CASE("Baseline: an empty file excuses nothing") {
    const auto loaded = parse_baseline("# nothing\n", "B.toml", samples::known_ids);
    REQUIRE(loaded);
    CHECK(loaded->expected.empty());
}

TEST_CASE("Baseline: an id that there is not is refused, and the one that was meant is told") {
    CHECK(samples::error_of("[[expected]]\nid = 'R-1-O2'\nverdict = 'FAIL'\nreason = 'x'\n") ==
          "B.toml:2: there is no rule and no case \"R-1-O2\"; did you mean 'R-1-02'?");
    CHECK(samples::error_of("[[expected]]\nid = 'R'\nverdict = 'FAIL'\nraeson = 'x'\nreason = 'y'\n") ==
          "B.toml:4: unknown key \"raeson\"; did you mean 'reason'?");
}

TEST_CASE("Baseline: a matching FAIL becomes XFAIL with reference and reason") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(run.results[0].fail_type.empty());
    CHECK(run.results[0].reference == "BUG-1");
    CHECK_THAT(run.results[0].message, ContainsSubstring("Reserved is 0xabcd") && ContainsSubstring("known"));
    CHECK(exit_code(run) == 0);
}

TEST_CASE("Baseline: a PASS that has an entry becomes XPASS and says so") {
    auto run = run_with(samples::result("R", Verdict::pass, "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xpass);
    CHECK_THAT(run.results[0].message,
               ContainsSubstring("passes, although FAIL is expected") && ContainsSubstring("B.toml:1"));
    CHECK(exit_code(run) == 1);
}

TEST_CASE("Baseline: a rule that still fails in one capture may pass in another") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    run.captures.resize(2);
    run.results.push_back(samples::result("R", Verdict::pass, "A-1-01"));
    run.results[1].capture = 1;
    CHECK(apply(run, entry("R", "FAIL"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(run.results[1].verdict == Verdict::pass);
}

TEST_CASE("Baseline: of two entries for an id the one that excuses keeps the other from contradicting") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    run.captures.resize(2);
    run.results.push_back(samples::result("R", Verdict::pass, "A-1-01"));
    run.results[1].capture = 1;
    auto both = entry("R", "FAIL.CRASH");
    both.expected.push_back(entry("R", "FAIL").expected[0]);
    CHECK(apply(run, both, today).size() == 1);
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(run.results[1].verdict == Verdict::pass);
}

TEST_CASE("Baseline: a crash is excused only by name") {
    for (const auto* verdict : {"FAIL", "FAIL.MUST", "WARN", "FAIL.SHOULD"}) {
        auto run = run_with(samples::failure("R", "A-1-01"));
        run.results[0].fail_type = "FAIL.CRASH";
        CAPTURE(verdict);
        CHECK(apply(run, entry("R", verdict), today).size() == 1);
        CHECK(run.results[0].verdict == Verdict::fail);
    }
    auto run = run_with(samples::failure("R", "A-1-01"));
    run.results[0].fail_type = "FAIL.CRASH";
    CHECK(apply(run, entry("R", "FAIL.CRASH"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
}

TEST_CASE("Baseline: WARN is excused by WARN, also when strict made a FAIL of it") {
    auto run = run_with(samples::result("R", Verdict::warn, "A-1-01"));
    CHECK(apply(run, entry("R", "WARN"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    run = run_with(samples::result("R", Verdict::warn, "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL"), today).size() == 1);
    CHECK(run.results[0].verdict == Verdict::warn);
    apply_strict(run);
    CHECK(apply(run, entry("R", "WARN"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
}

TEST_CASE("Baseline: an entry excuses through its last day, not a day longer") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL", "expires = 2026-06-15\n"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    run = run_with(samples::failure("R", "A-1-01"));
    const auto notes = apply(run, entry("R", "FAIL", "expires = 2026-06-14\n"), today);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "B.toml:1: R: expired on 2026-06-14");
    CHECK(run.results[0].verdict == Verdict::fail);
    REQUIRE(run.results[0].notes.size() == 1);
    CHECK_THAT(run.results[0].notes[0], ContainsSubstring("excused this until 2026-06-14"));
    CHECK(exit_code(run) == 1);
}

TEST_CASE("Baseline: an entry applies only to a DUT with its facts") {
    auto run = run_with(samples::failure("R", "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL", "when = { driver = \"hfi1\" }\n"), today).size() == 1);
    CHECK(run.results[0].verdict == Verdict::fail);
    CHECK(apply(run, entry("R", "FAIL", "when = { driver = \"mlx5\", bios = \"1\" }\n"), today).size() == 1);
    CHECK(run.results[0].verdict == Verdict::fail);
    CHECK(apply(run, entry("R", "FAIL", "when = { driver = \"mlx5\", kernel = \"6.1\" }\n"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
}

TEST_CASE("Baseline: on many hosts an entry asks each host's own DUT") {
    auto run = samples::merged({Verdict::fail, Verdict::fail, Verdict::pass, std::nullopt});
    const std::string id = "IPOIB-4391-6-VAL-001", of_second = "when = { guid = \"of n2\" }\n";
    CHECK(apply(run, entry(id, "FAIL", of_second), today).empty());
    CHECK(run.results[0].verdict == Verdict::fail);
    CHECK(run.results[2].verdict == Verdict::xfail);
    CHECK(run.results[4].verdict == Verdict::pass);
    CHECK(apply(run, entry(id, "FAIL", "when = { guid = \"of n9\" }\n"), today) ==
          std::vector<std::string>{"B.toml:1: " + id + ": does not apply: the DUT's guid is not \"of n9\""});
    // Without facts it is about all of them, and contradicted only where it excuses nothing on any.
    CHECK(apply(run, entry(id, "FAIL"), today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(run.results[4].verdict == Verdict::pass);
}

TEST_CASE("Baseline: what excuses on one host does not keep an entry for another from being contradicted") {
    auto run = samples::merged({Verdict::fail, Verdict::pass});
    auto both = entry("IPOIB-4391-6-VAL-001", "FAIL", "when = { guid = \"of n1\" }\n");
    both.expected.push_back(entry("IPOIB-4391-6-VAL-001", "FAIL", "when = { guid = \"of n2\" }\n").expected[0]);
    CHECK(apply(run, both, today).empty());
    CHECK(run.results[0].verdict == Verdict::xfail);
    CHECK(run.results[2].verdict == Verdict::xpass);
}

TEST_CASE("Baseline: an entry that does not occur, is NA or fails otherwise is listed") {
    auto run = run_with(samples::result("R", Verdict::na, "A-1-01"));
    CHECK(apply(run, entry("R", "FAIL"), today) == std::vector<std::string>{"B.toml:1: R: was not judged (NA)"});
    CHECK(apply(run, entry("S", "FAIL"), today) == std::vector<std::string>{"B.toml:1: S: did not occur in this run"});
    run.results[0] = samples::result("R", Verdict::error, "A-1-01");
    CHECK(apply(run, entry("R", "FAIL"), today) ==
          std::vector<std::string>{"B.toml:1: R: FAIL is expected of A-1-01, the verdict is ERROR"});
    CHECK(run.results[0].verdict == Verdict::error);
}

TEST_CASE("Baseline: unknown keys, wrong types and missing members name file and line") {
    CHECK_THAT(error_of("colour = 1\n"), ContainsSubstring("B.toml:1: unknown key \"colour\""));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\nuntil = 1\n"),
               ContainsSubstring("B.toml:5: unknown key \"until\""));
    CHECK_THAT(error_of("[[expected]]\nid = 7\nverdict = \"FAIL\"\nreason = \"x\"\n"),
               ContainsSubstring("B.toml:2: id must be a string"));
    CHECK_THAT(error_of("\n[[expected]]\nverdict = \"FAIL\"\nreason = \"x\"\n"),
               ContainsSubstring("B.toml:2: an entry needs an id"));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"ERROR\"\nreason = \"x\"\n"),
               ContainsSubstring("B.toml:3: verdict must be one of FAIL, FAIL.MUST"));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\nexpires = \"soon\"\n"),
               ContainsSubstring("B.toml:5: expires must be a date"));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\nwhen = { mtu = 1 }\n"),
               ContainsSubstring("B.toml:5: when.mtu must be a string"));
    CHECK_THAT(error_of("[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\nwhen = 1\n"),
               ContainsSubstring("B.toml:5: when must be a table"));
    CHECK_THAT(error_of("expected = 1\n"), ContainsSubstring("B.toml:1: expected must be written [[expected]]"));
    CHECK_THAT(error_of("[[expected]\n"), ContainsSubstring("B.toml:1: "));
}

TEST_CASE("Baseline: an empty reason is refused and asked for, all of them at once") {
    const auto error = error_of(
        "[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \" \"\n[[expected]]\nid = \"S\"\nverdict = \"FAIL\"\n");
    CHECK_THAT(error, ContainsSubstring("B.toml:4: the reason of R is empty: say why") &&
                          ContainsSubstring("B.toml:5: the reason of S is empty"));
}

TEST_CASE("Baseline: two entries for the same id, verdict and facts are refused") {
    const std::string one = "[[expected]]\nid = \"R\"\nverdict = \"FAIL\"\nreason = \"x\"\n";
    CHECK_THAT(error_of(one + one), ContainsSubstring("B.toml:5: R has this verdict in line 1 already"));
    CHECK(error_of(one + one + "when = { driver = \"a\" }\n") == "read");
}

TEST_CASE("Baseline: hostile files are refused without a crash") {
    CHECK_THAT(error_of(samples::hostile()), ContainsSubstring("B.toml:"));
    CHECK_THAT(error_of("a = " + std::string(100'000, '[')), ContainsSubstring("B.toml:"));
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "k" + std::to_string(i) + " = 1\n";
    CHECK_THAT(error_of(many), ContainsSubstring("and 950 more"));
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "B.toml", std::string(2U << 20U, '#')).empty());
    CHECK_THAT(load_baseline(folder / "B.toml", samples::known_ids).error, ContainsSubstring("larger than"));
    CHECK_THAT(load_baseline(folder / "none", samples::known_ids).error, ContainsSubstring("cannot be opened"));
}

TEST_CASE("Baseline: text that is not ASCII is read as it is, also where toml++ would stumble over it") {
    const auto loaded = parse_baseline(
        "# \xc2\xa7 ~\n[[expected]]\nid = 'R'\nverdict = \"FAIL\"\nreason = \"\"\"\\\n\xc2\xa7 6 ~ \xe2\x82\xac "
        "~7e\"\"\"\n"
        "when = { \"\xc3\xa9\" = '\xc3\xa9~' }\n",
        "B.toml", samples::known_ids);
    REQUIRE(loaded.error.empty());
    CHECK(loaded->expected[0].reason == "\xc2\xa7 6 ~ \xe2\x82\xac ~7e");
    CHECK(loaded->expected[0].when == std::vector<std::pair<std::string, std::string>>{{"\xc3\xa9", "\xc3\xa9~"}});
    CHECK(error_of("\xef\xbb\xbf# nothing\n") == "read");
    CHECK_THAT(error_of("\n\xc2\xa7 = 1\n"), ContainsSubstring("B.toml:2: "));
    CHECK_THAT(error_of("a = 1 \xcc\xaa\n"), ContainsSubstring("B.toml:1: "));
    CHECK_THAT(error_of("\"\xc3\xa9\" = 1\n"), ContainsSubstring("unknown key \"\xc3\xa9\""));
}

TEST_CASE("Baseline: what is written names each failure once, and loads when its reasons are filled in") {
    auto run = samples::every_verdict();
    run.results.push_back(run.results[0]);
    run.results.push_back(samples::failure("crash \"quoted\" \x01", "A-1-01"));
    run.results.back().fail_type = "FAIL.CRASH";
    run.results.back().title = "line\nbreak \x1b";
    auto text = write_baseline(run);
    CHECK_THAT(error_of(text), ContainsSubstring("the reason of RULE-RFC4391-6-02 is empty"));
    for (auto at = text.find("reason = \"\""); at != std::string::npos; at = text.find("reason = \"\""))
        text.insert(at + 10, "known");
    const auto loaded = parse_baseline(text, "B.toml", samples::known_ids);
    REQUIRE(loaded.error.empty());
    REQUIRE(loaded->expected.size() == 2);
    CHECK(loaded->expected[0].id == "RULE-RFC4391-6-02");
    CHECK(loaded->expected[1].verdict == "FAIL.CRASH");
    CHECK(loaded->expected[1].id == run.results.back().id);
    CHECK(loaded->expected[0].requirements == std::vector<std::string>{"RFC4391-6-02"});
    CHECK(loaded->expected[1].requirements.empty());
    CHECK(apply(run, *loaded, today).empty());
    for (const auto& result : run.results) CHECK(result.verdict != Verdict::fail);
}

TEST_CASE("Baseline: a key of very many parts is refused before it is read") {
    const auto any = [](std::string_view) { return std::optional<std::string>{}; };
    const KnownIds is_known{.requirement = any, .judge = any};
    std::string dots = "a";
    for (int i = 0; i < 150'000; ++i) dots += i % 2 ? ".a" : " . \"a.#'b\"";
    for (const auto& text : {"\n" + dots + " = 1\n", "\n[" + dots + "]\n", "\n[[" + dots + "]]\n",
                             "\nx = [\"\"\"#\"\"\", {" + dots + " = 1}]\n"}) {
        const auto read = parse_baseline(text, "file", is_known);
        REQUIRE_FALSE(read);
        CHECK(read.error == "file:2: a key of more than 8 parts");
    }
    // Dots that are no part of a key.
    CHECK(parse_baseline("# " + std::string(100, '.') + "\n", "file", is_known));
    const auto read = parse_baseline(
        "x = \"" + std::string(100, '.') + "\" # '''\ny = '''\n" + std::string(100, '.') + "'''\n", "file", is_known);
    CHECK(read.error.find("parts") == std::string::npos);
}

TEST_CASE("Baseline: what is not UTF-8 is no TOML, in a comment neither") {
    const std::string latin1 = "# gr\xfc\xdf dich\n", within = "[[expected]]\nid = \"a\xff\"\n";
    CHECK(error_of(latin1) == "B.toml:1: this is no UTF-8, which TOML is written in");
    CHECK(error_of(within) == "B.toml:2: this is no UTF-8, which TOML is written in");
    CHECK(error_of("# gr\xc3\xbc\xc3\x9f dich\n") == "read");
}

TEST_CASE("Baseline: a tilde that is written as an escape is one") {
    const auto reason = [](const std::string& written) {
        const auto loaded = parse_baseline("[[expected]]\nid = 'R'\nverdict = \"FAIL\"\nreason = " + written + "\n",
                                           "B.toml", samples::known_ids);
        return loaded ? loaded->expected[0].reason : loaded.error;
    };
    CHECK(reason(R"("\u007e41 \U0000007E7e")") == "~41 ~7e");
    CHECK(reason(R"("\\u007e41")") == R"(\u007e41)");
    CHECK(reason(R"('\u007e41')") == R"(\u007e41)");
    CHECK(reason("\"\"\"\n\\\"\\u007e41\"\"\"") == "\"~41");
}

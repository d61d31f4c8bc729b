// SPDX-License-Identifier: GPL-2.0-or-later
// The terminal report shows what was judged, fits the terminal and sends it nothing to obey.
#include "reports/table.hpp"

#include <sstream>

#include "base/utf8.hpp"
#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib;
using namespace ipoib::reports;

namespace {

std::size_t widest(const std::string& text) {
    std::istringstream lines(text);
    std::size_t most = 0;
    for (std::string line; std::getline(lines, line);) most = std::max(most, columns(line));
    return most;
}

}  // namespace

TEST_CASE("Table: head, coverage, sections, findings and counts, in this order") {
    const auto text = to_table(samples::every_verdict());
    std::size_t at = 0;
    for (const auto* part : {"ipoib-conform 0.1.0 check a.pcap",
                             "a.pcap: link type 247 (InfiniBand), 43 packets, 21 of them IPoIB",
                             "note: the last record is cut",
                             "dut: vendor Example",
                             "judged 4 of 7 binding statements (7 MUST, 0 stated); 1 not judgeable here: 1 not-seen",
                             "RFC4391 section 5\n",
                             "  XFAIL  RFC4391-5-01",
                             "RFC4391 section 6\n",
                             "  PASS   RFC4391-6-01",
                             "[21 observed]",
                             "  FAIL   RFC4391-6-02",
                             "RFC4391 section 9.1.1\n",
                             "  NA     not-seen",
                             "FAIL.MUST RULE-RFC4391-6-02",
                             "1 violation in 12 observed",
                             "Reserved is 0xabcd",
                             "RFC4391-6-02 (RFC4391 section 6, MUST): statement",
                             "    frame 7 octet 10: Encap.Reserved: expected 0, actual 0xabcd",
                             "evidence: evidence/6-02.pcapng",
                             "XPASS RULE-RFC4391-5-02",
                             "ERROR IPOIB-",
                             "INCONC IPOIB-",
                             "WARN RULE-RFC4391-9.1.1-01-arp",
                             "1 FAIL, 1 XPASS, 1 ERROR, 1 INCONC, 1 WARN, 1 XFAIL, 1 PASS, 1 NA\n"}) {
        CAPTURE(part, text);
        const auto found = text.find(part, at);
        REQUIRE(found != std::string::npos);
        at = found;
    }
}

TEST_CASE("Table: colours only when asked") {
    TableOptions options;
    CHECK(to_table(samples::every_verdict(), options).find('\x1b') == std::string::npos);
    options.colour = true;
    CHECK_THAT(to_table(samples::every_verdict(), options), ContainsSubstring("\x1b[31;1mFAIL"));
}

TEST_CASE("Table: quiet has the failures, the coverage and the counts only") {
    TableOptions options;
    options.quiet = true;
    const auto text = to_table(samples::every_verdict(), options);
    CHECK(text.starts_with("FAIL.MUST RULE-RFC4391-6-02"));
    CHECK(text.find("RULE-RFC4391-6-01") == std::string::npos);
    CHECK(text.find("WARN RULE") == std::string::npos);
    CHECK_THAT(text, ContainsSubstring("judged 4 of 7 binding statements (7 MUST, 0 stated)") &&
                         ContainsSubstring("1 FAIL, 1 XPASS"));
    Results good;
    good.results = {samples::result("R", Verdict::pass, "A-1-01")};
    CHECK(to_table(good, options) == "rules and cases: 0 FAIL, 1 PASS\n");
}

TEST_CASE("Table: long statements and messages wrap at 100 columns") {
    auto run = samples::every_verdict();
    std::string words;
    for (int i = 0; i < 100; ++i) words += "word ";
    for (auto& requirement : run.requirements) requirement.statement = words;
    run.results[0].message = run.results[0].title = words;
    run.results[0].notes = run.captures[0].notes = {words};
    run.command.insert(run.command.end(), 40, "argument");
    CHECK(widest(to_table(run)) <= 100);
    run.results[0].details[0].actual = std::string(300, 'x');
    const auto text = to_table(run);
    CHECK_THAT(text, ContainsSubstring(std::string(300, 'x')));
}

TEST_CASE("Table: what keeps several cases from a verdict is told once, and they are named") {
    Results run;
    const auto add = [&run](const char* id, const char* message) {
        Result result{.id = id, .title = "A case"};
        result.verdict = Verdict::inconc;
        result.message = message;
        run.results.push_back(std::move(result));
    };
    add("C-1", "step \"One\": no answer");
    add("C-2", "IPv6: step \"Another\": no answer");
    add("C-3", "step \"One\": another answer");
    add("C-4", "no answer");
    const auto text = to_table(run);
    CHECK_THAT(text, ContainsSubstring("INCONC C-1 A case\n"));
    CHECK_THAT(text, ContainsSubstring("  for the same reason 2 more: C-2, C-4\n"));
    CHECK_THAT(text, !ContainsSubstring("INCONC C-2 A case\n"));
    CHECK_THAT(text, ContainsSubstring("INCONC C-3 A case\n"));
    CHECK_THAT(text, ContainsSubstring("4 INCONC"));
}

TEST_CASE("Table: of several captures the last lines say which one") {
    auto run = samples::every_verdict();
    const auto last_lines = [&run] {
        const auto text = to_table(run);
        return text.substr(text.find("\nfindings:\n"));
    };
    CHECK_THAT(last_lines(), ContainsSubstring(" RULE-RFC4391-6-02: "));
    run.captures.push_back({"folder/b.pcap", 247, 1, 1, {}, {}});
    run.results.push_back(run.results[0]);
    run.results.back().capture = 1;
    CHECK_THAT(last_lines(), ContainsSubstring(" RULE-RFC4391-6-02 in a.pcap: ") &&
                                 ContainsSubstring(" RULE-RFC4391-6-02 in b.pcap: "));
}

TEST_CASE("Table: without a roll-up there is a row per result, NA is one line per reason") {
    Results run;
    run.results = {samples::result("RULE-A", Verdict::pass, "A-1-01", 5), samples::result("B", Verdict::na, "A-1-01"),
                   samples::result("C", Verdict::na, "A-1-01"), samples::result("D", Verdict::na, "A-1-01")};
    run.results[3].na = NotJudged::link;
    const auto text = to_table(run);
    CHECK_THAT(text, ContainsSubstring("  PASS   RULE-A") && ContainsSubstring("title of RULE-A [5 observed]"));
    CHECK_THAT(text,
               ContainsSubstring("NA     link          1 result\n") && ContainsSubstring("not-seen      2 results\n"));
    CHECK(text.find("title of B") == std::string::npos);
}

TEST_CASE("Table: a verdict that was lessened says of which, and the cases of a rule have a line each") {
    const std::vector<RequirementMeta> catalogue{samples::requirement("A-1-01", "should", "1"),
                                                 samples::requirement("B-1-01", "must", "1", {"A-1-01"})};
    Results run;
    run.results = {samples::failure("RULE", "B-1-01")};
    run.results[0].cases = {{"CASE-1", 3, {7, 9}}, {"CASE-2", 1, {5}}};
    roll_up(run, catalogue);
    const auto text = to_table(run, {});
    CHECK_THAT(text, ContainsSubstring("WARN   A-1-01") && ContainsSubstring("advises only]"));
    CHECK_THAT(text, ContainsSubstring("\n  in CASE-1: frames 7, 9 and 1 more\n  in CASE-2: frame 5\n"));
}

TEST_CASE("Table: shows as many violations as asked and counts the rest") {
    auto run = samples::every_verdict();
    run.results[0].details.resize(100, run.results[0].details[0]);
    run.results[0].violations = 230;
    TableOptions options;
    options.violations = 3;
    CHECK_THAT(to_table(run, options), ContainsSubstring("    and 227 more\n"));
}

TEST_CASE("Table: a capture that broke off is shown, also quietly, and counted") {
    auto run = samples::every_verdict();
    run.captures[0].error = "frame 4, offset 412: length 99999";
    TableOptions options;
    options.quiet = true;
    CHECK_THAT(to_table(run, options),
               ContainsSubstring("ERROR a.pcap\n  frame 4, offset 412") && ContainsSubstring("2 ERROR"));
}

TEST_CASE("Table: nothing hostile reaches the terminal") {
    auto run = samples::every_verdict();
    const auto bad = samples::hostile();
    for (auto& result : run.results) result.id = result.title = result.message = result.evidence = bad;
    for (auto& requirement : run.requirements) requirement.statement = requirement.id = requirement.section = bad;
    run.results[0].details[0] = {0, 7, 10, bad, bad, bad, bad, bad};
    run.captures[0] = {bad, 1, 2, 3, {bad}, bad};
    run.dut = {{bad, bad}};
    const auto text = to_table(run);
    for (const char c : text) REQUIRE((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    CHECK(valid_utf8(text) == text);
}

TEST_CASE("Table: the same results give the same table") {
    CHECK(to_table(samples::every_verdict()) == to_table(samples::every_verdict()));
}

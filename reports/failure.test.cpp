// SPDX-License-Identifier: GPL-2.0-or-later
// Findings in words: what is shown, in which order, and that nothing hostile passes.
#include "reports/failure.hpp"

#include "base/utf8.hpp"
#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib;
using namespace ipoib::reports;

TEST_CASE("A requirement's line has id, section, force and statement") {
    RequirementResult requirement;
    requirement.id = "RFC4391-9.1.1-02";
    requirement.level = "must";
    requirement.strength = "must";
    requirement.section = "9.1.1";
    requirement.statement = "it holds";
    CHECK(requirement_line(requirement) ==
          "RFC4391-9.1.1-02 (RFC4391 section 9.1.1, stated (\"must\" in the text)): it holds");
    requirement.level = "stmt(code)";
    CHECK(force_of(requirement) == "stated");
    requirement.level = "MUST NOT";
    CHECK(force_of(requirement) == "MUST NOT");
    requirement.status = "informative";
    CHECK(force_of(requirement) == "MUST NOT, informative");
    requirement.level = "recommended";
    requirement.strength = "should";
    CHECK(force_of(requirement) == "advice (\"recommended\" in the text), informative");
    requirement.status = "standard";
    requirement.level = "stmt";
    requirement.strength = "may";
    CHECK(force_of(requirement) == "permission");
    requirement.id = "UDMC-01";
    requirement.section.clear();
    CHECK(place_of(requirement) == "UDMC");
}

TEST_CASE("What a result asks for is told up to twenty requirements, and the others are counted") {
    Results run;
    Result all;
    for (int i = 0; i < 23; ++i) all.checks.push_back("A-1-" + std::to_string(i));
    RequirementResult known;
    known.id = "A-1-19";
    known.statement = "it holds";
    run.requirements.push_back(known);
    const auto lines = demand_lines(Requirements(run), all);
    REQUIRE(lines.size() == 21);
    CHECK(lines.front() == "A-1-0");
    CHECK_THAT(lines[19], ContainsSubstring("A-1-19") && ContainsSubstring("it holds"));
    CHECK(lines.back() == "and 3 more requirements");
    all.checks.resize(20);
    CHECK(demand_lines(Requirements(run), all).size() == 20);
}

TEST_CASE("A violation's line has frame, octet, field, both values and who") {
    auto run = samples::every_verdict();
    const auto& detail = run.results[0].details[0];
    CHECK(violation_line(run, detail) ==
          "frame 7 octet 10: Encap.Reserved: expected 0, actual 0xabcd (0002c9020024f636 on fe80::/0xffff)");
    run.results[0].details[0].time = 1'160'000'000;
    CHECK(violation_line(run, detail).starts_with("frame 7 octet 10: "));
    run.captures[0].began = 1'000'000'000;
    CHECK(violation_line(run, detail).starts_with("frame 7 octet 10 at 0.160000 s: "));
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, {}});
    CHECK_THAT(violation_line(run, detail), ContainsSubstring("a.pcap frame 7"));
}

TEST_CASE("A violation's line is one line of bounded length whatever the values") {
    Results run;
    const Detail detail{0, 1, 2, samples::hostile(), std::string(100'000, 'x'), "a\nb", samples::hostile(), "\x1b[2J"};
    const auto line = violation_line(run, detail);
    CHECK(line.size() < 3000);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find('\x1b') == std::string::npos);
    CHECK(valid_utf8(line) == line);
}

TEST_CASE("An explanation shows as many violations as asked and counts the rest") {
    auto run = samples::every_verdict();
    auto& result = run.results[0];
    result.details.resize(100, result.details[0]);
    result.violations = 230;
    const auto text = explanation(run, Requirements(run), result, 2);
    CHECK_THAT(text, ContainsSubstring("Reserved is 0xabcd\nRFC4391-6-02 (RFC4391 section 6, MUST): statement"));
    CHECK_THAT(text, ContainsSubstring("\nand 228 more"));
}

TEST_CASE("What did not come is violated in no frame") {
    Result result;
    result.details = {{.capture = 0, .expected = "a join of ff12::1", .actual = "the DUT sent nothing"}};
    CHECK(first_violation(result) == "the DUT sent nothing, expected a join of ff12::1");
}

TEST_CASE("A cause is the same for cases that differ in what the tester chose") {
    const auto cause = [](const char* message) {
        Result result;
        result.message = message;
        return cause_of(result);
    };
    const auto first =
        cause("step \"One\": no UDP datagram to 239.107.16.1 port 39214 within 5 s; the DUT sent frame 3");
    CHECK(first == cause("IPv6: step \"Another\": no UDP datagram to ff15::1:2 port 7 within 5 s"));
    CHECK(first != cause("step \"One\": no UDP datagram to 239.107.16.1 port 39214 within 3 s"));
    CHECK(cause("the DUT maps 239.1.16.1 to ff12:401b:ffff::ef01:1001, not its own") ==
          cause("the DUT maps 239.2.16.1 to ff12:401b:ffff::ef02:1001, not its own"));
    CHECK(cause("the SA answers 0x0200") != cause("the SA answers 0x0700"));
    CHECK(cause("4.19.7 and 12") != cause("4.19.8 and 12"));
    CHECK(cause("").empty());
}

TEST_CASE("A rule's violations under run name the case of each, and its frames") {
    auto run = samples::every_verdict();
    auto& result = run.results[0];
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, {}});
    result.details[0].in_case = "IPOIB-4391-6-VAL-001";
    CHECK(violation_line(run, result.details[0]).starts_with("IPOIB-4391-6-VAL-001 frame 7 octet 10: "));
    CHECK(first_violation(result) == "first in IPOIB-4391-6-VAL-001, frame 7: Encap.Reserved is 0xabcd, expected 0");
    result.violations = 9;
    result.details[0].in_case.clear();
    CHECK(packets_message(result) == "9 of 12 packets; first in frame 7: Encap.Reserved is 0xabcd, expected 0");
    result.cases = {{"IPOIB-4391-6-VAL-001", 1, {7}}, {"IPOIB-4391-9.4-VAL-001", 8, {3, 5}}};
    CHECK(case_lines(result) == std::vector<std::string>{"in IPOIB-4391-6-VAL-001: frame 7",
                                                         "in IPOIB-4391-9.4-VAL-001: frames 3, 5 and 6 more"});
    CHECK_THAT(explanation(run, Requirements(run), result, 1),
               ContainsSubstring("\nin IPOIB-4391-6-VAL-001: frame 7\n"));

    // One that is broken everywhere does not fill the terminal.
    result.cases.resize(cases_told + 3, {"IPOIB-4391-9.4-VAL-001", 1, {3}});
    CHECK(case_lines(result).size() == cases_told + 1);
    CHECK(case_lines(result).back() == "and in 3 more cases");
    CHECK(case_lines(result, result.cases.size()).size() == cases_told + 3);
}

TEST_CASE("A result without a message still says something") {
    auto result = samples::failure("R", "A-1-01");
    result.message = " \n";
    CHECK(message_of(result) == "1 violation in 12 observed");
    result.violations = 0;
    CHECK(message_of(result) == "FAIL.MUST");
    auto na = samples::result("R", Verdict::na, "A-1-01");
    CHECK(why_not_judged(na) == "not-seen");
    na.message = "no ARP";
    CHECK(why_not_judged(na) == "not-seen: no ARP");
}

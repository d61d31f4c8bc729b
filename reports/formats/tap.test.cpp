// SPDX-License-Identifier: GPL-2.0-or-later
// TAP that any reader takes, whatever the results hold.
#include "catch2.hpp"
#include "reports/samples.hpp"

#include <regex>
#include <sstream>

using namespace ipoib::reports;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// A reader as strict as the text: a version, a plan, then points in order, nothing else but diagnostics.
void check_form(const std::string& text) {
    const auto lines = lines_of(text);
    REQUIRE(lines.size() >= 2);
    CHECK(lines[0] == "TAP version 13");
    const std::regex plan(R"(1\.\.(\d+)( # SKIP .*)?)"), point(R"((not )?ok (\d+) - .*)");
    std::smatch match;
    REQUIRE(std::regex_match(lines[1], match, plan));
    const auto planned = std::stoul(match[1]);
    std::size_t number = 0;
    for (std::size_t i = 2; i < lines.size(); ++i) {
        if (lines[i].starts_with("# ")) continue;
        CAPTURE(lines[i]);
        REQUIRE(std::regex_match(lines[i], match, point));
        REQUIRE(std::stoul(match[2]) == ++number);
    }
    CHECK(number == planned);
}

}  // namespace

TEST_CASE("TAP: every verdict") {
    const auto text = samples::written("tap", samples::every_verdict());
    check_form(text);
    CHECK_THAT(text, ContainsSubstring("not ok 1 - RULE-RFC4391-6-02"));
    CHECK_THAT(text, ContainsSubstring("# FAIL.MUST: "));
    CHECK_THAT(text, ContainsSubstring("expected 0, actual 0xabcd"));
    CHECK_THAT(text, ContainsSubstring("\nok 2 - RULE-RFC4391-6-01"));
    CHECK_THAT(text, ContainsSubstring("# WARN: the address is not stable"));
    CHECK_THAT(text, ContainsSubstring("# SKIP not-seen: no multicast"));
    CHECK_THAT(text, ContainsSubstring("# SKIP known: BUG-17"));
    for (const auto* bad : {"not ok 4 ", "not ok 5 ", "not ok 8 "}) CHECK_THAT(text, ContainsSubstring(bad));
}

TEST_CASE("TAP: nothing judged is skipped as a whole") {
    CHECK_THAT(samples::written("tap", {}), ContainsSubstring("1..0 # SKIP nothing was judged"));
}

TEST_CASE("TAP: a title is no directive") {
    auto run = samples::every_verdict();
    run.results[0].title = "x # SKIP not really";
    CHECK_THAT(samples::written("tap", run), ContainsSubstring(R"(x \# SKIP not really)"));
}

TEST_CASE("TAP: hostile text, many results, a capture that broke off") {
    auto run = samples::every_verdict();
    for (auto& result : run.results) result.id = result.title = result.message = result.reference = samples::hostile();
    run.results[0].details[0].actual = samples::hostile();
    check_form(samples::written("tap", run));
    const auto once = samples::every_verdict().results;
    while (run.results.size() < 10'000) run.results.insert(run.results.end(), once.begin(), once.end());
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, "frame 1, offset 24"});
    const auto text = samples::written("tap", run);
    check_form(text);
    CHECK(text.size() < 8'000'000);
    CHECK_THAT(text, ContainsSubstring("frame 1, offset 24"));
}

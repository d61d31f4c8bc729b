// SPDX-License-Identifier: GPL-2.0-or-later
// KTAP that the kernel's readers take, whatever the results hold.
#include "catch2.hpp"
#include "reports/samples.hpp"

#include <regex>
#include <sstream>

using namespace ipoib::reports;

namespace {

/// A reader as strict as ktap.rst: a version, a plan, tests in order, of which each may have such a text before it, two
/// blanks further in; diagnostics anywhere. The number of tests without subtests.
class Reader {
public:
    explicit Reader(const std::string& text) : stream_(text) { advance(); }
    std::size_t read(const std::string& indent = "") {
        REQUIRE(line_ == indent + "KTAP version 1");
        advance();
        skip(indent);
        std::smatch match;
        const std::regex plan(indent + R"(1\.\.(\d+)( # SKIP .*)?)");
        REQUIRE(std::regex_match(line_, match, plan));
        const auto planned = std::stoul(match[1]);
        advance();
        const std::regex point(indent + R"((not )?ok (\d+) [^#]*( # (SKIP|XFAIL|ERROR)( [^#]*)?)?)");
        std::size_t tests = 0;
        for (std::size_t number = 1; number <= planned; ++number) {
            skip(indent);
            const bool has_subtests = line_ == indent + "  KTAP version 1";
            tests += has_subtests ? read(indent + "  ") : 1;
            skip(indent);
            CAPTURE(line_);
            REQUIRE(std::regex_match(line_, match, point));
            REQUIRE(std::stoul(match[2]) == number);
            advance();
        }
        return tests;
    }
    [[nodiscard]] bool is_at_end() const { return is_over_; }

private:
    void advance() { is_over_ = !std::getline(stream_, line_); }
    void skip(const std::string& indent) {
        while (!is_over_ && line_.starts_with(indent + "# ")) advance();
    }
    std::istringstream stream_;
    std::string line_;
    bool is_over_ = false;
};

std::size_t tests_in(const std::string& text) {
    Reader reader{text};
    const auto tests = reader.read();
    CHECK(reader.is_at_end());
    return tests;
}

}  // namespace

TEST_CASE("KTAP: every verdict, a subtest for each section") {
    const auto run = samples::every_verdict();
    const auto text = samples::written("ktap", run);
    CHECK(tests_in(text) == run.results.size());
    CHECK_THAT(text, ContainsSubstring("\n  # FAIL.MUST: "));
    CHECK_THAT(text, ContainsSubstring("\n  not ok 1 RULE-RFC4391-6-02"));
    CHECK_THAT(text, ContainsSubstring(" # SKIP not-seen: no multicast"));
    CHECK_THAT(text, ContainsSubstring(" # XFAIL BUG-17"));
    CHECK_THAT(text, ContainsSubstring("  # Subtest: "));
}

TEST_CASE("KTAP: nothing judged is skipped as a whole") {
    CHECK(samples::written("ktap", {}).starts_with("KTAP version 1\n1..0 # SKIP nothing was judged\n"));
}

TEST_CASE("KTAP: hostile text, many results, a capture that broke off") {
    auto run = samples::every_verdict();
    run.results[0].title = "x # SKIP not really";
    CHECK(tests_in(samples::written("ktap", run)) == run.results.size());
    for (auto& result : run.results) result.id = result.title = result.message = result.reference = samples::hostile();
    run.results[0].details[0].actual = samples::hostile();
    CHECK(tests_in(samples::written("ktap", run)) == run.results.size());
    const auto once = samples::every_verdict().results;
    while (run.results.size() < 10'000) run.results.insert(run.results.end(), once.begin(), once.end());
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, "frame 1, offset 24"});
    const auto text = samples::written("ktap", run);
    CHECK(tests_in(text) == run.results.size() + 1);
    CHECK(text.size() < 8'000'000);
    CHECK_THAT(text, ContainsSubstring("frame 1, offset 24"));
}

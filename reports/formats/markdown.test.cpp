// SPDX-License-Identifier: GPL-2.0-or-later
// A job's summary says what is wrong, and stays small.
#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;

TEST_CASE("Job summary: counts, then what is wrong, the worst first") {
    const auto text = samples::written("markdown", samples::every_verdict());
    CHECK_THAT(text, ContainsSubstring("| FAIL | XPASS | ERROR | INCONC | WARN | XFAIL | PASS | NA |"));
    CHECK_THAT(text, ContainsSubstring("judged "));
    CHECK_THAT(text, ContainsSubstring("### FAIL.MUST RULE-RFC4391-6-02"));
    CHECK_THAT(text, ContainsSubstring("expected 0, actual 0xabcd"));
    CHECK_THAT(text, ContainsSubstring("DUT: vendor Example, driver mlx5"));
    CHECK(text.find("### FAIL") < text.find("### WARN"));
    CHECK(text.find("### PASS") == std::string::npos);
    CHECK_THAT(samples::written("markdown", {}), ContainsSubstring("Nothing was judged."));
}

TEST_CASE("Job summary: text from outside is text") {
    auto run = samples::every_verdict();
    run.results[0].message = "```\n# not a heading <script>";
    run.results[0].title = "<img src=x> | [link](x) `code`";
    const auto text = samples::written("markdown", run);
    CHECK_THAT(text, ContainsSubstring(R"(\<img src=x> \| \[link](x) \`code\`)"));
    // The block is not ended by what is in it.
    CHECK_THAT(text, ContainsSubstring("'''"));
    for (auto& result : run.results) result.id = result.title = result.message = samples::hostile();
    CHECK(samples::written("markdown", run).find('\0') == std::string::npos);
}

TEST_CASE("Job summary: ten thousand failures fit", "[size]") {
    auto run = samples::every_verdict();
    auto once = run.results.front();
    once.message = std::string(100'000, 'x');
    while (run.results.size() < 10'000) run.results.push_back(once);
    const auto text = samples::written("markdown", run);
    CHECK(text.size() < 1'000'000);
    CHECK_THAT(text, ContainsSubstring(" others"));
}

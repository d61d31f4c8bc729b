// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/documents/pages.hpp"

#include "catch2.hpp"
#include "reports/markdown.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::Verdict;

namespace {

/// A selftest of some cases, and what it saw of them.
struct WitnessedSelftest {
    std::vector<const Case*> cases;
    CaseStories stories{};
    SelftestOutcome outcome{};

    explicit WitnessedSelftest(std::initializer_list<std::string_view> ids) {
        for (const auto id : ids) cases.push_back(find_case(id));
        SelftestRun run{.cases = cases};
        run.witness = [this](const Mutant* mutant, const Case& one, const Recorder& recorder,
                             const reports::Result& result) { stories.take(mutant, one, recorder, result); };
        outcome = selftest(run);
    }
    [[nodiscard]] const Failure& failure(const Case& one, std::string_view mutant) const {
        const auto& failures = stories.of(one).failures;
        const auto found =
            std::ranges::find_if(failures, [&](const Failure& each) { return each.mutant->name == mutant; });
        REQUIRE(found != failures.end());
        return *found;
    }
    [[nodiscard]] std::string page(std::string_view id) const {
        for (const auto& page : case_pages(outcome, stories))
            if (page.file == std::string(id) + ".md") return page.text;
        return {};
    }
};

bool holds(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("Pages: the steps are those of the reference, each with what it judges") {
    const WitnessedSelftest run{"IPOIB-4391-6-INV-001"};
    const auto& steps = run.stories.of(*run.cases.front()).steps;
    REQUIRE(steps.size() == 13);
    CHECK(steps[0].title == "An ordinary echo request is answered");
    CHECK(steps[0].judges == std::vector<std::string_view>{"RFC4391-6-02"});
    CHECK(steps[1].judges == std::vector<std::string_view>{"RFC4391-6-03"});
    CHECK(steps[6].title == "IPv6: The DUT answers in IPv6");
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(steps[7 + i].title == "IPv6: " + steps[i].title);
        CHECK(steps[7 + i].judges == steps[i].judges);
    }
    CHECK(
        holds(run.page("IPOIB-4391-6-INV-001"), "1. An ordinary echo request is answered (RFC4391-6-02)\n2. An echo"));
}

TEST_CASE("Pages: a wrong field is told with its frame, the frames before it, and its header") {
    const WitnessedSelftest run{"IPOIB-4391-6-INV-001"};
    const auto& failure = run.failure(*run.cases.front(), "reserved-not-zero");
    CHECK(failure.verdict == Verdict::fail);
    CHECK(failure.what_is_wrong == "Encap.Reserved is 0x0100, expected 0x0000");
    CHECK(holds(failure.wrong_header, "Reserved               0x0100"));
    CHECK_FALSE(holds(failure.wrong_header, "DestQP"));
    REQUIRE(failure.frames.size() >= 2);
    const auto& wrong = failure.frames.back();
    CHECK(wrong.number == failure.wrong_frame);
    CHECK(wrong.sender == "DUT");
    CHECK(holds(wrong.text, "ICMP echo reply"));
    const auto& question = failure.frames[failure.frames.size() - 2];
    CHECK(question.sender == "tester");
    CHECK(holds(question.text, "ICMP echo request"));
    const auto page = run.page("IPOIB-4391-6-INV-001");
    CHECK(holds(page, "<- Encap.Reserved is 0x8000, expected 0x0000"));
    CHECK(holds(page, "ipoib-conform run IPOIB-4391-6-INV-001 --dut mutant:arp-reserved-not-zero\n"));
    CHECK(holds(page, "| `reserved-not-ignored` | stack |"));
}

TEST_CASE("Pages: silence is told with the frames of the step that waited") {
    const WitnessedSelftest run{"IPOIB-4391-9.1.1-INV-001"};
    const auto& failure = run.failure(*run.cases.front(), "flags-not-ignored");
    CHECK(failure.wrong_frame == 0);
    CHECK(failure.wrong_header.empty());
    // The question, and what the SA says of the DUT's membership in the group that it went to.
    REQUIRE(failure.frames.size() == 4);
    CHECK(failure.frames.front().sender == "tester");
    CHECK(holds(failure.frames.front().text, "ARP request"));
    CHECK(holds(failure.frames[1].text, "MCMemberRecord"));
}

TEST_CASE("Pages: of a long step the last frames are shown, and how many are not") {
    const WitnessedSelftest run{"IPOIB-4391-10-VAL-006"};
    const auto& failure = run.failure(*run.cases.front(), "no-trap-67");
    CHECK(failure.frames.size() == 12);
    CHECK(failure.left_out > 0);
    CHECK(failure.frames.front().number == failure.left_out + 1);
    CHECK(holds(run.page("IPOIB-4391-10-VAL-006"), "frames of the step before these"));
}

TEST_CASE("Pages: a case of the subnet administrator is set up and repeated as one") {
    const WitnessedSelftest run{"IPOIB-4391-5-INV-001"};
    const auto page = run.page("IPOIB-4391-5-INV-001");
    CHECK(holds(page, "It judges the subnet administrator."));
    CHECK(holds(page, "no IPoIB stack takes part"));
    CHECK(holds(page, "--dut sa --fabric simulated:sa-mutant=sa-any-mtu"));
}

TEST_CASE("Pages: the same suite gives the same pages") {
    const WitnessedSelftest first{"IPOIB-4391-10-VAL-007"}, again{"IPOIB-4391-10-VAL-007"};
    CHECK(first.page("IPOIB-4391-10-VAL-007") == again.page("IPOIB-4391-10-VAL-007"));
    CHECK(kill_matrix_page(first.outcome) == kill_matrix_page(again.outcome));
}

TEST_CASE("Pages: coverage names the cases, the reasons and what is open") {
    const auto page = coverage_page();
    CHECK(holds(page, "[IPOIB-4391-6-INV-001](../docs/cases/IPOIB-4391-6-INV-001.md)"));
    CHECK(holds(page, "construction: The broadcast-GID contains the P_Key"));
    const auto all = coverage();
    const auto open = std::ranges::count_if(all, &Coverage::is_open);
    std::ptrdiff_t marked = 0;
    for (auto at = page.find("**open: "); at != std::string::npos; at = page.find("**open: ", at + 1)) ++marked;
    CHECK(marked == open);
}

TEST_CASE("Markdown: what has a meaning there is escaped") {
    CHECK(reports::markdown::plain("a | b <c> *d* [e]") == "a \\| b \\<c> \\*d\\* \\[e]");
    CHECK(reports::markdown::code("a|b") == "`a\\|b`");
    CHECK(reports::markdown::row({"a", "", "c"}) == "| a | | c |\n");
    CHECK(reports::markdown::head({"a", "b"}) == "| a | b |\n|---|---|\n");
}

TEST_CASE("Markdown: paragraphs are broken at 120 columns, a longer word has its own line") {
    const std::string word(50, 'w'), longer(130, 'l');
    CHECK(reports::markdown::paragraph(word + ' ' + word + ' ' + word) == word + ' ' + word + '\n' + word + "\n\n");
    CHECK(reports::markdown::paragraph("a " + longer + " b", "> ") == "> a\n> " + longer + "\n> b\n\n");
    const std::string half(59, 'h');
    CHECK(reports::markdown::paragraph(half + "ii " + half) == half + "ii\n" + half + "\n\n");
    CHECK(reports::markdown::paragraph(half + "i " + half) == half + "i " + half + "\n\n");
}

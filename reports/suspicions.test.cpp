// SPDX-License-Identifier: GPL-2.0-or-later
// Suspicions are told by doubt and party, a few of them, and accuse nobody.
#include "reports/suspicions.hpp"

#include "catch2.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/samples.hpp"
#include "reports/table.hpp"

using namespace ipoib;
using namespace ipoib::reports;

namespace {

Suspicion suspicion(std::string doubt, std::string subject, std::string rule, std::uint64_t frame) {
    Suspicion one{.doubt = std::move(doubt),
                  .supposes = "the capture lacks frames",
                  .lacks = "an answer is missing",
                  .settled_by = "a capture at the port",
                  .assume = "whole=" + subject,
                  .rule = "RULE-" + rule,
                  .title = "title of " + rule,
                  .checks = {rule},
                  .count = 1};
    one.command = "ipoib-conform check a.pcap --assume " + one.assume;
    one.details = {{0, frame, 10, "GRH.DGID", "a join", "none", std::move(subject), "fe80::/0xffff"}};
    return one;
}

/// Every verdict, and as many doubts about as many parties.
Results with_suspicions(unsigned parties) {
    auto results = samples::every_verdict();
    for (unsigned i = 0; i < parties; ++i)
        results.suspicions.push_back(
            suspicion("lost frames", "000000000000000" + std::to_string(i), "RFC4391-10-08", 20 + i));
    return results;
}

}  // namespace

TEST_CASE("Suspicions: one doubt about one party is one group") {
    std::vector<Suspicion> all{
        suspicion("lost frames", "a", "RFC4391-10-08", 3), suspicion("another program", "a", "RFC4391-5-02", 5),
        suspicion("lost frames", "b", "RFC4391-10-08", 7), suspicion("lost frames", "a", "RFC4391-10-02", 9)};
    all[0].count = 4;
    all[3].assume = "whole=a,from-start=a";
    all[3].command = "the longer command";
    const auto groups = groups_of(all, {});
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].head == "lost frames: 5 frames of a on fe80::/0xffff, one doubt");
    CHECK(groups[0].count == 5);
    REQUIRE(groups[0].frames.size() == 3);
    CHECK(groups[0].frames[0] == "frame 3: RFC4391-10-08, title of RFC4391-10-08: GRH.DGID is none, expected a join");
    CHECK(groups[0].frames[2] == "and 3 more");
    CHECK(groups[0].innocent == "innocent if the capture lacks frames: an answer is missing");
    CHECK(groups[0].command == "the longer command");
    CHECK(groups[0].assume == "whole=a,from-start=a");
    CHECK(groups[1].head == "another program: 1 frame of a on fe80::/0xffff, one doubt");
    CHECK(rest_of(groups).empty());
    CHECK(groups_of({}, {}).empty());
}

TEST_CASE("Suspicions: a frame that two statements are about is one frame") {
    const std::vector<Suspicion> all{suspicion("lost frames", "a", "RFC4391-10-08", 3),
                                     suspicion("lost frames", "a", "RFC4391-10-02", 3)};
    const auto groups = groups_of(all, {});
    REQUIRE(groups.size() == 1);
    CHECK(groups[0].head == "lost frames: 1 frame of a on fe80::/0xffff, one doubt");
    CHECK(groups[0].frames.size() == 2);
}

TEST_CASE("Suspicions: captures and hosts are told apart") {
    std::vector<Suspicion> all{suspicion("lost frames", "a", "RFC4391-10-08", 3),
                               suspicion("lost frames", "a", "RFC4391-10-08", 3)};
    all[1].details.front().capture = 1;
    const std::vector<CaptureResult> captures{{.file = "a.pcap"}, {.file = "b.pcap"}};
    REQUIRE(groups_of(all, captures).size() == 2);
    CHECK(groups_of(all, captures)[1].head.ends_with("one doubt in b.pcap"));
    all[1] = all[0];
    all[1].host = "n1";
    REQUIRE(groups_of(all, captures).size() == 2);
    CHECK(groups_of(all, captures)[1].head.ends_with(" at n1"));
}

TEST_CASE("Suspicions: every report for people tells five, counts the rest, and accuses nobody") {
    const auto results = with_suspicions(7);
    CHECK(rest_of(groups_of(results.suspicions, results.captures)) == "2 more doubts about 2 frames");
    for (const auto& text : {to_table(results), samples::written("markdown", results), to_html(results, {}, ".")}) {
        CHECK_THAT(text, ContainsSubstring("1 frame of 0000000000000004 on"));
        CHECK_THAT(text, !ContainsSubstring("1 frame of 0000000000000005 on"));
        CHECK_THAT(text, ContainsSubstring("2 more doubts about 2 frames"));
        CHECK_THAT(text, ContainsSubstring("--assume whole=0000000000000000"));
        CHECK_THAT(text, !ContainsSubstring("violates"));
    }
    const auto text = to_table(results);
    CHECK(text.find("SUSPICION") > text.rfind("FAIL   RFC4391-6-02"));
}

TEST_CASE("Suspicions: an INCONC of doubts alone is told by them, in full") {
    auto results = with_suspicions(0);
    results.results.push_back(samples::result("RULE-RFC4391-10-08", Verdict::inconc, "RFC4391-10-08"));
    auto& inconc = results.results.back();
    inconc.message = "1 of 1 packet would break it";
    CHECK_FALSE(is_suspicion(results, inconc));
    CHECK_THAT(to_table(results), ContainsSubstring("INCONC RULE-RFC4391-10-08 title"));
    results.suspicions.push_back(suspicion("lost frames", "a", "RFC4391-10-08", 3));
    CHECK(is_suspicion(results, inconc));
    CHECK_THAT(to_table(results), !ContainsSubstring("INCONC RULE-RFC4391-10-08 title"));
}

TEST_CASE("Suspicions: they are read as they were written, and so is what a violation rests on") {
    auto results = with_suspicions(2);
    results.suspicions[1].details.front().assumed = {"whole", "from-start"};
    const auto text = to_json(results);
    const auto read = from_json(text, "a.json");
    REQUIRE(read);
    REQUIRE(read->suspicions.size() == 2);
    CHECK(read->suspicions[0].command == results.suspicions[0].command);
    CHECK(read->suspicions[1].details.front().assumed == results.suspicions[1].details.front().assumed);
    CHECK(to_json(*read) == text);
}

TEST_CASE("Violations that rest on what the user vouches for say so wherever they are told") {
    auto results = samples::every_verdict();
    for (auto& result : results.results)
        for (auto& detail : result.details) detail.assumed = {"whole"};
    for (const auto& text : {to_table(results), samples::written("markdown", results), to_html(results, {}, ".")})
        CHECK_THAT(text, ContainsSubstring("assumed: whole"));
    CHECK_THAT(to_json(results), ContainsSubstring("\"assumed\""));
}

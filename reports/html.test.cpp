// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/html.hpp"

#include "catch2.hpp"
#include "reports/html/parts.hpp"
#include "reports/samples.hpp"

#include <pugixml.hpp>

using namespace ipoib::reports;

namespace {

Exhibit exhibit() {
    Exhibit one{.result = 0, .frame = 7, .parties = {"tester", "DUT", "SA"}};
    one.ladder = {{.number = 6, .from = 0, .to = 1, .text = "ARP request", .notes = {"STEP: it is asked"}},
                  {.number = 7, .time_ns = 1500000, .from = 1, .text = "ARP reply", .is_wrong = true}};
    one.headers = {{"Encapsulation header", 8, {{"Type", "0x0806 (ARP)"}, {"Reserved", "0xabcd", "0x0000"}}}};
    one.octets = {0x08, 0x06, 0xab, 0xcd};
    one.size = 4;
    one.wrong = {{2, 4}};
    one.pcapng = {1, 2, 3, 4};
    return one;
}

/// The page as XML, which it must be.
pugi::xml_document parsed(const std::string& page) {
    pugi::xml_document document;
    const auto outcome = document.load_buffer(page.data(), page.size(), pugi::parse_default | pugi::parse_doctype);
    INFO(outcome.description() << " at " << outcome.offset);
    REQUIRE(outcome);
    return document;
}

std::size_t count(const pugi::xml_document& page, const char* path) { return page.select_nodes(path).size(); }

std::string text_of(const pugi::xml_node& node) {
    std::string text;
    for (const auto& found : node.select_nodes(".//text()")) text += found.node().value();
    return text;
}

}  // namespace

TEST_CASE("HTML: every verdict, each finding once, each requirement, rule and case a row") {
    const auto run = samples::every_verdict();
    const auto page = parsed(to_html(run));
    CHECK(count(page, "//article[@class]") == 6);
    CHECK(count(page, "//section[@id='requirements']//tbody/tr") == run.requirements.size());
    CHECK(count(page, "//section[@id='results']//tbody/tr") == run.results.size());
    CHECK(count(page, "//form[@id='filter']//button[@data-v]") == 8);
    CHECK_THAT(text_of(page.select_node("//header").node()), ContainsSubstring("does not conform; and tester"));
    CHECK_THAT(text_of(page.select_node("//header").node()), ContainsSubstring("driver mlx5"));
    CHECK_THAT(text_of(page.select_node("//article").node()), ContainsSubstring("RFC4391 section 6, MUST"));
    CHECK_THAT(page.select_node("//article").node().attribute("data-s").value(), ContainsSubstring("RFC4391-6"));
}

TEST_CASE("HTML: the first page says what is claimed, judged, kept, not judged and why, and what proves the judge") {
    auto run = samples::every_verdict();
    run.claims = {{"modes", "datagram"}, {"IP <MTU>", "not stated"}};
    run.proofs = {{"kill matrix", "463 of 463", "docs/kill-matrix.md", "0011aabb"}};
    const auto page = parsed(to_html(run));
    CHECK(count(page, "//section[@id='summary']/dl[@class='claims']/dt") == 2);
    CHECK(text_of(page.select_node("//dl[@class='claims']/dt[2]").node()) == "IP <MTU>");
    // Advice is not counted: 9.1.1-01 is "should".
    const auto sum = page.select_node("//table[@class='plain judged']//tr[@class='sum']").node();
    const auto cell = [&](int column) {
        return text_of(sum.select_node(("td[" + std::to_string(column) + "]").c_str()).node());
    };
    CHECK(cell(1) == "7");
    CHECK(cell(2) == "2");  // PASS, XPASS
    CHECK(cell(3) == "2");  // FAIL, XFAIL
    CHECK(cell(4).empty());
    CHECK(cell(5) == "2");  // ERROR, INCONC
    CHECK(cell(6) == "1");
    CHECK(cell(7).empty());
    CHECK(count(page, "//table[@class='plain why']//tbody/tr") == 1);
    CHECK_THAT(text_of(page.select_node("//table[@class='plain why']//tbody/tr").node()),
               ContainsSubstring("nothing of the kind was seen"));
    CHECK_THAT(text_of(page.select_node("//table[@class='plain proofs']//tbody/tr").node()),
               ContainsSubstring("463 of 463docs/kill-matrix.md 0011aabb"));
}

TEST_CASE("HTML: what was not selected is counted, and is not as if it were not there") {
    auto run = samples::every_verdict();
    run.selected = {run.requirements.front().id};
    const auto page = parsed(to_html(run));
    const auto sum = page.select_node("//table[@class='plain judged']//tr[@class='sum']").node();
    CHECK(count(page, "//table[@class='plain judged']/thead/tr/th") == 8);
    CHECK(text_of(sum.select_node("td[1]").node()) == "7");
    CHECK(text_of(sum.select_node("td[7]").node()) == "6");
}

TEST_CASE("HTML: who claims nothing and knows no proof is not shown any") {
    const auto page = parsed(to_html(samples::every_verdict()));
    CHECK_THAT(text_of(page.select_node("//section[@id='summary']").node()),
               ContainsSubstring("Nothing: these results"));
    CHECK(count(page, "//table[@class='plain proofs']") == 0);
}

TEST_CASE("HTML: the coverage has a part for each verdict in each section") {
    const auto page = parsed(to_html(samples::every_verdict()));
    CHECK(count(page, "//svg[@class='coverage']/a[@data-s='RFC4391-9']") == 3);
    CHECK(count(page, "//svg[@class='coverage']/a[@data-s='UDMC' and @data-v='na']") == 1);
    CHECK_THAT(text_of(page.select_node("//a[@data-s='RFC4391-5' and @class='xpass']").node()),
               ContainsSubstring("RFC4391 section 5: 1 XPASS"));
}

TEST_CASE("HTML: a finding shows its packet beside what was expected, and a ladder") {
    const std::vector<Exhibit> exhibits{exhibit()};
    const auto page = parsed(to_html(samples::every_verdict(), {.exhibits = exhibits}));
    const auto article = page.select_node("//article").node();
    CHECK(text_of(article.select_node(".//tr[@class='wrong']/td/ins").node()) == "0x0000");
    CHECK(text_of(article.select_node(".//tr[@class='wrong']/td/del").node()) == "0xabcd");
    CHECK(article.select_nodes(".//mark").size() == 2);
    CHECK(article.select_nodes(".//svg[@class='ladder']/g").size() == 2);
    CHECK(article.select_nodes(".//svg/g[@class='frame wrong']").size() == 1);
    // One tip to the one receiver; to a group one for each other party.
    CHECK(article.select_nodes(".//svg/g[1]/path").size() == 1);
    CHECK(article.select_nodes(".//svg/g[2]/path").size() == 2);
    CHECK_THAT(text_of(article), ContainsSubstring("STEP: it is asked"));
    CHECK(count(page, "//a[@href='data:application/octet-stream;base64,AQIDBA==']") == 1);
}

TEST_CASE("HTML: links to captures are relative to the page") {
    auto run = samples::every_verdict();
    run.results[0].evidence = "out/evidence/a b#%.pcapng";
    const auto page = to_html(run, {}, "out/reports");
    CHECK_THAT(page, ContainsSubstring("href=\"../evidence/a%20b%23%25.pcapng\""));
    CHECK(html::link("javascript:alert(1)", ".") == "./javascript:alert%281%29");
    CHECK(html::link("/tmp/a.pcap", "/tmp/b") == "../a.pcap");
    CHECK(html::link("a.pcap", "../b/c") == "../../" + std::filesystem::current_path().filename().string() + "/a.pcap");
}

TEST_CASE("HTML: base64") {
    const std::string text = "foobar";
    const std::vector<std::string> expected{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (std::size_t i = 0; i < expected.size(); ++i) {  // RFC 4648, section 10
        const std::vector<std::uint8_t> octets(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(html::base64(octets) == expected[i]);
    }
}

TEST_CASE("HTML: baseline and earlier run") {
    const auto run = samples::every_verdict();
    auto earlier = run;
    earlier.results[1].verdict = Verdict::fail;
    const auto page = parsed(to_html(run, {.baseline = "known.toml",
                                           .remarks = {"known.toml:3: it is gone"},
                                           .earlier = &earlier,
                                           .earlier_file = "before.json"}));
    const auto comparison = text_of(page.select_node("//section[@id='comparison']").node());
    CHECK_THAT(comparison, ContainsSubstring("BUG-17"));
    CHECK_THAT(comparison, ContainsSubstring("known.toml:3: it is gone"));
    CHECK_THAT(comparison, ContainsSubstring("better: RULE-RFC4391-6-01 FAIL -> PASS"));
    CHECK(count(page, "//section[@id='comparison']//li[@class='better']") == 1);
    CHECK(count(parsed(to_html(run)), "//section[@id='comparison']") == 0);
}

TEST_CASE("HTML: many hosts are a matrix, a line each, and what they have in common once") {
    const auto run = samples::merged({Verdict::pass, Verdict::fail, Verdict::fail, std::nullopt});
    const auto page = parsed(to_html(run));
    CHECK(count(page, "//section[@id='hosts']//tbody/tr") == 4);
    const auto row = page.select_node("//svg[@class='matrix']/g[@class='fail']").node();
    CHECK(text_of(row.child("title")) == "FAIL: n2, n3");
    CHECK(row.select_nodes("rect").size() == 1);
    CHECK(row.select_nodes("text").size() == 2);
    CHECK(count(page, "//svg[@class='matrix']/text[@class='host']") == 4);
    CHECK(count(page, "//svg[@class='matrix']/g[@class='error']") > 0);
    CHECK_THAT(text_of(page.select_node("//ul[@class='where']").node()),
               ContainsSubstring("FAIL on 2 of 4 hosts: n2, n3"));
    CHECK_THAT(text_of(page.select_node("//tr[@data-v='error']").node()), ContainsSubstring("NODE_FAIL"));
    CHECK(count(page, "//article[@data-v='fail']") == 1);
    CHECK(text_of(page.select_node("//title").node()).starts_with("n2 and n3 do not conform; and tester"));
    CHECK_THAT(text_of(page.select_node("//article/p[@class='where']").node()),
               ContainsSubstring("on 2 of 4 hosts: n2, n3; this is n2"));
    CHECK(count(parsed(to_html(samples::every_verdict())), "//section[@id='hosts']") == 0);
}

TEST_CASE("HTML: a thousand hosts are a page that can be opened") {
    std::vector<std::optional<Verdict>> first(1000, Verdict::pass);
    for (std::size_t i = 0; i < first.size(); i += 7) first[i] = Verdict::fail;
    const auto text = to_html(samples::merged(first));
    CHECK(text.size() < std::size_t{4} << 20);
    const auto page = parsed(text);
    CHECK(text_of(page.select_node("//header/p").node()) == "143 of 1000 hosts do not conform");
    CHECK(count(page, "//section[@id='hosts']//tbody/tr") == 1000);
    CHECK(count(page, "//article") == 1);
}

TEST_CASE("HTML: a capture that broke off is told at the head") {
    auto run = samples::every_verdict();
    CHECK(count(parsed(to_html(run)), "//header//ul[@class='lost']") == 0);
    run.captures[0].error = "a.pcap: corrupt after frame 43";
    CHECK_THAT(text_of(parsed(to_html(run)).select_node("//header//ul[@class='lost']/li").node()),
               ContainsSubstring("ERROR a.pcap: corrupt after frame 43"));
}

TEST_CASE("HTML: hostile text stays text") {
    auto run = samples::every_verdict();
    const auto hostile = samples::hostile() + "<script>alert(1)</script>" + std::string(1 << 20, 'x');
    for (auto& result : run.results) {
        result.id = result.title = result.message = result.reference = result.repeat = hostile;
        result.evidence = hostile;
        result.notes = {hostile};
        for (auto& detail : result.details) detail.field = detail.expected = detail.actual = detail.subject = hostile;
    }
    for (auto& requirement : run.requirements) requirement.section = requirement.statement = hostile;
    run.command = {hostile};
    run.captures[0].file = run.captures[0].error = hostile;
    auto one = exhibit();
    one.parties = {hostile, hostile, hostile};
    one.ladder[0].text = one.ladder[0].notes[0] = one.headers[0].title = one.headers[0].fields[0].value = hostile;
    const std::vector<Exhibit> exhibits{one};
    const auto text = to_html(run, {.exhibits = exhibits, .baseline = hostile, .remarks = {hostile}});
    const auto page = parsed(text);
    CHECK(count(page, "//script") == 1);
    CHECK(count(page, "//section") == 7);
    // Links and commands alone may be long.
    CHECK(text.size() < std::size_t{16} << 20);
}

TEST_CASE("HTML: ten thousand failures are told in a few megabytes, two hundred of them in full", "[size]") {
    Results run;
    for (int i = 0; i < 10000; ++i)
        run.results.push_back(samples::failure("RULE-" + std::to_string(i), "RFC4391-6-02"));
    const auto text = to_html(run);
    CHECK(text.size() < std::size_t{6} << 20);
    const auto page = parsed(text);
    CHECK(count(page, "//article") == 200);
    CHECK(count(page, "//section[@id='results']//tbody/tr") == 10000);
    CHECK_THAT(text, ContainsSubstring("9800 more are in the table"));
}

TEST_CASE("HTML: of more rules and cases than a browser shows the worst have a row, and how many there are is told",
          "[size]") {
    Results run;
    for (int i = 0; i < 20'000; ++i)
        run.results.push_back(samples::result("RULE-" + std::to_string(i), Verdict::pass, "RFC4391-6-02"));
    const auto whole = to_html(run);
    CHECK(count(parsed(whole), "//section[@id='results']//tbody/tr") == 20'000);
    CHECK_THAT(whole, !ContainsSubstring("The worst"));
    run.results.push_back(samples::failure("RULE-LAST", "RFC4391-6-02"));
    const auto text = to_html(run);
    const auto page = parsed(text);
    CHECK(count(page, "//section[@id='results']//tbody/tr") == 20'000);
    CHECK(count(page, "//section[@id='results']//tbody/tr[@id='r20000']//b[text()='RULE-LAST']") == 1);
    CHECK(count(page, "//section[@id='results']//tbody/tr[@id='r19998']") == 1);
    CHECK(count(page, "//section[@id='results']//tbody/tr[@id='r19999']") == 0);
    CHECK_THAT(text, ContainsSubstring("The worst 20000 of 20001; the JSON report has all."));
}

TEST_CASE("HTML: nothing judged is a page, too") {
    const auto page = parsed(to_html({}));
    CHECK_THAT(text_of(page.select_node("//header").node()), ContainsSubstring("Nothing was judged"));
    CHECK(count(page, "//article") == 0);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML has the structure, the counts and the characters that its readers rely on.
#include "reports/junit.hpp"

#include <cmath>
#include <cstring>
#include <pugixml.hpp>
#include <set>

#include "catch2.hpp"
#include "reports/file.hpp"
#include "reports/samples.hpp"
#include "temporary_folder.hpp"

using namespace ipoib::reports;

namespace {

/// A document, parsed again.
struct Parsed {
    pugi::xml_document document;
    explicit Parsed(const Results& run, const JunitOptions& options = {}) {
        const auto texts = to_junit(run, options);
        REQUIRE(document.load_string(texts.at(0).c_str()));
    }
    [[nodiscard]] pugi::xml_node suites() const { return document.child("testsuites"); }
    [[nodiscard]] pugi::xml_node suite() const { return suites().child("testsuite"); }
    [[nodiscard]] pugi::xml_node with_id(const std::string& id) const {
        for (const auto node : suite().children("testcase"))
            if (std::string(node.attribute("name").value()).starts_with(id)) return node;
        FAIL("no test case " << id);
        return {};
    }
    [[nodiscard]] std::string property(const std::string& name) const {
        return suite().child("properties").find_child_by_attribute("name", name.c_str()).attribute("value").value();
    }
};

std::size_t elements(pugi::xml_node node, const char* name) {
    const auto children = node.children(name);
    return static_cast<std::size_t>(std::distance(children.begin(), children.end()));
}

/// Attributes that count agree with what is there; every case has at most one verdict, its message equal to its text.
void check_counts(pugi::xml_node suite) {
    std::size_t failures = 0, errors = 0, skipped = 0;
    for (const auto node : suite.children("testcase")) {
        failures += elements(node, "failure");
        errors += elements(node, "error");
        skipped += elements(node, "skipped");
        REQUIRE(elements(node, "failure") + elements(node, "error") + elements(node, "skipped") <= 1);
        for (const char* name : {"failure", "error", "skipped"})
            if (const auto verdict = node.child(name)) {
                REQUIRE(std::strlen(verdict.attribute("message").value()) > 0);
                REQUIRE(std::string(verdict.attribute("message").value()) == verdict.text().get());
            }
    }
    CHECK(suite.attribute("tests").as_ullong() == elements(suite, "testcase"));
    CHECK(suite.attribute("failures").as_ullong() == failures);
    CHECK(suite.attribute("errors").as_ullong() == errors);
    CHECK(suite.attribute("skipped").as_ullong() == skipped);
}

bool is_legal_xml(const std::string& text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return false;
    return text.find("\xef\xbf\xbe") == std::string::npos && text.find("\xef\xbf\xbf") == std::string::npos;
}

}  // namespace

TEST_CASE("JUnit: the counts are right, in the suites and in all") {
    const Parsed parsed(samples::every_verdict());
    check_counts(parsed.suite());
    CHECK(parsed.suites().attribute("tests").as_int() == 8);
    CHECK(parsed.suites().attribute("failures").as_int() == 2);
    CHECK(parsed.suites().attribute("errors").as_int() == 2);
    CHECK(parsed.suite().attribute("skipped").as_int() == 2);
}

TEST_CASE("JUnit: the head has name, time, host and properties") {
    const Parsed parsed(samples::every_verdict());
    const auto suite = parsed.suite();
    CHECK(std::string(suite.attribute("name").value()) == "ipoib-conform check");
    CHECK(std::string(suite.attribute("timestamp").value()) == "2026-01-01T12:34:56");
    CHECK(std::string(suite.attribute("hostname").value()) == "tester.example");
    CHECK(std::string(suite.attribute("time").value()) == "1.500");
    CHECK(parsed.property("suite.version") == "0.1.0");
    CHECK(parsed.property("seed") == "18446744073709551615");
    CHECK(parsed.property("command") == "ipoib-conform check a.pcap");
    CHECK(parsed.property("dut.driver") == "mlx5");
    CHECK(parsed.property("fabric.name") == "simulated");
    CHECK(parsed.property("warnings") == "1");
    CHECK_THAT(parsed.property("coverage"), ContainsSubstring("judged 4 of 7 binding statements (7 MUST, 0 stated)"));
}

TEST_CASE("JUnit: a time with a zone loses it, no time becomes the epoch, no host is localhost") {
    auto run = samples::every_verdict();
    run.started = "2026-01-01T12:34:56Z";
    run.host.clear();
    run.results[0].seconds = std::nan("");
    run.results[1].seconds = 0.0004;
    run.results[2].seconds = 12345.6789;
    const Parsed parsed(run);
    CHECK(std::string(parsed.suite().attribute("timestamp").value()) == "2026-01-01T12:34:56");
    CHECK(std::string(parsed.suite().attribute("hostname").value()) == "localhost");
    CHECK(std::string(parsed.with_id("RULE-RFC4391-6-02").attribute("time").value()) == "0.000");
    CHECK(std::string(parsed.with_id("RULE-RFC4391-6-01").attribute("time").value()) == "0.000");
    CHECK(std::string(parsed.with_id("RULE-RFC4391-9.1.1-01").attribute("time").value()) == "12345.679");
    run.started = "yesterday";
    CHECK(std::string(Parsed(run).suite().attribute("timestamp").value()) == "1970-01-01T00:00:00");
}

TEST_CASE("JUnit: each verdict has its element") {
    const Parsed parsed(samples::every_verdict());
    const auto type = [&](const std::string& id, const char* element) {
        return std::string(parsed.with_id(id).child(element).attribute("type").value());
    };
    CHECK(parsed.with_id("RULE-RFC4391-6-01").first_child().empty());
    CHECK(type("RULE-RFC4391-6-02", "failure") == "FAIL.MUST");
    CHECK(type("RULE-RFC4391-5-02", "failure") == "XPASS");
    CHECK(type("IPOIB-4391-9.1.1-INV-001", "error") == "ERROR");
    CHECK(type("IPOIB-4391-9.1.1-VAL-002", "error") == "INCONC");
    CHECK(std::string(parsed.with_id("RULE-UDMC-01").child("skipped").text().get()) == "not-seen: no multicast");
    CHECK_THAT(parsed.with_id("RULE-RFC4391-5-01").child("skipped").text().get(), ContainsSubstring("BUG-17"));
    const auto warn = parsed.with_id("RULE-RFC4391-9.1.1-01");
    CHECK(warn.child("failure").empty());
    CHECK(std::string(warn.child("system-out").text().get()).starts_with("WARN: the address is not stable"));
}

TEST_CASE("JUnit: strict and crashes keep their type") {
    auto run = samples::every_verdict();
    run.results[0].fail_type = "FAIL.CRASH";
    apply_strict(run);
    const Parsed parsed(run);
    CHECK(std::string(parsed.with_id("RULE-RFC4391-6-02").child("failure").attribute("type").value()) == "FAIL.CRASH");
    CHECK(std::string(parsed.with_id("RULE-RFC4391-9.1.1").child("failure").attribute("type").value()) ==
          "FAIL.SHOULD");
    CHECK(parsed.property("warnings") == "0");
}

TEST_CASE("JUnit: a failure says what, where and who, its output begins with the evidence") {
    const Parsed parsed(samples::every_verdict());
    const auto node = parsed.with_id("RULE-RFC4391-6-02");
    const std::string text = node.child("failure").text().get();
    CHECK_THAT(text, ContainsSubstring("RFC4391 section 6, MUST") && ContainsSubstring("frame 7 octet 10") &&
                         ContainsSubstring("0xabcd") && ContainsSubstring("0002c9020024f636"));
    CHECK(std::string(node.child("system-out").text().get()).starts_with("[[ATTACHMENT|evidence/6-02.pcapng]]"));
}

TEST_CASE("JUnit: a case's output is at most 8 kB, its message shorter") {
    auto run = samples::every_verdict();
    auto& result = run.results[0];
    result.details[0].actual = std::string(10'000, 'x');
    result.details.resize(100, result.details[0]);
    result.violations = 100;
    result.message = std::string(100'000, 'm');
    const Parsed parsed(run);
    const auto node = parsed.with_id("RULE-RFC4391-6-02");
    const std::string output = node.child("system-out").text().get();
    CHECK(output.size() > 7000);
    CHECK(output.size() <= 8000);
    CHECK(std::strlen(node.child("failure").text().get()) <= 4000);
    check_counts(parsed.suite());
}

TEST_CASE("JUnit: class names are document and section without dots") {
    const auto of = [](const char* id, std::vector<std::string> checks = {}) {
        Result result;
        result.id = id;
        result.checks = std::move(checks);
        return class_name(result);
    };
    CHECK(of("RULE-RFC4391-9.1.1-02", {"RFC4391-9.1.1-02"}) == "rfc4391.section-9-1-1");
    CHECK(of("RULE-RFC4391-9.1.1-02-arp-reply", {"RFC4391-9.1.1-02"}) == "rfc4391.section-9-1-1");
    CHECK(of("RULE-RFC4391-6-02-tx") == "rfc4391.section-6");
    CHECK(of("RULE-UDMC-04-07-x", {"UDMC-04"}) == "udmc");
    CHECK(of("RULE-UDMC-04") == "udmc");
    CHECK(of("IPOIB-4391-9.1.1-INV-001") == "rfc4391.section-9-1-1");
    CHECK(of("IPOIB-UDMC-VAL-001") == "udmc");
    CHECK(of("SOMETHING", {"RFC4392-4.2-01"}) == "rfc4392.section-4-2");
    CHECK(of("SOMETHING") == "ipoib");
    CHECK(of("RULE-") == "ipoib");
    CHECK(of("IPOIB-") == "ipoib");
}

TEST_CASE("JUnit: several captures are several suites, every case's name is its own") {
    auto run = samples::every_verdict();
    run.captures.push_back(run.captures[0]);
    const auto first = run.results;
    for (auto result : first) {
        result.capture = 1;
        run.results.push_back(result);
    }
    run.results.push_back(first[0]);
    const Parsed parsed(run);
    std::set<std::string> suites, cases;
    std::size_t count = 0;
    for (const auto suite : parsed.suites().children("testsuite")) {
        suites.insert(suite.attribute("name").value());
        check_counts(suite);
        for (const auto node : suite.children("testcase")) {
            cases.insert(std::string(node.attribute("classname").value()) + node.attribute("name").value());
            ++count;
        }
    }
    CHECK(suites == std::set<std::string>{"ipoib-conform check a.pcap", "ipoib-conform check a.pcap #2"});
    CHECK(count == 17);
    CHECK(cases.size() == 17);
    CHECK(parsed.suites().attribute("tests").as_int() == 17);
}

TEST_CASE("JUnit: a capture that broke off is an error of its own") {
    Results run;
    run.captures = {{"a.pcap", 247, 3, 1, {}, "frame 4, offset 412: length 99999"}};
    const Parsed parsed(run);
    check_counts(parsed.suite());
    const auto error = parsed.with_id("CAPTURE").child("error");
    CHECK(std::string(error.attribute("type").value()) == "ERROR");
    CHECK_THAT(error.text().get(), ContainsSubstring("offset 412"));
}

TEST_CASE("JUnit: nothing judged is a suite without cases") {
    const Parsed parsed(Results{});
    CHECK(parsed.suite().attribute("tests").as_int() == 0);
    CHECK(std::string(parsed.suite().attribute("name").value()) == "ipoib-conform");
}

TEST_CASE("JUnit: hostile text comes out as legal XML, and shown") {
    auto run = samples::every_verdict();
    const auto bad = samples::hostile();
    for (auto& result : run.results) result.title = result.message = result.evidence = result.reference = bad;
    run.results[0].id = run.host = run.suite = run.captures[0].file = bad;
    run.results[0].fail_type = run.results[0].checks[0] = bad;
    run.results[0].details[0] = {0, 7, 10, bad, bad, bad, bad, bad};
    run.command = {"ipoib-conform", bad};
    run.dut = {{bad, bad}};
    for (const auto dialect : {Dialect::portable, Dialect::ant, Dialect::rich, Dialect::surefire}) {
        const auto text = to_junit(run, {dialect, {}}).at(0);
        CHECK(is_legal_xml(text));
        pugi::xml_document document;
        REQUIRE(document.load_string(text.c_str()));
        CHECK_THAT(text, ContainsSubstring("\\x01") && ContainsSubstring("\\ufffe") && ContainsSubstring("\\xff"));
    }
    check_counts(Parsed(run).suite());
}

TEST_CASE("JUnit: ten thousand results keep counts and names", "[size]") {
    Results run;
    for (int i = 0; i < 10'000; ++i)
        run.results.push_back(i % 2 == 0 ? samples::failure("RULE-RFC4391-6-02", "RFC4391-6-02")
                                         : samples::result("R" + std::to_string(i), Verdict::pass, "RFC4391-6-01"));
    const Parsed parsed(run);
    check_counts(parsed.suite());
    std::set<std::string> names;
    for (const auto node : parsed.suite().children("testcase")) names.insert(node.attribute("name").value());
    CHECK(names.size() == 10'000);
    CHECK(parsed.suites().attribute("failures").as_int() == 5000);
}

TEST_CASE("JUnit: the ant dialect has package and id, and output only for the suite") {
    const Parsed parsed(samples::every_verdict(), {Dialect::ant, {}});
    const auto suite = parsed.suite();
    CHECK(parsed.suites().first_attribute().empty());
    CHECK(std::string(suite.attribute("id").value()) == "0");
    CHECK(std::string(suite.attribute("package").value()) == "ipoib");
    for (const auto node : suite.children("testcase")) CHECK(node.child("system-out").empty());
    CHECK_THAT(suite.child("system-out").text().get(), ContainsSubstring("WARN: the address is not stable"));
    CHECK_FALSE(suite.child("system-err").empty());
    check_counts(suite);
}

TEST_CASE("JUnit: the rich dialect has properties, file and line, one document per suite") {
    auto run = samples::every_verdict();
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, {}});
    run.results.push_back(samples::result("RULE-RFC4391-6-01", Verdict::pass, "RFC4391-6-01"));
    run.results.back().capture = 1;
    const auto documents = to_junit(run, {Dialect::rich, {}});
    REQUIRE(documents.size() == 2);
    pugi::xml_document document;
    REQUIRE(document.load_string(documents[0].c_str()));
    const auto suite = document.child("testsuite");
    check_counts(suite);
    const auto node = suite.child("testcase");
    CHECK(std::string(node.attribute("file").value()) == "evidence/6-02.pcapng");
    CHECK(node.attribute("line").as_int() == 7);
    const auto verdict = node.child("properties").find_child_by_attribute("name", "verdict");
    CHECK(std::string(verdict.attribute("value").value()) == "FAIL.MUST");
}

TEST_CASE("JUnit: Surefire's dialect has its root and nothing that its schema does not know") {
    auto run = samples::every_verdict();
    run.host = "n7";
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, {}});
    run.results.push_back(samples::result("RULE-RFC4391-6-01", Verdict::pass, "RFC4391-6-01"));
    run.results.back().capture = 1;
    const auto documents = to_junit(run, {Dialect::surefire, {}});
    REQUIRE(documents.size() == 2);
    pugi::xml_document document;
    REQUIRE(document.load_string(documents[0].c_str()));
    const auto suite = document.child("testsuite");
    check_counts(suite);
    CHECK(suite.attribute("hostname").empty());
    const auto host = suite.child("properties").find_child_by_attribute("name", "hostname");
    CHECK(std::string(host.attribute("value").value()) == "n7");
    for (const auto node : suite.children("testcase")) CHECK(node.child("properties").empty());
}

TEST_CASE("JUnit: files are written whole, those of further suites beside the first") {
    const ipoib::TemporaryFolder folder;
    auto run = samples::every_verdict();
    REQUIRE(samples::write("junit", folder / "r.xml", run).empty());
    CHECK(read_whole(folder / "r.xml", 1U << 20U).value.value() == to_junit(run).at(0));
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, "frame 1"});
    run.results.push_back(run.results[0]);
    run.results.back().capture = 1;
    REQUIRE(samples::write("junit", folder / "s.xml", run, "rich").empty());
    CHECK(std::filesystem::exists(folder / "s.xml"));
    CHECK(std::filesystem::exists(folder / "s-2.xml"));
    CHECK_THAT(samples::write("junit", folder / "none/r.xml", run), ContainsSubstring("none/r.xml"));
}

TEST_CASE("JUnit: the cases of an active run, each with a capture of its own, are one suite") {
    auto run = samples::every_verdict();
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, {}});
    run.results[1].capture = 1;
    CHECK_FALSE(is_by_capture(run));
    CHECK(to_junit(run, {Dialect::rich, {}}).size() == 1);
}

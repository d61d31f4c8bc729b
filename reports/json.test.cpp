// SPDX-License-Identifier: GPL-2.0-or-later
// Results survive the way through JSON; what is no such file is refused with the place.
#include "reports/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "catch2.hpp"
#include "reports/file.hpp"
#include "reports/samples.hpp"
#include "temporary_folder.hpp"

using namespace ipoib::reports;

namespace {

std::string error_of(std::string_view text) {
    const auto loaded = from_json(text, "a.json");
    return loaded ? "read" : loaded.error;
}

std::string with_result(std::string_view members) {
    return R"({"format":"ipoib-conform-results/1","captures":[{"file":"a"}],"results":[{)" + std::string(members) +
           "}]}";
}

}  // namespace

TEST_CASE("JSON: members stand in the order of the interface") {
    const auto document = nlohmann::ordered_json::parse(to_json(samples::every_verdict()));
    const auto names = [](const nlohmann::ordered_json& object) {
        std::string all;
        for (const auto& [name, value] : object.items()) all += name + " ";
        return all;
    };
    CHECK(names(document) ==
          "format suite command seed started host seconds fabric dut captures results requirements ");
    CHECK(names(document["results"][0]) ==
          "id title verdict na type checks message observed violations frames cases evidence seconds capture reference "
          "parts "
          "repeat notes "
          "details ");
    CHECK(names(document["results"][0]["details"][0]) ==
          "capture frame offset field expected actual subject link case requirements ");
    CHECK(names(document["captures"][0]) == "file link_type packets ipoib notes error ");
    CHECK(names(document["requirements"][0]) ==
          "id level verdict by strength force status section statement na reason ");
    CHECK(document["results"][0]["na"].is_null());
    CHECK(document["results"][5]["na"] == "not-seen");
    CHECK(document["seed"] == 18446744073709551615U);
}

TEST_CASE("JSON: what is written reads back the same, byte for byte") {
    auto run = samples::every_verdict();
    run.captures[0].file = "-";
    run.results[0].seconds = 0.0125;
    run.results[3].message = "tab\t, quote \", control \x01";
    const auto text = to_json(run);
    const auto loaded = from_json(text, "a.json");
    REQUIRE(loaded.error.empty());
    CHECK(to_json(*loaded) == text);
    CHECK(loaded->results[0].details[0].actual == "0xabcd");
    CHECK(loaded->results[3].message == run.results[3].message);
    CHECK(loaded->dut == run.dut);
    CHECK(loaded->requirements.size() == run.requirements.size());
    CHECK(exit_code(*loaded) == exit_code(run));
    CHECK(coverage_sentence(*loaded) == coverage_sentence(run));
}

TEST_CASE("JSON: paths are relative to the file and come back as they can be opened") {
    const ipoib::TemporaryFolder folder;
    std::filesystem::create_directories(folder / "out");
    auto run = samples::every_verdict();
    run.captures[0].file = folder / "a.pcap";
    run.results[0].evidence = folder / "out/evidence/1.pcapng";
    REQUIRE(samples::write("json", folder / "out/r.json", run).empty());
    const auto text = read_whole(folder / "out/r.json", 1U << 20U);
    REQUIRE(text);
    CHECK_THAT(*text, ContainsSubstring("\"../a.pcap\"") && ContainsSubstring("\"evidence/1.pcapng\""));
    const auto loaded = read_json(folder / "out/r.json");
    REQUIRE(loaded);
    CHECK(loaded->captures[0].file == run.captures[0].file);
    CHECK(loaded->results[0].evidence == run.results[0].evidence);
}

TEST_CASE("JSON: the revision of a rule is there where it is known, and comes back") {
    auto run = samples::every_verdict();
    CHECK(to_json(run).find("revision") == std::string::npos);
    run.results[0].revision = "1f3a9c02";
    const auto loaded = from_json(to_json(run), "a.json");
    REQUIRE(loaded);
    CHECK(loaded->results[0].revision == "1f3a9c02");
    CHECK(loaded->results[1].revision.empty());
}

TEST_CASE("JSON: what is claimed and what proves the judge are there where they are known, and come back") {
    auto run = samples::every_verdict();
    CHECK(to_json(run).find("\"claims\"") == std::string::npos);
    CHECK(to_json(run).find("\"judge\"") == std::string::npos);
    run.claims = {{"modes", "datagram"}, {"IP MTU", "2044"}};
    run.proofs = {{"kill matrix", "463 of 463", "docs/kill-matrix.md", "0011aabb"}};
    const auto again = from_json(to_json(run), "again.json");
    REQUIRE(again);
    CHECK(again->claims == run.claims);
    CHECK(again->proofs == run.proofs);
    CHECK_FALSE(from_json(R"({"format":"ipoib-conform-results/1","judge":[{"found":"much"}]})", "nameless.json"));
}

TEST_CASE("JSON: hostile text is written as legal UTF-8, no number is not a number") {
    auto run = samples::every_verdict();
    run.results[0].message = run.results[0].id = run.dut[0].first = run.captures[0].file = samples::hostile();
    run.results[0].seconds = std::nan("");
    const auto loaded = from_json(to_json(run), "a.json");
    REQUIRE(loaded.error.empty());
    CHECK_THAT(loaded->results[0].message, ContainsSubstring("\\xff"));
    CHECK(loaded->results[0].seconds == 0);
}

TEST_CASE("JSON: unknown members are ignored, all but ids and verdicts may be missing") {
    const auto loaded = from_json(
        R"({"new":{"a":[1]},"format":"ipoib-conform-results/1","results":[{"id":"R","verdict":"PASS","x":null}]})",
        "a.json");
    REQUIRE(loaded);
    CHECK(loaded->results[0].verdict == Verdict::pass);
    CHECK(loaded->results[0].na == NotJudged::none);
}

TEST_CASE("JSON: facts may be numbers") {
    const auto loaded = from_json(R"({"format":"ipoib-conform-results/1","dut":{"mtu":2044,"up":true}})", "a.json");
    REQUIRE(loaded);
    CHECK(loaded->dut == std::vector<std::pair<std::string, std::string>>{{"mtu", "2044"}, {"up", "true"}});
}

TEST_CASE("JSON: what is no results file is refused") {
    CHECK_THAT(error_of(""), ContainsSubstring("a.json: parse error"));
    CHECK_THAT(error_of("{\"format\": \n nonsense"), ContainsSubstring("line 2"));
    CHECK_THAT(error_of("[]"), ContainsSubstring("a.json: /: an object is expected, found a list"));
    CHECK_THAT(error_of("{}"), ContainsSubstring("\"format\" is missing"));
    CHECK_THAT(error_of(R"({"format":"other/9"})"),
               ContainsSubstring("/format: \"ipoib-conform-results/1\" is expected"));
    CHECK_THAT(error_of("\"\xff\""), ContainsSubstring("a.json: "));
    CHECK_THAT(error_of(R"({"format":"ipoib-conform-results/1","seed":1e999})"), ContainsSubstring("a.json: "));
}

TEST_CASE("JSON: a wrong type or value names its place") {
    CHECK_THAT(error_of(with_result(R"("id":"R")")), ContainsSubstring("/results/0: \"verdict\" is missing"));
    CHECK_THAT(error_of(with_result(R"("verdict":"PASS")")), ContainsSubstring("/results/0: \"id\" is missing"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"GOOD")")),
               ContainsSubstring("/results/0/verdict: \"GOOD\" is no verdict"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"NA","na":"lazy")")),
               ContainsSubstring("/results/0/na: \"lazy\" is no reason"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"PASS","observed":"3")")),
               ContainsSubstring("a.json: /results/0/observed: a whole number from 0 is expected, found a string"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"PASS","observed":-3)")), ContainsSubstring("found -3"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"PASS","checks":["a",7])")),
               ContainsSubstring("/results/0/checks/1: a string is expected, found 7"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"PASS","capture":1)")),
               ContainsSubstring("/results/0/capture: 1 is no index into the 1 captures"));
    CHECK_THAT(error_of(with_result(R"("id":"R","verdict":"PASS","details":[{"offset":4294967296}])")),
               ContainsSubstring("/results/0/details/0/offset: 4294967296 is more than 4294967295"));
    CHECK_THAT(error_of(R"({"format":"ipoib-conform-results/1","dut":{"a":[1]}})"), ContainsSubstring("/dut/a: "));
}

TEST_CASE("JSON: a run of one host says nothing of hosts") {
    CHECK(to_json(samples::every_verdict()).find("\"hosts\"") == std::string::npos);
    const auto document = nlohmann::json::parse(to_json(samples::every_verdict()));
    CHECK_FALSE(document["results"][0].contains("host"));
    CHECK_FALSE(document["captures"][0].contains("host"));
}

TEST_CASE("JSON: hosts of a merged report are checked") {
    const auto error_in = [](const std::string& hosts, const std::string& result) {
        return error_of(
            R"({"format":"ipoib-conform-results/1","requirements":[{"id":"Q","verdict":"PASS"}],"hosts":[)" + hosts +
            R"(],"results":[{"id":"R","verdict":"PASS")" + result + "}]}");
    };
    CHECK(error_in(R"({"name":"n1"})", R"(,"host":"n1","capture":null)") == "read");
    CHECK_THAT(error_in(R"({"name":"n1"})", ""), ContainsSubstring("/results/0: \"host\" is missing"));
    CHECK_THAT(error_in(R"({"name":"n1"})", R"(,"host":"n2")"), ContainsSubstring("\"n2\" is none of the hosts"));
    CHECK_THAT(error_in(R"({"name":"n1"},{"name":"n1"})", ""), ContainsSubstring("/hosts/1: \"n1\" is there twice"));
    CHECK_THAT(error_in(R"({"name":""})", ""), ContainsSubstring("a host has no name"));
    CHECK_THAT(error_in(R"({"name":"n1","shards":["3/2"]})", ""), ContainsSubstring("\"3/2\" is no shard"));
    CHECK_THAT(error_in(R"({"name":"n1","requirements":{"Q":"GOOD"}})", ""),
               ContainsSubstring("/hosts/0/requirements/Q: \"GOOD\" is no verdict"));
}

TEST_CASE("JSON: depth and breadth are bounded") {
    CHECK_THAT(error_of(std::string(1'000'000, '[')), ContainsSubstring("nested more than 16 deep"));
    std::string broad = "{";
    for (int i = 0; i < 2000; ++i) broad += "\"" + std::to_string(i) + "\":0,";
    CHECK_THAT(error_of(broad + "\"x\":0}"), ContainsSubstring("an object with more than 1000 members"));
}

TEST_CASE("JSON: results that weigh much more than their text are refused, all files that are read together",
          "[size]") {
    std::string text = R"({"format":"ipoib-conform-results/1","results":[{"id":"a","verdict":"PASS"})";
    for (int i = 0; i < 50'000; ++i) text += R"(,{"id":"a","verdict":"PASS"})";
    text += "]}";
    ResultsMemory memory;
    CHECK(from_json(text, "a.json", {}, memory));
    CHECK_THAT(from_json(text, "b.json", {}, memory).error,
               ContainsSubstring("b.json: /results/") && ContainsSubstring("more than a results file of this size"));
    CHECK(from_json(text, "b.json"));
}

TEST_CASE("JSON: a reader keeps as many details as the judge does") {
    std::string text = R"({"format":"ipoib-conform-results/1","results":[{"id":"a","verdict":"FAIL","details":[{})";
    for (int i = 0; i < 200; ++i) text += ",{}";
    const auto loaded = from_json(text + "]}]}", "a.json");
    REQUIRE(loaded);
    CHECK(loaded->results[0].details.size() == 100);
}

TEST_CASE("JSON: no truncation of a good file reads, none crashes") {
    const auto text = to_json(samples::every_verdict());
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
        CAPTURE(size);
        REQUIRE_FALSE(from_json(text.substr(0, size), "a.json"));
    }
}

TEST_CASE("JSON: files that are each small enough may be too much together") {
    ResultsMemory all;
    const ResultsMemory ours{.left = ResultsMemory::constant + 1000};
    const ResultsMemory hostile{.left = 1};
    CHECK(all.take(ours));
    CHECK(all.left == ResultsMemory::constant + 1000);
    CHECK(all.take(hostile));
    CHECK_FALSE(all.take(hostile));
    CHECK(all.left == 1001);
}

TEST_CASE("JSON: a file that is missing is named") {
    CHECK_THAT(read_json("/nonexistent/r.json").error, ContainsSubstring("/nonexistent/r.json: cannot be opened"));
}

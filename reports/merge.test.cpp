// SPDX-License-Identifier: GPL-2.0-or-later
// Joined runs: nothing is lost, nothing counts twice, what is missing is an ERROR.
#include "reports/merge.hpp"

#include "catch2.hpp"
#include "reports/json.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;
using enum Verdict;

namespace {

Results joined(std::vector<std::pair<std::string, Results>> runs) {
    Merger merger;
    for (auto& [host, run] : runs) REQUIRE(merger.add(host, std::move(run), host + ".json").empty());
    auto results = merger.results("0.1.0");
    const auto catalogue = samples::small_catalogue();
    roll_up(results, catalogue);
    return results;
}

Results shard(const std::string& text, Verdict first = pass) {
    auto run = samples::run_on("n1", first);
    run.command = {"ipoib-conform", "run", "--shard", text, "--quiet"};
    run.results[0].id += "-" + text.substr(0, 1);
    return run;
}

std::vector<std::string> faults_after(std::initializer_list<std::string> shards) {
    std::vector<std::pair<std::string, Results>> runs;
    for (const auto& text : shards) runs.emplace_back("n1", shard(text));
    return faults_of(joined(std::move(runs)).hosts.at(0));
}

}  // namespace

TEST_CASE("Merge: each result knows its host, each host its facts, the whole what all have in common") {
    const auto results = joined({{"", samples::run_on("n1", pass)}, {"second", samples::run_on("n2", fail)}});
    REQUIRE(results.hosts.size() == 2);
    CHECK(results.hosts[1].name == "second");
    CHECK(results.hosts[1].dut[1].second == "of n2");
    CHECK(results.dut == std::vector<std::pair<std::string, std::string>>{{"driver", "mlx5"}});
    CHECK(results.results[2].host == "second");
    CHECK(results.hosts[0].verdict == pass);
    CHECK(results.hosts[1].verdict == fail);
    CHECK(results.requirements[0].verdict == fail);
    CHECK(results.hosts[0].requirements == std::vector<Verdict>{pass, pass, na});
    CHECK(results.seconds == 3.0);
    CHECK(exit_code(results) == 1);
}

TEST_CASE("Merge: of claims what all have in common, of judges what each is proven by, once") {
    auto one = samples::run_on("n1", pass), two = samples::run_on("n2", pass);
    one.claims = {{"role", "host"}, {"IP MTU", "2044"}};
    two.claims = {{"role", "host"}, {"IP MTU", "1500"}};
    one.proofs = {{"kill matrix", "463 of 463", "docs/kill-matrix.md", "0011aabb"}};
    two.proofs = {one.proofs[0], {"kill matrix", "460 of 460", "docs/kill-matrix.md", "ffeeddcc"}};
    const auto proofs = two.proofs;
    const auto results = joined({{"", std::move(one)}, {"", std::move(two)}});
    CHECK(results.claims == std::vector<std::pair<std::string, std::string>>{{"role", "host"}});
    CHECK(results.proofs == proofs);
}

TEST_CASE("Merge: a host without results is an ERROR and hides nothing") {
    const auto results = samples::merged({pass, std::nullopt, fail});
    CHECK(results.hosts[1].verdict == error);
    CHECK(results.hosts[1].requirements == std::vector<Verdict>{error, error, na});
    CHECK(results.hosts[2].verdict == fail);
    CHECK(results.requirements[0].verdict == fail);
    CHECK(results.requirements[1].verdict == pass);
    CHECK(exit_code(results) == 3);
    CHECK(coverage_sentence(results) ==
          "judged 2 of 3 binding statements (3 MUST, 0 stated); 1 not judgeable here: 1 tester; on 3 hosts, 1 of them "
          "without all results");
}

TEST_CASE("Merge: a host that judged nothing is exit 4 where all else passes") {
    auto idle = samples::run_on("n2", na);
    idle.results.pop_back();
    const auto results = joined({{"", samples::run_on("n1", pass)}, {"", std::move(idle)}});
    CHECK(exit_code(results) == 4);
    CHECK_THAT(coverage_sentence(results), ContainsSubstring("on 2 hosts, 1 of them judged nothing"));
}

TEST_CASE("Merge: shards of a host are one host, rules are added up without a word") {
    const auto results = joined({{"n1", shard("1/2")}, {"n1", shard("2/2", fail)}});
    REQUIRE(results.hosts.size() == 1);
    CHECK(faults_of(results.hosts[0]).empty());
    REQUIRE(results.results.size() == 3);
    CHECK(results.results[1].id == "RULE-RFC4391-6-02");
    CHECK(results.results[1].observed == 6);
    CHECK(results.results[1].notes.empty());
    CHECK(results.requirements[0].verdict == fail);
    CHECK(exit_code(results) == 1);
}

TEST_CASE("Merge: a missing shard is an ERROR") {
    CHECK(faults_after({"1/1"}).empty());
    CHECK(faults_after({"2/2"}) == std::vector<std::string>{"shard 1 of 2 is missing"});
    CHECK(faults_after({"2/4", "4/4"}) == std::vector<std::string>{"shards 1, 3 of 4 are missing"});
    CHECK(faults_after({"3/6"}) == std::vector<std::string>{"shards 1, 2, 4 to 6 of 6 are missing"});
    CHECK(faults_after({"1/2", "2/3"}).size() == 2);
    CHECK(faults_after({"1/4294967295"}) ==
          std::vector<std::string>{"shards 2 to 4294967295 of 4294967295 are missing"});
    auto spelt = shard("1/1");
    spelt.command = {"ipoib-conform", "run", "--shard=1/2"};
    CHECK(exit_code(joined({{"n1", std::move(spelt)}})) == 3);
}

TEST_CASE("Merge: of a case that was run twice the worst counts, and a note says so") {
    for (const bool worse_first : {true, false}) {
        CAPTURE(worse_first);
        const auto results = joined({{"n1", samples::run_on("n1", worse_first ? fail : pass)},
                                     {"n1", samples::run_on("n1", worse_first ? pass : fail)}});
        REQUIRE(results.results.size() == 2);
        CHECK(results.results[0].verdict == fail);
        CHECK(results.results[0].details.size() == 1);
        REQUIRE(results.results[0].notes.size() == 1);
        CHECK_THAT(results.results[0].notes[0], ContainsSubstring("the worst counts; PASS in "));
    }
}

TEST_CASE("Merge: captures go with their results") {
    auto first = samples::run_on("n1", pass), second = samples::run_on("n2", fail);
    second.captures = {{"n2/a.pcapng", 197, 3, 1, {}, {}}, {"n2/b.pcapng", 197, 3, 1, {}, {}}};
    second.results[0].capture = second.results[0].details[0].capture = 1;
    second.results[0].evidence = "n2/b.pcapng";
    auto third = second;
    third.host = "n3";
    third.captures[1].file = "n3/b.pcapng";
    const auto results = joined({{"", std::move(first)}, {"", std::move(second)}, {"", std::move(third)}});
    REQUIRE(results.captures.size() == 4);
    CHECK(results.results[0].capture == no_capture);
    CHECK(results.captures[results.results[4].details[0].capture].file == "n3/b.pcapng");
    CHECK(results.captures[3].host == "n3");
    CHECK_FALSE(is_by_capture(results));
}

TEST_CASE("Merge: captures judged each by itself stay apart") {
    auto first = samples::run_on("n1", pass), second = samples::run_on("n1", fail);
    first.captures = {{"a.pcap", 197, 3, 1, {}, {}}};
    second.captures = {{"b.pcap", 197, 3, 1, {}, {}}};
    const auto results = joined({{"", std::move(first)}, {"", std::move(second)}});
    CHECK(results.results.size() == 4);
    CHECK(hosts_by_capture(results) == std::set<std::string_view>{"n1"});
}

TEST_CASE("Merge: another version, another DUT and what a host cannot be are told") {
    auto other = samples::run_on("n1", pass);
    other.suite = "0.0.9";
    other.dut[1].second = "another";
    const auto results = joined({{"", samples::run_on("n1", pass)}, {"n1", std::move(other)}});
    REQUIRE(results.hosts[0].notes.size() == 2);
    CHECK(results.hosts[0].notes[0] == "n1.json is of ipoib-conform 0.0.9, not 0.1.0");
    CHECK(results.hosts[0].notes[1] == "n1.json is of another DUT: guid another, not of n1");
    Merger merger;
    CHECK_THAT(merger.add("", samples::run_on("", pass), "a.json"), ContainsSubstring("a.json names no host"));
    CHECK_THAT(merger.add("n9", samples::merged({pass, pass}), "a.json"),
               ContainsSubstring("a merged report of 2 hosts"));
    CHECK(merger.results("0.1.0").hosts.empty());
}

TEST_CASE("Merge: a merged report reads back the same, and merges again") {
    auto results = samples::merged({pass, fail, std::nullopt});
    results.captures = {{"a.pcap", 197, 3, 1, {}, {}, "n1"}};
    const auto text = to_json(results);
    auto loaded = from_json(text, "a.json");
    REQUIRE(loaded.error.empty());
    CHECK(to_json(*loaded) == text);
    CHECK(loaded->hosts[2].errors == std::vector<std::string>{"no results: NODE_FAIL"});
    CHECK(loaded->results[0].capture == no_capture);
    const auto again = joined({{"", std::move(*loaded)}, {"n4", shard("1/2")}});
    REQUIRE(again.hosts.size() == 4);
    CHECK(again.hosts[1].verdict == fail);
    CHECK(again.hosts[2].verdict == error);
    // What was missing may come later.
    auto half = joined({{"n1", shard("1/2")}});
    CHECK(exit_code(half) == 3);
    auto reread = from_json(to_json(half), "half.json");
    REQUIRE(reread);
    CHECK(exit_code(*reread) == 3);
    CHECK(exit_code(joined({{"", std::move(*reread)}, {"n1", shard("2/2")}})) == 0);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// CTRF as its schema has it; the schema itself judges in tests/reports_test.py.
#include "catch2.hpp"
#include "reports/samples.hpp"

#include <map>
#include <nlohmann/json.hpp>

using namespace ipoib::reports;
using Json = nlohmann::json;

TEST_CASE("CTRF: every verdict, with our own word for it") {
    const auto document = Json::parse(samples::written("ctrf", samples::every_verdict()));
    CHECK(document["reportFormat"] == "CTRF");
    const auto& results = document["results"];
    std::map<std::string, std::string> states;
    for (const auto& test : results["tests"]) states[test["rawStatus"]] = test["status"];
    CHECK(states == std::map<std::string, std::string>{{"FAIL.MUST", "failed"},
                                                       {"PASS", "passed"},
                                                       {"WARN", "passed"},
                                                       {"ERROR", "other"},
                                                       {"INCONC", "other"},
                                                       {"NA", "skipped"},
                                                       {"XFAIL", "skipped"},
                                                       {"XPASS", "failed"}});
    const auto& summary = results["summary"];
    CHECK(summary["tests"] == 8);
    for (const auto* kind : {"passed", "failed", "skipped", "other"}) CHECK(summary[kind] == 2);
    CHECK(summary["pending"] == 0);
    CHECK(summary["start"] == 1767270896000);
    CHECK(summary["stop"] == 1767270897500);
    const auto& failed = results["tests"][0];
    CHECK(failed["labels"]["requirements"][0] == "RFC4391-6-02");
    CHECK(failed["attachments"][0]["path"] == "evidence/6-02.pcapng");
    CHECK_THAT(failed["trace"].get<std::string>(), ContainsSubstring("expected 0, actual 0xabcd"));
    CHECK(results["environment"]["extra"]["dut"]["driver"] == "mlx5");
}

TEST_CASE("CTRF: hostile text, nothing at all, no time") {
    auto run = samples::every_verdict();
    const auto bad = samples::hostile();
    for (auto& result : run.results) result.id = result.title = result.message = result.evidence = bad;
    run.command = {bad};
    run.dut = {{bad, bad}};
    run.started = bad;
    run.results[0].seconds = -1;
    const auto document = Json::parse(samples::written("ctrf", run));
    CHECK(document["results"]["summary"]["start"] == 0);
    CHECK(Json::parse(samples::written("ctrf", {}))["results"]["tests"].empty());
}

// SPDX-License-Identifier: GPL-2.0-or-later
// CTRF 0.0.0 as its schema of 2025 has it; every text is legal UTF-8 and of bounded length.
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json_text.hpp"
#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/failure.hpp"
#include "reports/format.hpp"
#include "reports/junit_suites.hpp"

namespace ipoib::reports::format {
namespace {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t longest_text = 8000, longest_name = 1000, violations_told = 10;

std::string fit(std::string_view text, std::size_t limit = longest_text) { return clipped(printable(text), limit); }

std::int64_t milliseconds(double seconds) {
    constexpr double most = 1e12;
    return std::isfinite(seconds) && seconds > 0 ? static_cast<std::int64_t>(std::min(seconds * 1e3, most)) : 0;
}

/// Since 1970, of "2026-01-01T00:00:00"; 0 for a text that is no such time.
std::int64_t begin_of(const std::string& started) {
    using namespace std::chrono;
    std::istringstream text(started);
    int year_number = 0, hour_number = 0, minute_number = 0, second_number = 0;
    unsigned month_number = 0, day_number = 0;
    char sign = 0;
    text >> year_number >> sign >> month_number >> sign >> day_number >> sign >> hour_number >> sign >> minute_number >>
        sign >> second_number;
    const year_month_day day{year{year_number}, month{month_number}, std::chrono::day{day_number}};
    if (!text || !day.ok() || year_number < 1970) return 0;
    const auto time = sys_days{day} + hours{hour_number} + minutes{minute_number} + seconds{second_number};
    return duration_cast<Milliseconds>(time.time_since_epoch()).count();
}

std::string_view status(Verdict verdict) {
    switch (outcome_of(verdict)) {
        case Outcome::passed:
            return "passed";
        case Outcome::failure:
            return "failed";
        case Outcome::skipped:
            return "skipped";
        case Outcome::error:
            break;
    }
    return "other";
}

std::string_view status(const Result& result) {
    return is_finding(result) && result.verdict == Verdict::pass ? "other" : status(result.verdict);
}

Json facts(const std::vector<std::pair<std::string, std::string>>& from) {
    auto object = Json::object();
    for (const auto& [key, value] : from) object[fit(key)] = fit(value);
    return object;
}

class Document {
public:
    explicit Document(const Results& results)
        : results_(results), faults_(cases_besides(results)), requirements_(results) {}

    /// A test at a time: all of them as one document would take many times the memory of the text.
    [[nodiscard]] std::string text() const {
        std::string text;
        JsonWriter to{[&](const std::string& piece) { text += piece; }};
        const auto suites = suites_of(results_, faults_, "ipoib-conform");
        to.begin_object();
        to.add(Json("CTRF"), "reportFormat");
        to.add(Json("0.0.0"), "specVersion");
        to.add(Json("ipoib-conform"), "generatedBy");
        to.begin_object("results");
        to.add(Json{{"name", "ipoib-conform"}, {"version", fit(results_.suite)}}, "tool");
        to.add(summary(suites), "summary");
        to.begin_array("tests");
        for (const auto& suite : suites)
            for (const auto& one : suite.cases) to.add(test(suite, one));
        to.end();
        to.add(Json{{"testEnvironment", fit(results_.host)}, {"extra", environment()}}, "environment");
        to.end();
        to.end();
        return text;
    }

private:
    [[nodiscard]] Json summary(const std::vector<Suite>& suites) const {
        std::size_t tests = 0;
        std::map<std::string_view, std::size_t> counts;
        for (const auto& suite : suites)
            for (const auto& one : suite.cases) {
                ++tests;
                ++counts[status(*one.result)];
            }
        const auto begin = begin_of(results_.started);
        Json summary{{"tests", tests}};
        for (const auto* kind : {"passed", "failed", "skipped", "pending", "other"}) summary[kind] = counts[kind];
        summary["suites"] = suites.size();
        summary["start"] = begin;
        summary["stop"] = begin + milliseconds(results_.seconds);
        return summary;
    }

    [[nodiscard]] Json environment() const {
        auto command = Json::array();
        for (const auto& word : results_.command) command.push_back(fit(word));
        Json environment{{"command", std::move(command)},
                         {"seed", results_.seed},
                         {"coverage", fit(coverage_sentence(results_))},
                         {"fabric", facts(results_.fabric)},
                         {"dut", facts(results_.dut)}};
        auto hosts = Json::array();
        for (const auto& host : results_.hosts)
            hosts.push_back({{"name", fit(host.name, longest_name)},
                             {"verdict", name(host.verdict)},
                             {"fabric", facts(host.fabric)},
                             {"dut", facts(host.dut)}});
        if (!hosts.empty()) environment["hosts"] = std::move(hosts);
        return environment;
    }

    [[nodiscard]] Json test(const Suite& suite, const TestCase& one) const {
        const auto& result = *one.result;
        auto labels = Json::object();
        auto checks = Json::array();
        for (const auto& id : result.checks) checks.push_back(fit(id));
        if (!checks.empty()) labels["requirements"] = std::move(checks);
        labels["observed"] = result.observed;
        labels["violations"] = result.violations;
        if (!result.reference.empty()) labels["reference"] = fit(result.reference);
        if (!result.host.empty()) labels["host"] = fit(result.host, longest_name);
        const auto name_of = fit(one.name, longest_name);
        Json test{{"testId", fit(result.id.empty() ? "?" : result.id, longest_name)},
                  {"name", name_of.empty() ? "?" : name_of},
                  {"status", status(result)},
                  {"duration", milliseconds(result.seconds)},
                  {"suite", {fit(suite.name, longest_name), fit(one.class_name, longest_name)}},
                  {"rawStatus", is_finding(result) ? "FINDING" : verdict_name(result)},
                  {"message", fit(result.verdict == Verdict::na ? why_not_judged(result) : message_of(result))},
                  {"labels", std::move(labels)}};
        if (is_flaky(result)) test["flaky"] = true;
        if (!result.details.empty()) test["trace"] = fit(explanation(results_, requirements_, result, violations_told));
        if (!result.evidence.empty())
            test["attachments"] = Json::array({{{"name", "evidence"},
                                                {"contentType", "application/vnd.tcpdump.pcap"},
                                                {"path", fit(result.evidence, longest_name)}}});
        return test;
    }

    const Results& results_;
    std::vector<Result> faults_;
    Requirements requirements_;
};

/// PASS and WARN are passed, FAIL and XPASS failed, NA and XFAIL skipped, INCONC, ERROR and FINDING other; `rawStatus`
/// has our own word. Each capture and each host is a suite; a capture that could not be read to its end and a host
/// without all its results have a test of their own.
std::string to_ctrf(const Results& results) { return Document(results).text(); }

}  // namespace

extern const Format ctrf{.name = "ctrf",
                         .help = "Write CTRF JSON (ctrf.io)",
                         .documents = [](const Material& of) { return std::vector{to_ctrf(of.results)}; },
                         .notation = Notation::json};

}  // namespace ipoib::reports::format

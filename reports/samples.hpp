// SPDX-License-Identifier: GPL-2.0-or-later
// Results for the tests of the writers: every verdict once, and what hostile input could put into them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/format.hpp"
#include "reports/merge.hpp"
#include "reports/results.hpp"

namespace ipoib::reports::samples {

/// The report, or the first document of it.
inline std::string written(std::string_view format, const Results& results, const std::filesystem::path& folder = ".") {
    for (const auto* one : formats())
        if (one->name == format) return one->documents({results, {}, folder, {}}).front();
    return "no such format";
}

/// Writes the report; what went wrong.
inline std::string write(std::string_view format, const std::filesystem::path& path, const Results& results,
                         std::string_view setting = {}) {
    for (const auto* one : formats())
        if (one->name == format) return write_report(*one, path, results, {}, setting);
    return "no such format";
}

inline Result result(std::string id, Verdict verdict, std::string check, std::uint64_t observed = 1) {
    Result result;
    result.id = std::move(id);
    result.title = "title of " + result.id;
    result.verdict = verdict;
    result.na = verdict == Verdict::na ? NotJudged::not_seen : NotJudged::none;
    result.checks = {std::move(check)};
    result.observed = verdict == Verdict::na ? 0 : observed;
    return result;
}

/// One violation in frame 7 of the first capture.
inline Result failure(std::string id, std::string check) {
    auto result = samples::result(std::move(id), Verdict::fail, std::move(check), 12);
    result.fail_type = "FAIL.MUST";
    result.message = "Reserved is 0xabcd";
    result.violations = 1;
    result.frames = {7};
    result.details = {{0, 7, 10, "Encap.Reserved", "0", "0xabcd", "0002c9020024f636", "fe80::/0xffff"}};
    return result;
}

inline RequirementMeta requirement(std::string id, std::string strength, std::string section,
                                   std::vector<std::string> implies = {}) {
    RequirementMeta meta;
    meta.statement = "statement of " + id;
    meta.id = std::move(id);
    meta.level = strength == "must" ? "MUST" : strength;
    meta.force = strength == "must" ? "MUST" : strength == "should" ? "SHOULD" : "MAY";
    meta.status = "standard";
    meta.strength = std::move(strength);
    meta.section = std::move(section);
    meta.implies = std::move(implies);
    return meta;
}

/// One capture, one result of every verdict, its requirements rolled up.
inline Results every_verdict() {
    Results run;
    run.suite = "0.1.0";
    run.command = {"ipoib-conform", "check", "a.pcap"};
    run.seed = 18446744073709551615U;
    run.started = "2026-01-01T12:34:56";
    run.host = "tester.example";
    run.seconds = 1.5;
    run.dut = {{"vendor", "Example"}, {"driver", "mlx5"}};
    run.fabric = {{"name", "simulated"}};
    run.captures = {{"a.pcap", 247, 43, 21, {"the last record is cut"}, ""}};
    run.results = {failure("RULE-RFC4391-6-02", "RFC4391-6-02"),
                   result("RULE-RFC4391-6-01", Verdict::pass, "RFC4391-6-01", 21),
                   result("RULE-RFC4391-9.1.1-01-arp", Verdict::warn, "RFC4391-9.1.1-01", 3),
                   result("IPOIB-4391-9.1.1-INV-001", Verdict::error, "RFC4391-9.1.1-02"),
                   result("IPOIB-4391-9.1.1-VAL-002", Verdict::inconc, "RFC4391-9.1.1-03"),
                   result("RULE-UDMC-01", Verdict::na, "UDMC-01"),
                   result("RULE-RFC4391-5-01", Verdict::xfail, "RFC4391-5-01"),
                   result("RULE-RFC4391-5-02", Verdict::xpass, "RFC4391-5-02")};
    run.results[0].evidence = "evidence/6-02.pcapng";
    run.results[2].message = "the address is not stable";
    run.results[5].message = "no multicast";
    run.results[6].reference = "BUG-17";
    const std::vector<RequirementMeta> catalogue{
        requirement("RFC4391-5-01", "must", "5"),           requirement("RFC4391-5-02", "must", "5"),
        requirement("RFC4391-6-01", "must", "6"),           requirement("RFC4391-6-02", "must", "6"),
        requirement("RFC4391-9.1.1-01", "should", "9.1.1"), requirement("RFC4391-9.1.1-02", "must", "9.1.1"),
        requirement("RFC4391-9.1.1-03", "must", "9.1.1"),   requirement("UDMC-01", "must", "")};
    roll_up(run, catalogue);
    return run;
}

/// A run of one host: the first requirement with the given verdict, the second kept.
inline Results run_on(std::string host, Verdict first) {
    Results run;
    run.suite = "0.1.0";
    run.command = {"ipoib-conform", "run"};
    run.started = "2026-01-01T12:34:56";
    run.host = std::move(host);
    run.seconds = 1.5;
    run.dut = {{"driver", "mlx5"}, {"guid", "of " + run.host}};
    run.fabric = {{"kind", "verbs"}};
    run.results = {first == Verdict::fail ? failure("IPOIB-4391-6-VAL-001", "RFC4391-6-01")
                                          : result("IPOIB-4391-6-VAL-001", first, "RFC4391-6-01"),
                   result("RULE-RFC4391-6-02", Verdict::pass, "RFC4391-6-02", 3)};
    return run;
}

inline std::vector<RequirementMeta> small_catalogue() {
    return {requirement("RFC4391-6-01", "must", "6"), requirement("RFC4391-6-02", "must", "6"),
            requirement("UDMC-01", "must", "")};
}

/// Hosts n1, n2 ...: each with a verdict on the first requirement, or dead where there is none.
inline Results merged(const std::vector<std::optional<Verdict>>& first) {
    Merger merger;
    for (std::size_t i = 0; i < first.size(); ++i) {
        const auto host = "n" + std::to_string(i + 1);
        if (!first[i])
            merger.fault(host, "no results: NODE_FAIL");
        else
            static_cast<void>(merger.add("", run_on(host, *first[i]), host + ".json"));
    }
    auto results = merger.results("0.1.0");
    const auto catalogue = small_catalogue();
    roll_up(results, catalogue);
    return results;
}

/// Every octet, and UTF-8 that is none or not for XML.
inline std::string hostile() {
    std::string text;
    for (int octet = 0; octet < 256; ++octet) text += static_cast<char>(octet);
    text +=
        "]]> <&\"' \xef\xbf\xbe \xef\xbf\xbf \xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80 \xe2\x80\xae \xf0\x9f\x98\x80 "
        "\xe2\x82";
    return text;
}

}  // namespace ipoib::reports::samples

// SPDX-License-Identifier: GPL-2.0-or-later
// Baselines for tests: entries as text, and results that they are applied to.
#pragma once

#include "catch2.hpp"
#include "reports/baseline.hpp"
#include "reports/samples.hpp"

namespace ipoib::reports::samples {

inline constexpr auto today =
    std::chrono::year_month_day{std::chrono::year{2026}, std::chrono::June, std::chrono::day{15}};

inline std::optional<std::string> which_requirement(std::string_view id) {
    if (id.starts_with("A-1-") || id.starts_with("RFC4391-6-")) return std::nullopt;
    return std::string{};
}
inline std::optional<std::string> which_judge(std::string_view id) {
    if (id != "R-1-O2") return std::nullopt;
    return "; did you mean 'R-1-02'?";
}
inline const KnownIds known_ids{.requirement = which_requirement, .judge = which_judge};

inline std::string error_of(std::string_view text) {
    const auto loaded = parse_baseline(text, "B.toml", known_ids);
    return loaded ? "read" : loaded.error;
}

/// Of requirement A-1-01, or RFC4391-6-01 for a case, but for a crash, which is of none.
inline Baseline entry(const std::string& id, const std::string& verdict, const std::string& more = "") {
    const auto* requirement = id.starts_with("IPOIB-") ? "RFC4391-6-01" : "A-1-01";
    const auto names = verdict == "FAIL.CRASH" || more.find("requirements") != std::string::npos
                           ? std::string{}
                           : "requirements = [\"" + std::string(requirement) + "\"]\n";
    auto loaded = parse_baseline("[[expected]]\nid = \"" + id + "\"\nverdict = \"" + verdict +
                                     "\"\nreason = \"known\"\nreference = \"BUG-1\"\n" + names + more,
                                 "B.toml", known_ids);
    CAPTURE(loaded.error);
    REQUIRE(loaded);
    return *loaded;
}

/// An entry that names no requirement.
inline Baseline whole(const std::string& id, const std::string& verdict) {
    auto baseline = entry(id, verdict);
    baseline.expected[0].requirements.clear();
    return baseline;
}

/// A case that violates two of the three statements that it checks.
inline Result two_faults() {
    auto one = failure("R", "A-1-01");
    one.checks = {"A-1-01", "A-1-02", "A-1-03"};
    one.parts = {{"A-1-01", Verdict::fail, NotJudged::none, 2, "FAIL.MUST"},
                 {"A-1-02", Verdict::fail, NotJudged::none, 2, "FAIL.STATED"},
                 {"A-1-03", Verdict::pass, NotJudged::none, 2, {}}};
    one.violations = 2;
    one.details[0].requirements = {"A-1-01"};
    one.details.push_back({0, 9, 4, "Arp.hln", "20", "6", "", "", "", {"A-1-02"}});
    one.frames = {7, 9};
    return one;
}

inline Results run_with(Result one) {
    Results run;
    run.dut = {{"driver", "mlx5"}, {"kernel", "6.1"}};
    run.results = {std::move(one)};
    return run;
}

}  // namespace ipoib::reports::samples

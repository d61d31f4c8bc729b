// SPDX-License-Identifier: GPL-2.0-or-later
// How results become test suites and test cases: which suite, which class, a name that no other case has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/junit.hpp"

namespace ipoib::reports {

/// What a test case carries besides its name.
enum class Outcome : std::uint8_t { passed, failure, error, skipped };

[[nodiscard]] Outcome outcome_of(Verdict);

/// One result as a test case; a view of it.
struct TestCase {
    std::string class_name, name;
    const Result* result = nullptr;
};

/// The test cases of one capture, of one host, or of a run without either.
struct Suite {
    std::string name;
    const HostResult* host = nullptr;
    const CaptureResult* capture = nullptr;
    std::vector<TestCase> cases;

    [[nodiscard]] std::size_t count(Outcome) const;
    /// Sum over the cases.
    [[nodiscard]] double seconds() const;
};

/// An ERROR for what is missing: id "HOST" for every host without all its results, "CAPTURE" for every capture that
/// could not be read to its end.
[[nodiscard]] std::vector<Result> faults(const Results&);

/// Those, and one for each finding that no text forbids: a PASS with its text as message, with `--strict` a FAIL.
[[nodiscard]] std::vector<Result> cases_besides(const Results&);
/// Whether the result stands for such a finding.
[[nodiscard]] bool is_finding(const Result&);

/// One suite for each host, and for each capture that was judged by itself; else one for all.
/// Suites and cases have names that are unique in the whole run. `besides` come first; results and these must outlive
/// the suites.
[[nodiscard]] std::vector<Suite> suites_of(const Results&, const std::vector<Result>& besides, const std::string& name);

}  // namespace ipoib::reports

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

/// The test cases of one capture, or of a run without captures.
struct Suite {
    std::string name;
    const CaptureResult* capture = nullptr;
    std::vector<TestCase> cases;

    [[nodiscard]] std::size_t count(Outcome) const;
    /// Sum over the cases.
    [[nodiscard]] double seconds() const;
};

/// The results with an ERROR, id "CAPTURE", before them for every capture that could not be read to its end.
[[nodiscard]] std::vector<Result> with_unreadable_captures(const Results&);

/// One suite for each capture that has results; one for all when there are no captures or they were merged.
/// Suites and cases have names that are unique in the whole run.
[[nodiscard]] std::vector<Suite> suites_of(const Results&, const std::vector<Result>&, const std::string& name);

}  // namespace ipoib::reports

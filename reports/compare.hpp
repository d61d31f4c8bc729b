// SPDX-License-Identifier: GPL-2.0-or-later
// Two runs compared, result by result: what became worse, better, was judged for the first time or no longer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// What changed from one run to another.
struct Comparison {
    std::size_t worse = 0, better = 0;
    std::size_t fresh = 0;  ///< judged only in the second run, and no failure
    std::size_t gone = 0;   ///< judged only in the first run
    std::size_t same = 0;
    std::size_t redefined = 0;  ///< of worse and better: another revision of the rule or case judged in the second run
    std::vector<std::string> lines;  ///< one for each result but the same ones: worse, better, new, gone; the counts
};

/// Compares by id and by the capture's file name; when each run has one capture at most, by id alone; of merged
/// reports, host by host. From good to bad: PASS and XPASS, XFAIL, WARN, INCONC, ERROR, FAIL, FAIL.CRASH. An ERROR or
/// FAIL where nothing was judged before (NA or absent) is worse, and so is a host without all its results.
[[nodiscard]] Comparison compare(const Results& before, const Results& after);

/// Exit code of `diff`: 1 when something is worse, else 0.
[[nodiscard]] int exit_code(const Comparison&);

}  // namespace ipoib::reports

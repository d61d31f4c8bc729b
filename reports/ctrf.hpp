// SPDX-License-Identifier: GPL-2.0-or-later
// CTRF, the Common Test Report Format in JSON (ctrf.io): it carries the verdicts that JUnit XML cannot.
#pragma once

#include <filesystem>
#include <string>

#include "reports/results.hpp"

namespace ipoib::reports {

/// PASS and WARN are passed, FAIL and XPASS failed, NA and XFAIL skipped, INCONC and ERROR other; `rawStatus` has our
/// own word. Each capture and each host is a suite; a capture that could not be read to its end and a host without all
/// its results have a test of their own.
[[nodiscard]] std::string to_ctrf(const Results&);

/// Atomically. Returns what went wrong; empty if nothing.
[[nodiscard]] std::string write_ctrf(const std::filesystem::path&, const Results&);

}  // namespace ipoib::reports

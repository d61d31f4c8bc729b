// SPDX-License-Identifier: GPL-2.0-or-later
// TAP, the Test Anything Protocol, in words that readers of TAP 13 and of the kernel's KTAP both know.
#pragma once

#include <filesystem>
#include <string>

#include "reports/results.hpp"

namespace ipoib::reports {

/// A line for each result: "ok" for PASS and WARN, "# SKIP" for NA and XFAIL, "not ok" for the rest, the reason in
/// lines that begin with "#". No YAML, which KTAP has not.
[[nodiscard]] std::string to_tap(const Results&);

/// Atomically. Returns what went wrong; empty if nothing.
[[nodiscard]] std::string write_tap(const std::filesystem::path&, const Results&);

}  // namespace ipoib::reports

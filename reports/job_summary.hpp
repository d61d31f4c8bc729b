// SPDX-License-Identifier: GPL-2.0-or-later
// A page of Markdown for the summary of a CI job.
#pragma once

#include <filesystem>
#include <string>

#include "reports/results.hpp"

namespace ipoib::reports {

/// How much was judged, a count of each verdict, and what is wrong: the first findings in full, the rest by their ids.
/// Never more than what a job may show (GitHub: 1 MiB).
[[nodiscard]] std::string to_job_summary(const Results&);

/// Atomically. Returns what went wrong; empty if nothing.
[[nodiscard]] std::string write_job_summary(const std::filesystem::path&, const Results&);

}  // namespace ipoib::reports

// SPDX-License-Identifier: GPL-2.0-or-later
// The report for people: one HTML file that needs nothing else, neither network nor other files.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "reports/exhibit.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {

/// What is shown beside the results.
struct HtmlExtras {
    std::span<const Exhibit> exhibits{};  ///< at most one for each result
    std::string baseline{};               ///< its file; empty: none was given
    std::vector<std::string> remarks{};   ///< on the baseline's entries
    const Results* earlier = nullptr;     ///< a run to compare with
    std::string earlier_file{};
};

/// The page: verdict and facts, coverage by section as a picture, each finding with its packet and a ladder of the
/// frames around it, tables of requirements and of rules and cases, comparison, captures. Findings beyond the first 200
/// are rows of the table alone. It is well-formed XML and runs no text of the results; links to captures are relative
/// to `folder`.
[[nodiscard]] std::string to_html(const Results&, const HtmlExtras& = {}, const std::filesystem::path& folder = ".");

/// Atomically, its links relative to its own folder. Returns what went wrong; empty if nothing.
[[nodiscard]] std::string write_html(const std::filesystem::path&, const Results&, const HtmlExtras& = {});

}  // namespace ipoib::reports

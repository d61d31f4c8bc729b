// SPDX-License-Identifier: GPL-2.0-or-later
// The report for people: one HTML file that needs nothing else, neither network nor other files.
#pragma once

#include <filesystem>
#include <string>

#include "reports/format.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {

/// The page: verdict and facts, coverage by section as a picture, each finding with its packet and a ladder of the
/// frames around it, tables of requirements and of rules and cases, comparison, captures. Findings beyond the first 200
/// are rows of the table alone. It is well-formed XML and runs no text of the results; links to captures are relative
/// to `folder`.
[[nodiscard]] std::string to_html(const Results&, const Extras& = {}, const std::filesystem::path& folder = ".");

}  // namespace ipoib::reports

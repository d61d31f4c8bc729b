// SPDX-License-Identifier: GPL-2.0-or-later
// The pages in docs/ that the suite writes about itself, as Markdown. The same suite gives the same octets.
#pragma once

#include "conformance/documents/case_stories.hpp"
#include "conformance/documents/coverage.hpp"
#include "conformance/selftest/selftest.hpp"

namespace ipoib::conformance {

/// reports/coverage.md.
[[nodiscard]] std::string coverage_page();

/// docs/kill-matrix.md: of a whole selftest.
[[nodiscard]] std::string kill_matrix_page(const SelftestOutcome& outcome);
/// The same for programs; docs/results.md describes it. `suite`: the version.
[[nodiscard]] std::string kill_matrix_json(const SelftestOutcome& outcome, std::string_view suite);

/// A file in docs/cases/.
struct CasePage {
    std::string file;  ///< "IPOIB-4391-6-INV-001.md"
    std::string text;
};
/// A page for each case of a whole selftest, then "README.md", their index.
[[nodiscard]] std::vector<CasePage> case_pages(const SelftestOutcome& outcome, const CaseStories& stories);

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// The report on a terminal: what was judged, the verdict on each requirement, every failure with the frames that prove
// it.
#pragma once

#include <cstddef>
#include <string>

#include "reports/results.hpp"

namespace ipoib::reports {

struct TableOptions {
    bool colour = false;          ///< whether the reader is a terminal is for the caller to know
    bool quiet = false;           ///< only failures, errors and the summary
    std::size_t violations = 10;  ///< shown of each result
    std::size_t width = 100;      ///< columns
};

/// The head (captures, notes, coverage); one row per requirement, by section, or per result when there is no roll-up;
/// what was not judged, one line per reason; each FAIL, XPASS, ERROR, INCONC and WARN in full; the counts. At most
/// `width` columns, but for words that are longer.
[[nodiscard]] std::string to_table(const Results&, const TableOptions& = {});

/// "1 FAIL, 2 WARN, 30 PASS, 85 NA", the last line of the table. FAIL and PASS are always there.
[[nodiscard]] std::string summary(const Results&);

}  // namespace ipoib::reports

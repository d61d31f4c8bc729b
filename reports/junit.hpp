// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML for Jenkins, GitLab and their like: every rule and case is a test case, every capture
// and every host a test suite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// `portable` is what every reader takes. `ant` also satisfies the schema of Ant's JUnit task: package and id, no
/// output per case. `rich` adds properties, file and line to each case, and has one document per suite. `surefire` has
/// one per suite, too, with what the schema of Maven's Surefire knows and no more.
enum class Dialect : std::uint8_t { portable, ant, rich, surefire };

struct JunitOptions {
    Dialect dialect = Dialect::portable;
    std::string name;  ///< of the suite; empty: "ipoib-conform" and the subcommand in `Results::command`
};

/// The class of a result's test case, from the document and section that it belongs to: "rfc4391.section-9-1-1",
/// "udmc". The id of a rule or case decides; for another id the first requirement checked; else "ipoib".
[[nodiscard]] std::string class_name(const Result&);

/// One document; of the dialects `rich` and `surefire` one per suite. A capture that could not be read to its end is an
/// error of its own.
[[nodiscard]] std::vector<std::string> to_junit(const Results&, const JunitOptions& = {});

}  // namespace ipoib::reports

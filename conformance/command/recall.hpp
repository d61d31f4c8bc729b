// SPDX-License-Identifier: GPL-2.0-or-later
// selftest --recall: how many violations the judge finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ipoib::conformance {

struct RecallOptions {
    bool is_asked = false;
    bool is_whole = false;    ///< every place, not a sample
    bool has_judges = false;  ///< mutants of the judge, too
    std::string floor;        ///< file to be written
};

/// What it has in common with --metamorphic and the kill matrix.
struct RecallFiles {
    std::string frames, markdown, not_below;
};

void add_recall_options(CLI::App& command, RecallOptions& options);
/// The exit code. Throws UsageError.
int run_recall(const RecallOptions& options, const RecallFiles& files, const std::vector<std::string>& situations,
               std::uint64_t seed);

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// selftest --metamorphic: how verdicts move when captures are changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ipoib::conformance {

struct MetamorphicOptions {
    bool is_asked = false;
    double seconds = 0;                  ///< 0: the bounded part alone
    std::string variant;                 ///< one only, as a run has named it
    std::string frames;                  ///< folder for the frames of what is broken
    std::string known;                   ///< file: relations that are known to be broken
    std::string decisiveness;            ///< file to be written: how often there is a verdict
    std::string not_below;               ///< file: as it was before
    std::vector<std::string> kinds;      ///< of sources; none: the usual ones
    std::vector<std::string> relations;  ///< none: all
};

void add_metamorphic_options(CLI::App& command, MetamorphicOptions& options);
/// The exit code. Throws UsageError.
int run_metamorphic(const MetamorphicOptions& options, const std::vector<std::string>& captures, std::uint64_t seed);

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// A run again, from its results: with fewer cases, as long as the last one finds the same.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance {

struct AgainOptions {
    std::string results;  ///< of `run --json`
    std::string finding;  ///< a case, rule or requirement that is FAIL, XFAIL, WARN or INCONC there
    std::string out;      ///< for messages: what the evidence will be written to
    std::string dut{};    ///< what of the results may be started as an adapter: exec:COMMAND
    std::function<void(const std::string&)> progress{};
};

struct Shortest {
    std::vector<std::string> cases;       ///< in order, the last of which finds it
    std::size_t of_cases = 0;             ///< that had run up to there
    std::size_t steps = 0, of_steps = 0;  ///< of the last case: up to the one that finds it, and all
    std::string repeat;                   ///< the command
    std::string file;                     ///< the frames of those steps as pcapng, the steps as comments
    std::string why_not;                  ///< it is not found there, or not again; empty where it is
};

/// Whether the file holds results. Throws UsageError for one that cannot be read.
[[nodiscard]] bool is_results(const std::string& path);

/// Runs until nothing can be left out, or until a stop is requested. Throws UsageError for results that no command of
/// `run` made, Fault for a target that fails.
[[nodiscard]] Shortest run_again(const AgainOptions& options);

}  // namespace ipoib::conformance

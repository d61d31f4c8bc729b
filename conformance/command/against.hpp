// SPDX-License-Identifier: GPL-2.0-or-later
// run --against: two implementations, each the other's peer.
#pragma once

#include "conformance/command/report_options.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/interop/interop.hpp"

#include <string>
#include <vector>

namespace ipoib::conformance {

/// Of `run`, what a run of two takes as well.
struct AgainstOptions {
    std::vector<std::string> selectors;
    TargetOptions target;
    std::string against;
    ReportOptions report;
    std::string evidence, bundle;
    std::string shard, order, only_failed, pause_on;  ///< as words; all but the order may be empty
    unsigned repeat = 1, max_failures = 0;
    std::string repeat_command;  ///< without the exchange's id
    bool dry_run = false;
};

/// Exit code as of `run`. Throws UsageError, Fault.
int run_against(const AgainstOptions& options, const std::vector<std::string>& command);

/// The exchanges and rules that selectors mean. Throws UsageError for one that means neither, or where no exchange is
/// left.
[[nodiscard]] interop::InteropRun chosen_exchanges(const std::vector<std::string>& selectors);

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// The options that say which implementation is driven, and on which fabric. interfaces.md, "Fabrics", "DUT control".
#pragma once

#include "conformance/bench/active.hpp"
#include "conformance/target/target.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

struct TargetOptions {
    std::string fabric{usual_fabric}, dut, scenario = "default", listen, fabric_control, tester_ip;
    std::string profile, allow;
    double timeout_scale = 1;
    bool allows_long = false;
};

/// --fabric, --dut, --scenario, --listen, --fabric-control, --tester-ip, --timeout-scale.
void add_target_options(CLI::App& command, TargetOptions& options);
/// --profile, --allow, --allow-long.
void add_permission_options(CLI::App& command, TargetOptions& options);

/// What the options mean: a run without cases and rules yet, and the rig to make for it.
struct Aim {
    Target target;
    ActiveRun run;
};
/// Throws UsageError for a profile that cannot be read, or options that contradict each other.
[[nodiscard]] Aim aim(const TargetOptions& options, std::uint64_t seed);

/// The rig of a target. Throws UsageError for a target that cannot be, Fault for one that fails.
[[nodiscard]] std::unique_ptr<Rig> rig_for(const Target& target);
/// What can be done there.
[[nodiscard]] fabric::Abilities abilities_at(const Target& target);

/// The target's options as they were given, as words.
[[nodiscard]] std::vector<std::string> words_of(const TargetOptions& options);

}  // namespace ipoib::conformance

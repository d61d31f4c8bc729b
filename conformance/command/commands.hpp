// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands of ipoib-conform. Each adds itself to the program and leaves its exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace ipoib::conformance {

/// Exit codes that every command shares; `check` and `run` have more (docs/results.md).
inline constexpr int exit_ok = 0, exit_worse = 1, exit_usage = 2, exit_fault = 3;

/// `invoked_as`: the program as the user called it, for commands that repeat a failure.
void add_check(CLI::App& program, int& exit_code, const std::string& invoked_as);
void add_run(CLI::App& program, int& exit_code, const std::string& invoked_as);
void add_audit(CLI::App& program, int& exit_code);
void add_selftest(CLI::App& program, int& exit_code);
void add_profile(CLI::App& program, int& exit_code);
void add_list(CLI::App& program, int& exit_code);
void add_requirements(CLI::App& program, int& exit_code);
void add_explain(CLI::App& program, int& exit_code);
void add_links(CLI::App& program, int& exit_code);
void add_devices(CLI::App& program, int& exit_code);
void add_decode(CLI::App& program, int& exit_code);
void add_diff(CLI::App& program, int& exit_code);
void add_merge(CLI::App& program, int& exit_code);
void add_baseline(CLI::App& program, int& exit_code);

}  // namespace ipoib::conformance

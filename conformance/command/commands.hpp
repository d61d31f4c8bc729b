// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands of ipoib-conform: each is one object in the file of its name, and one row of the list in main.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace ipoib::conformance {

/// Exit codes that every command shares; `check` and `run` have more (docs/results.md).
inline constexpr int exit_ok = 0, exit_worse = 1, exit_usage = 2, exit_fault = 3, exit_unjudged = 4;

/// What a command does once the command line is read; gives the exit code.
using Action = std::function<int()>;

struct Command {
    std::string_view name;   ///< "devices"
    std::string_view about;  ///< for the help of the program, which manual and completion are made of
    /// Adds options and footer. `invoked_as`: the program as the user called it, for what repeats a failure.
    Action (*set_up)(CLI::App& command, const std::string& invoked_as);
};

}  // namespace ipoib::conformance

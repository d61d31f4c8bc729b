// SPDX-License-Identifier: GPL-2.0-or-later
// What a program of the suite tells of itself to man and to bash.
#pragma once

#include <CLI/CLI.hpp>

#include <string_view>

namespace ipoib::conformance {

/// Adds the commands "manual" (roff) and "completion" (bash), both made from the program's own description, so that
/// they cannot differ from --help. `title` follows the name in the manual, `synopsis` too. A command of a program that
/// has options of its own, too, need not be the first word.
void add_manual(CLI::App& program, std::string_view title, std::string_view synopsis);

}  // namespace ipoib::conformance

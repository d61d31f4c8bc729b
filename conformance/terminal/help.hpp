// SPDX-License-Identifier: GPL-2.0-or-later
// What a program says of its command line: help as wide as the terminal, the commands help and version, what is wrong.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// Help in lines of the terminal's width, for the program and its commands; before any command is added.
void wrap_help(CLI::App& program);

/// Adds "help [COMMAND]" and "version", which do what --help and --version do. After all other commands.
void add_help(CLI::App& program);

/// Takes what the parser threw: prints the help or version that was asked for, or tells on standard error what is
/// wrong, behind the program's name and command, and what may have been meant. The exit code, 2 for what is wrong.
[[nodiscard]] int tell(const CLI::App& program, const CLI::ParseError& error);

/// "'chekc' is no command; did you mean 'check'?"
[[nodiscard]] std::string no_command(const CLI::App& program, std::string_view word);

/// "--color WHEN" and "--no-color", for `is_coloured`. `when` must last as long as the command.
void add_color_options(CLI::App& command, std::string& when);

/// Refuses what is none of these words, and asks for the one that was meant.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

}  // namespace ipoib::conformance

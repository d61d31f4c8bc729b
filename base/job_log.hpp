// SPDX-License-Identifier: GPL-2.0-or-later
// Text for the log of a job in continuous integration, in which the runner obeys some of what it reads: a line that
// begins with "::" (GitHub), and "##[", "##vso[" and "##teamcity[" wherever they stand (GitHub, Azure, TeamCity).
#pragma once

#include <cstdint>
#include <string>

namespace ipoib {

/// How a text writes a character by its number: "\x23" for people, else so that readers of the notation get it back.
enum class Notation : std::uint8_t { text, json, toml, xml };

/// The text with what a runner obeys written visibly: its first character by number. Lines may begin with blanks, and
/// characters beyond ASCII, which a runner may overlook, may stand in between.
[[nodiscard]] std::string without_commands(std::string text, Notation notation = Notation::text);

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Text from outside as a terminal, a log or a report may show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib {

/// Whether a terminal shows the character, and XML 1.0 takes it; line feeds and tabs are none of these.
[[nodiscard]] bool is_printable(char32_t) noexcept;

/// What `printable` does with line feeds and tabs.
enum class Lines : bool { keep, join };

/// The text with everything that XML 1.0 forbids or a terminal obeys written visibly: control characters and invalid
/// octets as "\x1b", U+FFFE, U+FFFF, the characters that end a line or a paragraph and those that nobody sees or that
/// turn the direction of writing (Unicode's Cf) as "\ufffe". `Lines::join` also makes one line of it, without blanks at
/// the ends or two in a row.
[[nodiscard]] std::string printable(std::string_view, Lines = Lines::keep);

/// What a line of a message holds at most, in octets.
inline constexpr std::size_t longest_line = 1000;
/// One printable line of at most `limit` octets; what was cut ends with "... (cut)".
[[nodiscard]] std::string one_line(std::string_view, std::size_t limit = longest_line);

}  // namespace ipoib

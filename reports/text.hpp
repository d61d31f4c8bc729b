// SPDX-License-Identifier: GPL-2.0-or-later
// Text from outside made fit for a report: legal UTF-8, nothing that a terminal or an XML reader trips over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib::reports {

/// What `printable` does with line feeds and tabs.
enum class Lines : bool { keep, join };

/// The text with every octet that is no part of a UTF-8 character written as "\xff". Control characters stay.
[[nodiscard]] std::string valid_utf8(std::string_view);

/// The text with everything that XML 1.0 forbids or a terminal obeys written visibly: control characters and invalid
/// octets as "\x1b", U+FFFE, U+FFFF and the characters that turn the direction of writing as "\ufffe". `Lines::join`
/// also makes one line of it, without blanks at the ends or two in a row.
[[nodiscard]] std::string printable(std::string_view, Lines = Lines::keep);

/// A word as a shell (bash) takes it, quoted where it must be; what cannot be shown as it is, as $'\xff'.
[[nodiscard]] std::string sh_word(std::string_view);

/// At most `limit` octets of legal UTF-8, cut between two characters; what was cut ends with "... (cut)".
[[nodiscard]] std::string clipped(std::string_view, std::size_t limit);

/// Columns on a terminal, one a character.
[[nodiscard]] std::size_t columns(std::string_view);

/// The text in lines of at most `width` columns, broken at blanks and tabs, all but the first behind `indent` blanks. A
/// word longer than a line stays whole. The first line begins at column `indent`, too, but its blanks are the caller's.
[[nodiscard]] std::string wrapped(std::string_view, std::size_t indent, std::size_t width = 100);

}  // namespace ipoib::reports

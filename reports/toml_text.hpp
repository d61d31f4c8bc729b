// SPDX-License-Identifier: GPL-2.0-or-later
// Non-ASCII text on its way through toml++, whose classes of white space are undefined for U+00A0 to U+0499 and others
// (its issues 190 and 295; 3.3 and later): it is given ASCII only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib::reports {

/// The document with each octet that is not ASCII, and each tilde, written as a tilde and two hex digits. Lines stay, a
/// byte order mark goes; what was no TOML stays none, since a tilde means nothing outside strings and comments.
[[nodiscard]] std::string to_ascii_toml(std::string_view document);

/// The first line, from 1, with a key of more parts than `most_parts` ("a.b.c" has three); 0 where there is none.
/// toml++ makes a table inside a table of each, and returns from them one inside the other.
[[nodiscard]] std::size_t line_of_long_key(std::string_view document) noexcept;
inline constexpr std::size_t most_parts = 8;

/// A key, a string or a message that came of `to_ascii_toml`, as it was.
[[nodiscard]] std::string from_ascii_toml(std::string_view);

/// A TOML basic string, quotes included, that reads as the text.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace ipoib::reports

// SPDX-License-Identifier: GPL-2.0-or-later
// Text of octets from anywhere, character by character. RFC 3629.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib {

/// One character, or one octet that is none.
struct Character {
    char32_t value = 0;
    std::size_t octets = 1;
    bool is_legal = false;
};
/// The character at the beginning of a text that is not empty. Overlong forms and surrogates are not legal.
[[nodiscard]] Character first_character(std::string_view) noexcept;

/// Calls `each` with every character and its octets.
template <class Each>
void for_each_character(std::string_view text, Each each) {
    while (!text.empty()) {
        const auto character = first_character(text);
        each(character, text.substr(0, character.octets));
        text.remove_prefix(character.octets);
    }
}

/// Octets in hex: "\xc3\x28".
[[nodiscard]] std::string escaped(std::string_view octets);

/// The text with every octet that is no part of a UTF-8 character written as "\xff". Control characters stay.
[[nodiscard]] std::string valid_utf8(std::string_view);

/// The text with every octet that is no part of a UTF-8 character replaced by U+FFFD.
[[nodiscard]] std::string replaced_utf8(std::string_view);

/// At most `limit` octets of legal UTF-8, cut between two characters; what was cut ends with "... (cut)".
[[nodiscard]] std::string clipped(std::string_view, std::size_t limit);

/// Columns on a terminal, one a character.
[[nodiscard]] std::size_t columns(std::string_view);

}  // namespace ipoib

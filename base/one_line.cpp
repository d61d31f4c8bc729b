// SPDX-License-Identifier: GPL-2.0-or-later
// Which characters can be shown: the control characters of ISO/IEC 2022 (C0, DEL, C1) cannot.
#include "base/one_line.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace ipoib {
namespace {

struct Range {
    char32_t first, last;
};
/// Unicode's format characters (Cf): nobody sees them, and some turn the direction of what follows.
constexpr std::array formats{
    Range{0xad, 0xad},       Range{0x600, 0x605},     Range{0x61c, 0x61c},     Range{0x6dd, 0x6dd},
    Range{0x70f, 0x70f},     Range{0x890, 0x891},     Range{0x8e2, 0x8e2},     Range{0x180e, 0x180e},
    Range{0x200b, 0x200f},   Range{0x202a, 0x202e},   Range{0x2060, 0x206f},   Range{0xfeff, 0xfeff},
    Range{0xfff9, 0xfffb},   Range{0x110bd, 0x110bd}, Range{0x110cd, 0x110cd}, Range{0x13430, 0x1343f},
    Range{0x1bca0, 0x1bca3}, Range{0x1d173, 0x1d17a}, Range{0xe0001, 0xe007f}};

std::string by_number(char32_t c) {
    if (c < 0x100) return escaped(std::string(1, static_cast<char>(c)));
    constexpr std::string_view digits = "0123456789abcdef";
    const bool is_long = c > 0xffff;
    std::string text = is_long ? "\\U" : "\\u";
    for (int shift = is_long ? 28 : 12; shift >= 0; shift -= 4) text += digits[c >> shift & 0xf];
    return text;
}

/// The visible ASCII characters that the text begins with, blanks among them: nearly all of nearly every text.
std::string_view plain_beginning(std::string_view text, Lines lines) {
    const char first = lines == Lines::join ? '!' : ' ';
    const auto end = std::ranges::find_if(text, [first](char c) { return c < first || c > '~'; });
    return {text.begin(), end};
}

/// What is printable of the text's beginning, as far as it takes to be longer than `most`.
std::string printable_beginning(std::string_view text, Lines lines, std::size_t most) {
    std::string out;
    while (!text.empty() && out.size() <= most) {
        if (const auto plain = plain_beginning(text.substr(0, most - out.size()), lines); !plain.empty()) {
            out += plain;
            text.remove_prefix(plain.size());
            continue;
        }
        const auto character = first_character(text);
        const auto octets = text.substr(0, character.octets);
        const auto c = character.value;
        const bool is_blank = c == '\n' || c == '\t';
        if (!character.is_legal)
            out += escaped(octets);
        else if (lines == Lines::join && (is_blank || c == ' ')) {
            if (!out.empty() && out.back() != ' ') out += ' ';
        } else if (is_blank || is_printable(c))
            out += octets;
        else
            out += by_number(c);
        text.remove_prefix(character.octets);
    }
    if (lines == Lines::join && !out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

}  // namespace

bool is_printable(char32_t c) noexcept {
    if (c < 0x7f) return c >= 0x20;
    const bool is_control = c <= 0x9f;
    const bool separates = c == 0x2028 || c == 0x2029;
    const bool is_format = std::any_of(formats.begin(), formats.end(),
                                       [c](const Range& range) { return c >= range.first && c <= range.last; });
    return !is_control && !separates && !is_format && c != 0xfffe && c != 0xffff;
}

std::string printable(std::string_view text, Lines lines) {
    return printable_beginning(text, lines, std::numeric_limits<std::size_t>::max());
}

std::string one_line(std::string_view text, std::size_t limit) {
    // A blank at the end goes.
    return clipped(printable_beginning(text, Lines::join, limit + 1), limit);
}

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Which characters can be shown: the control characters of ISO/IEC 2022 (C0, DEL, C1) cannot.
#include "base/one_line.hpp"

#include "base/utf8.hpp"

namespace ipoib {
namespace {

bool is_unprintable(char32_t c) {
    const bool is_control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
    const bool turns_direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    const bool separates = c == 0x2028 || c == 0x2029;
    return is_control || turns_direction || separates || c == 0xfffe || c == 0xffff;
}

/// Of a character of the Basic Multilingual Plane.
std::string by_number(char32_t c) {
    if (c < 0x100) return escaped(std::string(1, static_cast<char>(c)));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text += digits[c >> shift & 0xf];
    return text;
}

}  // namespace

std::string printable(std::string_view text, Lines lines) {
    std::string out;
    out.reserve(text.size());
    for_each_character(text, [&](const Character& character, std::string_view octets) {
        const auto c = character.value;
        const bool is_blank = c == '\n' || c == '\t';
        if (!character.is_legal)
            out += escaped(octets);
        else if (lines == Lines::join && (is_blank || c == ' ')) {
            if (!out.empty() && out.back() != ' ') out += ' ';
        } else if (is_blank || !is_unprintable(c))
            out += octets;
        else
            out += by_number(c);
    });
    if (lines == Lines::join && !out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

std::string one_line(std::string_view text, std::size_t limit) { return clipped(printable(text, Lines::join), limit); }

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// UTF-8 as RFC 3629 has it; what is not legal is shown, never passed on.
#include "reports/text.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace ipoib::reports {
namespace {

/// One character, or one octet that is none.
struct Character {
    char32_t value = 0;
    std::size_t octets = 1;
    bool legal = false;
};

/// Reads the character at the beginning of a text that is not empty. Overlong forms and surrogates are not legal.
Character first_of(std::string_view text) {
    const auto octet = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const char32_t lead = octet(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
    char32_t value = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((octet(i) & 0xc0U) != 0x80U) return {};
        value = value << 6 | (octet(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[length] || value > 0x10ffff || surrogate) return {};
    return {value, length, true};
}

bool is_unprintable(char32_t c) {
    const bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
    const bool turns_direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    const bool separates = c == 0x2028 || c == 0x2029;
    return control || turns_direction || separates || c == 0xfffe || c == 0xffff;
}

/// Calls `each` with every character and its octets.
template <class Each>
void for_each_character(std::string_view text, Each each) {
    while (!text.empty()) {
        const auto character = first_of(text);
        each(character, text.substr(0, character.octets));
        text.remove_prefix(character.octets);
    }
}

std::string escaped(std::string_view octets) {
    std::string out;
    for (const char c : octets) out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    return out;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for_each_character(text, [&](const Character& character, std::string_view octets) {
        if (character.legal)
            out += octets;
        else
            out += escaped(octets);
    });
    return out;
}

std::string printable(std::string_view text, Lines lines) {
    std::string out;
    out.reserve(text.size());
    for_each_character(text, [&](const Character& character, std::string_view octets) {
        const auto c = character.value;
        const bool blank = c == '\n' || c == '\t';
        if (!character.legal)
            out += escaped(octets);
        else if (lines == Lines::join && (blank || c == ' ')) {
            if (!out.empty() && out.back() != ' ') out += ' ';
        } else if (blank || !is_unprintable(c))
            out += octets;
        else if (c < 0x100)
            out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
        else
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    });
    if (lines == Lines::join && !out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

std::string sh_word(std::string_view word) {
    constexpr std::string_view harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
    const bool can_be_shown = printable(word) == word && word.find_first_of("\n\t") == std::string_view::npos;
    std::string text = can_be_shown ? "'" : "$'";
    for (const char c : word) {
        const auto octet = static_cast<unsigned char>(c);
        constexpr unsigned char blank = 0x20, last = 0x7e;
        if (!can_be_shown && (octet < blank || octet > last || c == '\\' || c == '\''))
            text += fmt::format("\\x{:02x}", octet);
        else
            text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + '\'';
}

std::string clipped(std::string_view text, std::size_t limit) {
    auto legal = valid_utf8(text);
    if (legal.size() <= limit) return legal;
    constexpr std::string_view mark = "... (cut)";
    auto end = limit > mark.size() ? limit - mark.size() : limit;
    while (end > 0 && (static_cast<std::uint8_t>(legal[end]) & 0xc0U) == 0x80U) --end;
    legal.resize(end);
    return limit > mark.size() ? legal.append(mark) : legal;
}

std::size_t columns(std::string_view text) {
    std::size_t count = 0;
    for_each_character(text, [&](const Character&, std::string_view) { ++count; });
    return count;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        const auto end = text.find_first_of(" \t\n");
        const auto word = text.substr(0, end);
        const bool line_ends = end != std::string_view::npos && text[end] == '\n';
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto size = columns(word);
        if (column > indent && column + 1 + size > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent && size > 0) {
            out += ' ';
            ++column;
        }
        out += word;
        column += size;
        if (line_ends && !text.empty()) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        }
    }
    return out;
}

}  // namespace ipoib::reports

// SPDX-License-Identifier: GPL-2.0-or-later
// What is not legal is shown, never passed on.
#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ipoib {

Character first_character(std::string_view text) noexcept {
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
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[length] || value > 0x10ffff || is_surrogate) return {};
    return {value, length, true};
}

std::string escaped(std::string_view octets) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char c : octets) {
        const auto octet = static_cast<std::uint8_t>(c);
        text.append("\\x").append(1, digits[octet >> 4]).append(1, digits[octet & 0xf]);
    }
    return text;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    const auto ascii = std::ranges::find_if(text, [](char c) { return (static_cast<std::uint8_t>(c) & 0x80U) != 0; });
    out.append(text.begin(), ascii);
    for_each_character({ascii, text.end()}, [&](const Character& character, std::string_view octets) {
        if (character.is_legal)
            out += octets;
        else
            out += escaped(octets);
    });
    return out;
}

std::string replaced_utf8(std::string_view text) {
    std::string all;
    all.reserve(text.size());
    for_each_character(text, [&](const Character& character, std::string_view octets) {
        all += character.is_legal ? octets : std::string_view{"\xef\xbf\xbd"};
    });
    return all;
}

std::string clipped(std::string_view text, std::size_t limit) {
    // Nothing becomes shorter: what is behind the limit needs not be looked at, but for the character that is there.
    constexpr std::size_t longest_character = 4;
    auto legal = valid_utf8(text.size() > limit ? text.substr(0, limit + longest_character) : text);
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

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// The way to ASCII and back.
#include "reports/toml_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/utf8.hpp"

namespace ipoib::reports {

namespace {

/// Where the string, or the comment, that begins at `at` ends: behind it.
std::size_t behind(std::string_view text, std::size_t at) noexcept {
    const auto rest = text.substr(at);
    const auto end_of = [&](std::size_t found, std::size_t size) {
        return found == std::string_view::npos ? text.size() : at + found + size;
    };
    if (rest.front() == '#') return end_of(rest.find('\n'), 0);
    const bool is_literal = rest.front() == '\'';
    const bool is_of_lines = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const auto mark = rest.substr(0, is_of_lines ? 3 : 1);
    for (std::size_t i = mark.size(); i < rest.size(); ++i) {
        if (rest[i] == '\\' && !is_literal)
            ++i;
        else if (rest.substr(i).starts_with(mark))
            return end_of(i, mark.size());
        else if (rest[i] == '\n' && !is_of_lines)
            return end_of(i, 0);
    }
    return text.size();
}

/// How long the escape of a tilde is that begins here; 0 where there is none.
std::size_t escaped_tilde(std::string_view text) noexcept {
    for (const std::string_view escape : {"\\u007e", "\\u007E", "\\U0000007e", "\\U0000007E"})
        if (text.starts_with(escape)) return escape.size();
    return 0;
}

void add_ascii(std::string& out, char c) {
    const auto octet = static_cast<std::uint8_t>(c);
    if (octet >= 0x80 || c == '~')
        out += fmt::format("~{:02x}", octet);
    else
        out += c;
}

}  // namespace

std::string to_ascii_toml(std::string_view document) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (document.starts_with(byte_order_mark)) document.remove_prefix(byte_order_mark.size());
    std::string out;
    out.reserve(document.size());
    std::size_t end = 0;  // of the string or comment at hand
    bool has_escapes = false;
    for (std::size_t i = 0; i < document.size(); ++i) {
        const char c = document[i];
        if (i >= end && (c == '"' || c == '\'' || c == '#')) {
            end = behind(document, i);
            has_escapes = c == '"';
        }
        add_ascii(out, c);
        if (c != '\\' || i >= end || !has_escapes) continue;
        // A tilde that toml++ makes of its escape would be taken for one of ours.
        if (const auto size = escaped_tilde(document.substr(i)); size != 0) {
            out.pop_back();
            add_ascii(out, '~');
            i += size - 1;
        } else if (i + 1 < document.size()) {
            add_ascii(out, document[++i]);
        }
    }
    return out;
}

std::size_t line_of_long_key(std::string_view document) noexcept {
    constexpr std::string_view ends_key = "#\r\n=,[]{}";
    std::size_t line = 1, parts = 1;
    for (std::size_t i = 0; i < document.size();) {
        const char c = document[i];
        const auto next = c == '"' || c == '\'' || c == '#' ? behind(document, i) : i + 1;
        if (ends_key.find(c) != std::string_view::npos) parts = 1;
        if (c == '.' && ++parts > most_parts) return line;
        for (; i < next; ++i) line += document[i] == '\n';
    }
    return 0;
}

std::string from_ascii_toml(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::uint8_t octet = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), octet, 16);
        if (text[i] == '~' && error == std::errc{} && end == digits.data() + 2) {
            out += static_cast<char>(octet);
            i += 2;
        } else
            out += text[i];
    }
    return out;
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : valid_utf8(text)) {
        const auto octet = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (octet < 0x20 || octet == 0x7f)
            out += fmt::format("\\u{:04x}", octet);
        else
            out += c;
    }
    return out + '"';
}

}  // namespace ipoib::reports

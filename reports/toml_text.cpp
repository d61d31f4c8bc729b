// SPDX-License-Identifier: GPL-2.0-or-later
// The way to ASCII and back.
#include "reports/toml_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/utf8.hpp"

namespace ipoib::reports {

std::string to_ascii_toml(std::string_view document) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (document.starts_with(byte_order_mark)) document.remove_prefix(byte_order_mark.size());
    std::string out;
    out.reserve(document.size());
    for (const char c : document) {
        const auto octet = static_cast<std::uint8_t>(c);
        if (octet >= 0x80 || c == '~')
            out += fmt::format("~{:02x}", octet);
        else
            out += c;
    }
    return out;
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

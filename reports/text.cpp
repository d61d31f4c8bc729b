// SPDX-License-Identifier: GPL-2.0-or-later
// Words for shells.
#include "reports/text.hpp"

#include "base/one_line.hpp"
#include "base/utf8.hpp"

namespace ipoib::reports {

std::string sh_word(std::string_view word) {
    constexpr std::string_view harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
    const bool can_be_shown = printable(word) == word && word.find_first_of("\n\t") == std::string_view::npos;
    std::string text = can_be_shown ? "'" : "$'";
    for (const char c : word) {
        const auto octet = static_cast<unsigned char>(c);
        constexpr unsigned char blank = 0x20, last = 0x7e;
        if (!can_be_shown && (octet < blank || octet > last || c == '\\' || c == '\''))
            text += escaped(std::string_view(&c, 1));
        else
            text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + '\'';
}

}  // namespace ipoib::reports

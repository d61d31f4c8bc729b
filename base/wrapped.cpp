// SPDX-License-Identifier: GPL-2.0-or-later
// Lines are broken at blanks.
#include "base/wrapped.hpp"

#include "base/utf8.hpp"

namespace ipoib {

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

}  // namespace ipoib

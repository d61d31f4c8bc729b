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

std::string fitted(std::string_view line, std::size_t width) {
    constexpr std::size_t least = 20, step = 2;
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos || columns(line) <= width) return std::string(line);
    const auto gap = line.rfind("  ");
    const bool has_columns = gap != std::string_view::npos && gap > begin;
    const auto last = has_columns ? gap + 2 : begin;
    const auto before = columns(line.substr(0, last));
    if (has_columns && before + least <= width)
        return std::string(line.substr(0, last)) + wrapped(line.substr(last), before, width);
    // What begins far to the right is a column by itself.
    const auto below = begin < least ? begin + step : begin;
    const std::string blanks(below, ' ');
    if (!has_columns) return blanks.substr(0, begin) + wrapped(line.substr(last), below, width);
    return fitted(line.substr(0, line.find_last_not_of(' ', gap) + 1), width) + '\n' + blanks +
           wrapped(line.substr(last), below, width);
}

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/markdown.hpp"

namespace ipoib::reports::markdown {

std::string plain(std::string_view text) {
    constexpr std::string_view special = "|<*`\\[";
    std::string escaped;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string code(std::string_view text) {
    std::string quoted = "`";
    for (const char c : text) {
        if (c == '|') quoted += '\\';
        quoted += c;
    }
    return quoted + '`';
}

std::string paragraph(std::string_view text, std::string_view prefix) {
    constexpr std::size_t width = 120;
    std::string lines, line(prefix);
    while (!text.empty()) {
        const auto end = text.find(' ');
        const auto word = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.size() > prefix.size()) {
            if (line.size() + 1 + word.size() > width) {
                lines += line + '\n';
                line = prefix;
            } else {
                line += ' ';
            }
        }
        line += word;
    }
    return lines + line + "\n\n";
}

std::string row(std::initializer_list<std::string_view> cells) {
    std::string line = "|";
    for (const auto cell : cells) line += cell.empty() ? " |" : ' ' + std::string(cell) + " |";
    return line + '\n';
}

std::string head(std::initializer_list<std::string_view> cells) {
    auto lines = row(cells) + '|';
    for (std::size_t i = 0; i < cells.size(); ++i) lines += "---|";
    return lines + '\n';
}

}  // namespace ipoib::reports::markdown

// SPDX-License-Identifier: GPL-2.0-or-later
// Markdown as the generated pages need it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace ipoib::reports::markdown {

/// Text that means itself, also inside a table.
[[nodiscard]] std::string plain(std::string_view text);
/// "`text`", also inside a table.
[[nodiscard]] std::string code(std::string_view text);
/// A paragraph of lines of at most 120 columns, each after `prefix` ("> "), and an empty line. A word that is longer
/// has a line of its own.
[[nodiscard]] std::string paragraph(std::string_view text, std::string_view prefix = "");
/// "| a | b |".
[[nodiscard]] std::string row(std::initializer_list<std::string_view> cells);
/// A table's first two lines.
[[nodiscard]] std::string head(std::initializer_list<std::string_view> cells);

/// "a, b", or `none` for an empty range.
template <class Range>
[[nodiscard]] std::string listed(const Range& items, std::string_view none = "") {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + std::string(item);
    return text.empty() ? std::string(none) : text;
}

}  // namespace ipoib::reports::markdown

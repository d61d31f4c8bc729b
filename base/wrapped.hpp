// SPDX-License-Identifier: GPL-2.0-or-later
// Text in lines of a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib {

/// The text in lines of at most `width` columns, broken at blanks and tabs, all but the first behind `indent` blanks. A
/// word longer than a line stays whole. The first line begins at column `indent`, too, but its blanks are the caller's.
[[nodiscard]] std::string wrapped(std::string_view, std::size_t indent, std::size_t width = 100);

/// One line of columns in lines of at most `width`: what is too long goes on below the beginning of the last column,
/// or, where too little room is left beside that, of the line. Columns are what two blanks and more part.
[[nodiscard]] std::string fitted(std::string_view line, std::size_t width);

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Words as a shell takes them, and text in lines of a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib::reports {

/// A word as a shell (bash) takes it, quoted where it must be; what cannot be shown as it is, as $'\xff'.
[[nodiscard]] std::string sh_word(std::string_view);

/// The text in lines of at most `width` columns, broken at blanks and tabs, all but the first behind `indent` blanks. A
/// word longer than a line stays whole. The first line begins at column `indent`, too, but its blanks are the caller's.
[[nodiscard]] std::string wrapped(std::string_view, std::size_t indent, std::size_t width = 100);

}  // namespace ipoib::reports

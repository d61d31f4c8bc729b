// SPDX-License-Identifier: GPL-2.0-or-later
// What a program says on standard error.
#pragma once

#include <string_view>

namespace ipoib {

/// "PROGRAM: what" and a line feed. Its words may come from anyone: what a terminal or a runner would obey is
/// written visibly.
void complain(std::string_view program, std::string_view what);
/// Several lines, as they are laid out; else the same.
void complain(std::string_view lines);

}  // namespace ipoib

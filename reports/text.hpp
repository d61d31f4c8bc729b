// SPDX-License-Identifier: GPL-2.0-or-later
// Words as a shell takes them, and text in lines of a width.
#pragma once

#include "base/wrapped.hpp"

#include <string>
#include <string_view>

namespace ipoib::reports {

/// A word as a shell (bash) takes it, quoted where it must be; what cannot be shown as it is, as $'\xff'.
[[nodiscard]] std::string sh_word(std::string_view);

using ipoib::wrapped;

}  // namespace ipoib::reports

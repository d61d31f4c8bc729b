// SPDX-License-Identifier: GPL-2.0-or-later
// The only way to standard error, but for progress.
#include "base/complain.hpp"

#include "base/one_line.hpp"

#include <iostream>

namespace ipoib {

void complain(std::string_view program, std::string_view what) {
    std::cerr << program << ": " << printable(what) << std::endl;
}

void complain(std::string_view lines) { std::cerr << printable(lines) << std::flush; }

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// The only way to standard error, but for progress.
#include "base/complain.hpp"

#include "base/job_log.hpp"
#include "base/one_line.hpp"

#include <iostream>

namespace ipoib {

void complain(std::string_view program, std::string_view what) {
    std::cerr << without_commands(std::string(program) + ": " + printable(what)) << std::endl;
}

void complain(std::string_view lines) { std::cerr << without_commands(printable(lines)) << std::flush; }

}  // namespace ipoib

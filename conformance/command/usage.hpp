// SPDX-License-Identifier: GPL-2.0-or-later
// Telling a user that the command line is wrong, or that what it names cannot be used.
#pragma once

#include <stdexcept>
#include <string>

namespace ipoib::conformance {

/// Ends the command with exit code 2 and this message.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Tester, fabric or adapter at fault: ends the command with exit code 3 and this message.
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace ipoib::conformance

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

/// Gives what `make` gives. A wrong word, which is std::invalid_argument, is the user's: UsageError; any other
/// std::runtime_error is a Fault.
template <class Make>
auto told_apart(const Make& make) {
    try {
        return make();
    } catch (const std::invalid_argument& wrong) {
        throw UsageError(wrong.what());
    } catch (const std::runtime_error& failure) {
        throw Fault(failure.what());
    }
}

}  // namespace ipoib::conformance

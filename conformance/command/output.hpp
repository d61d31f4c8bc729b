// SPDX-License-Identifier: GPL-2.0-or-later
// Standard output of every command: a reader that has gone away is no error, a full disk is.
#pragma once

#include "conformance/command/usage.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace ipoib::conformance {

/// The first error of standard output (an errno), 0 when there was none. The stream itself forgets which it was.
inline int& output_error() {
    static int error = 0;
    return error;
}

/// Makes sure that all output has left the program. Throws UsageError where it could not be written.
inline void flush_output() {
    errno = 0;
    const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!is_written && output_error() == 0) output_error() = errno ? errno : EIO;
    if (output_error() != 0 && output_error() != EPIPE)
        throw UsageError(std::string("standard output: ") + std::strerror(output_error()));
}

/// Writes a text and flushes.
inline void print(const std::string& text) {
    errno = 0;
    if (std::fputs(text.c_str(), stdout) < 0 && output_error() == 0) output_error() = errno;
    flush_output();
}

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Standard output of every command: a reader that has gone away is no error, a full disk is; what the runner of a job
// would obey is written visibly.
#pragma once

#include "base/job_log.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace ipoib::conformance {

/// The first error of standard output (an errno), 0 when there was none. The stream itself forgets which it was.
inline int& output_error() {
    static int error = 0;
    return error;
}

/// A report goes to standard output: then nothing else does, so that it can be read.
inline bool& is_report_on_output() {
    static bool is_so = false;
    return is_so;
}

/// Makes sure that all output has left the program. Throws UsageError where it could not be written.
inline void flush_output() {
    errno = 0;
    const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!is_written && output_error() == 0) output_error() = errno ? errno : EIO;
    if (output_error() != 0 && output_error() != EPIPE)
        throw UsageError(std::string("standard output: ") + std::strerror(output_error()));
}

/// Writes a text that begins a line, and flushes. The notation is that of the text; what people read fits the terminal.
/// Nothing is written beside a report.
inline void print(std::string text, Notation notation = Notation::text) {
    if (is_report_on_output()) return;
    if (notation == Notation::text) text = for_terminal(std::move(text));
    errno = 0;
    if (std::fputs(without_commands(std::move(text), notation).c_str(), stdout) < 0 && output_error() == 0)
        output_error() = errno;
    flush_output();
}

/// The same of what fmt makes.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
    print(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace ipoib::conformance

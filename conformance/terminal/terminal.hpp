// SPDX-License-Identifier: GPL-2.0-or-later
// What a person at the terminal sees and presses while a command runs: one line of progress, Ctrl-C.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ipoib::conformance {

/// Whether progress is for anybody: standard error is a terminal.
[[nodiscard]] bool progress_is_seen();

/// How wide what people read may be: as the terminal that standard output is, within reason; 100 columns elsewhere.
[[nodiscard]] std::size_t output_width();

/// What is printed, as people read it at a terminal: if standard output is one, lines that are wider go on below their
/// last column. Whole stay commands, which are to be copied, and what has colours, whose writer knew the width.
/// Elsewhere, for programs that read lines, all of it as it is.
[[nodiscard]] std::string for_terminal(std::string text);

/// Whether standard output is coloured: `when` is "always", "never", or "auto", which is at a terminal unless NO_COLOR
/// is set.
[[nodiscard]] bool is_coloured(std::string_view when);

/// A line on standard error that the next one replaces, and that is wiped out at the end.
class StatusLine {
public:
    StatusLine() = default;
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    void show(const std::string& text);
    void clear();

private:
    std::size_t shown_ = 0;  ///< columns
};

/// How much of a file was read: a bar, redrawn at most ten times a second. Short files end before it is first drawn.
class ProgressBar {
public:
    /// Octets so far, and in all (0: not known).
    void operator()(std::uint64_t position, std::uint64_t size);
    void clear() { line_.clear(); }

private:
    std::chrono::steady_clock::time_point drawn_{};
    StatusLine line_;
};

/// Ctrl-C (or SIGTERM, SIGHUP) ends the reading of captures and every fabric's loop; a second one ends the program.
void stop_on_interrupt();

}  // namespace ipoib::conformance

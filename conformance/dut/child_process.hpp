// SPDX-License-Identifier: GPL-2.0-or-later
// A command in a process group of its own, with pipes to its standard streams, which does not outlive its owner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>

namespace ipoib::conformance {

/// A descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) noexcept : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Descriptor() { close(); }
    void close() noexcept;
    /// -1 when it is closed.
    [[nodiscard]] int value() const noexcept { return value_; }
    explicit operator bool() const noexcept { return value_ >= 0; }

private:
    int value_ = -1;
};

/// Runs a command by /bin/sh. Its pipes are non-blocking on this side and not inherited by other processes.
class ChildProcess {
public:
    ChildProcess(const std::string& command, std::chrono::milliseconds grace);
    /// Closes the command's standard input and gives its whole process group `grace` to end, then SIGTERM and as much
    /// again, then SIGKILL. What left the group is out of reach.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Why it could not be started; empty when it was.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] bool has_ended() noexcept;
    /// It, or a process that it has started, which is stopped, by a debugger or SIGSTOP; empty: none is.
    [[nodiscard]] std::string stopped();
    /// Waits a little for the end. "exit status 3", "killed by signal 11 (Segmentation fault)"; empty while it runs.
    [[nodiscard]] std::string ending(std::chrono::milliseconds patience);

    Descriptor input, output, diagnostics;

private:
    void start(const std::string& command, int stdin_end, int stdout_end, int stderr_end);
    bool group_ends_within(std::chrono::milliseconds patience) noexcept;

    std::chrono::milliseconds grace_;
    pid_t pid_ = -1;
    bool is_reaped_ = false;
    std::string error_;
};

}  // namespace ipoib::conformance

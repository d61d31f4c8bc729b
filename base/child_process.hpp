// SPDX-License-Identifier: GPL-2.0-or-later
// A command in a process group of its own, with pipes to its standard streams, which does not outlive its owner, nor
// does what it has started.
#pragma once

#include "base/descriptor.hpp"
#include "base/offspring.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib {

/// What is run.
struct Command {
    std::string program;                 ///< a path, or a name to be searched for in PATH
    std::vector<std::string> arguments;  ///< the first is what the program is told of its own name
    [[nodiscard]] static Command words(std::vector<std::string> words) { return {words.at(0), words}; }
    /// By /bin/sh.
    [[nodiscard]] static Command shell(const std::string& text) { return {"/bin/sh", {"sh", "-c", text}}; }
};

/// How a process ended.
struct Ending {
    int status = 0;        ///< its exit status
    int signal = 0;        ///< that killed it; 0: it ended by itself
    bool is_known = true;  ///< false where somebody else has asked for it before
    /// "exit status 3", "killed by signal 11 (Segmentation fault)"; with what a shell means by its status.
    [[nodiscard]] std::string text() const;
};

/// Its pipes are non-blocking on this side and not inherited by other processes. It has the usual signals, whatever
/// this process ignores or blocks.
class ChildProcess {
public:
    /// Where its standard error goes.
    enum class Diagnostics : bool { with_ours, to_a_pipe };
    /// How long it may take to end: by itself, once its input has ended, and after each signal.
    struct Grace {
        std::chrono::milliseconds to_restore, to_end;
    };

    ChildProcess(const Command& command, Diagnostics where, Grace grace);
    /// Closes the command's standard input and gives it and all that it has started the time to end, then SIGTERM and
    /// as much as that takes, then SIGKILL and once more as much, but at least the 2 s that the kernel may need. What
    /// it still says is read, so that it does not wait for a reader. `tell` hears of what could not be ended.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Why it could not be started; empty when it was.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] bool has_ended() noexcept;
    /// It, or a process that it has started, which is stopped, by a debugger or SIGSTOP; empty: none is.
    [[nodiscard]] std::string stopped();
    /// Waits a little for the end; absent while it runs.
    [[nodiscard]] std::optional<Ending> ending(std::chrono::milliseconds patience);
    /// To its input, as much as that takes now: as write(2), without the SIGPIPE of a reader that is gone, whatever
    /// this process does with that signal.
    [[nodiscard]] ssize_t write(std::string_view octets) const noexcept;

    Descriptor input, output, diagnostics;
    /// Hears at the end what a person should know; empty: standard error does.
    std::function<void(const std::string&)> tell;
    /// -1 where it could not be started.
    [[nodiscard]] pid_t id() const noexcept { return pid_; }
    /// Hears what it says on `diagnostics` while it is being ended; empty: nobody does.
    std::function<void(std::string_view)> hear;

private:
    void start(const Command& command, int stdin_end, int stdout_end, int stderr_end);
    bool drain(std::chrono::milliseconds patience);
    [[nodiscard]] bool is_group_gone() noexcept;
    bool ends_within(std::chrono::milliseconds patience, int signal);
    void tell_of_what_is_left();

    const std::string program_;
    Offspring offspring_;
    Grace grace_;
    pid_t pid_ = -1;
    bool is_reaped_ = false, is_group_gone_ = false;
    std::string error_;
};

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a command with posix_spawn(3), learning how it ended, and ending it with all that it has started.
#include "base/child_process.hpp"

#include "base/complain.hpp"
#include "base/stopped_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>

namespace ipoib {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks whether it has ended: the first, and the longest where each walks through all processes.
constexpr std::chrono::milliseconds between_looks{5}, longest_between_looks{50};
/// What SIGKILL has hit ends without a doing of its own, as soon as the kernel comes to it.
constexpr std::chrono::milliseconds of_the_kernel{2000};

void set_non_blocking(const Descriptor& descriptor) {
    if (descriptor) ::fcntl(descriptor.value(), F_SETFL, ::fcntl(descriptor.value(), F_GETFL) | O_NONBLOCK);
}

/// As execve(2) wants them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

std::string with_signal(int signal) { return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")"; }

/// The usual signals, in a process group of its own.
void set_apart(posix_spawnattr_t& attributes) {
    sigset_t usual, none;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGIO}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

std::string Ending::text() const {
    constexpr int signal_offset = 128, not_executable = 126, not_found = 127;
    if (!is_known) return "nobody knows how";
    if (signal != 0) return "killed by " + with_signal(signal);
    auto text = "exit status " + std::to_string(status);
    if (status == not_executable) return text + " (the shell could not execute the command)";
    if (status == not_found) return text + " (the shell did not find the command)";
    if (status > signal_offset) return text + " (as a shell tells " + with_signal(status - signal_offset) + ")";
    return text;
}

ChildProcess::ChildProcess(const Command& command, Diagnostics where, Grace grace)
    : program_(command.arguments.empty() ? command.program : command.arguments.front()), grace_(grace) {
    const bool has_diagnostics = where == Diagnostics::to_a_pipe;
    auto to_child = make_pipe(), from_child = make_pipe(), errors = has_diagnostics ? make_pipe() : Pipe{};
    if (!to_child || !from_child || (has_diagnostics && !errors)) {
        error_ = std::string("no pipe: ") + std::strerror(errno);
        return;
    }
    start(command, to_child.reader.value(), from_child.writer.value(), errors.writer.value());
    if (!error_.empty()) return;
    input = std::move(to_child.writer);
    output = std::move(from_child.reader);
    diagnostics = std::move(errors.reader);
    for (const auto* const descriptor : {&input, &output, &diagnostics}) set_non_blocking(*descriptor);
}

void ChildProcess::start(const Command& command, int stdin_end, int stdout_end, int stderr_end) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, stdin_end, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, stdout_end, STDOUT_FILENO);
    if (stderr_end >= 0) ::posix_spawn_file_actions_adddup2(&actions, stderr_end, STDERR_FILENO);
    set_apart(attributes);

    auto arguments = command.arguments, environment = offspring_.environment();
    const int failure = ::posix_spawnp(&pid_, command.program.c_str(), &actions, &attributes,
                                       pointers_to(arguments).data(), pointers_to(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure == 0) return offspring_.began(pid_);
    pid_ = -1;
    error_ = command.program + " could not be started: " + std::strerror(failure);
}

bool ChildProcess::has_ended() noexcept {
    if (pid_ < 0 || is_reaped_) return true;
    Offspring::reap();
    siginfo_t info{};
    // Not reaped yet: the number of the process is that of its group, which may still have to be told to end.
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return (result == 0 && info.si_pid == pid_) || (result != 0 && errno == ECHILD);
}

std::string ChildProcess::stopped() { return has_ended() ? std::string{} : stopped_process(pid_); }

std::optional<Ending> ChildProcess::ending(std::chrono::milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (!has_ended()) {
        if (Clock::now() >= until) return {};
        ::poll(nullptr, 0, static_cast<int>(between_looks.count()));
    }
    siginfo_t info{};
    if (pid_ < 0 || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return Ending{.is_known = false};
    if (info.si_code == CLD_EXITED) return Ending{.status = info.si_status};
    return Ending{.signal = info.si_status};
}

ssize_t ChildProcess::write(std::string_view octets) const noexcept {
    sigset_t pipe_signal, before, pending;
    ::sigemptyset(&pipe_signal);
    ::sigaddset(&pipe_signal, SIGPIPE);
    ::sigpending(&pending);
    const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const auto count = ::write(input.value(), octets.data(), octets.size());
    const int error = errno;
    constexpr timespec at_once{};
    if (count < 0 && error == EPIPE && !was_pending) ::sigtimedwait(&pipe_signal, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return count;
}

/// Reads away what is written, so that nobody waits in a full pipe; at most as long as `patience`. Whether there was
/// something.
bool ChildProcess::drain(std::chrono::milliseconds patience) {
    std::array<pollfd, 2> polled{{{output.value(), POLLIN, 0}, {diagnostics.value(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), static_cast<int>(patience.count())) <= 0) return false;
    std::array<char, 4096> buffer{};
    bool has_read = false;
    for (auto* const stream : {&output, &diagnostics}) {
        if (!*stream) continue;
        const auto count = ::read(stream->value(), buffer.data(), buffer.size());
        has_read = has_read || count > 0;
        if (count > 0 && stream == &diagnostics && hear) hear({buffer.data(), static_cast<std::size_t>(count)});
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) stream->close();
    }
    return has_read;
}

bool ChildProcess::is_group_gone() noexcept {
    if (is_group_gone_) return true;
    if (!is_reaped_ && has_ended()) {
        ::waitpid(pid_, nullptr, WNOHANG);
        is_reaped_ = true;
    }
    if (!is_reaped_) return false;
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
    }
    // From now on somebody else's may have that number.
    return is_group_gone_ = ::kill(-pid_, 0) != 0;
}

/// All that there is of it gets the signal, once, and what appears meanwhile; 0: none.
bool ChildProcess::ends_within(std::chrono::milliseconds patience, int signal) {
    constexpr int most_last_words = 256;
    const auto until = Clock::now() + patience;
    std::set<pid_t> signalled;
    if (signal != 0 && !is_group_gone()) ::kill(-pid_, signal);
    for (auto pause = between_looks;; pause = std::min(2 * pause, longest_between_looks)) {
        const auto left = is_group_gone() || signal != 0 ? offspring_.left() : Offspring::Left{};
        if (is_group_gone() && left.processes.empty() && left.is_all) {
            // What it wrote last; one that escaped may write for ever.
            for (int i = 0; i < most_last_words && drain(std::chrono::milliseconds{0}); ++i) {
            }
            return true;
        }
        for (const auto& [pid, process] : left.processes)
            if (signal != 0 && signalled.insert(pid).second) ::kill(pid, signal);
        if (Clock::now() >= until) return false;
        const auto end_of_pause = std::min(Clock::now() + pause, until);
        while (Clock::now() < end_of_pause && !(is_group_gone() && left.processes.empty() && left.is_all))
            drain(between_looks);
    }
}

void ChildProcess::tell_of_what_is_left() {
    std::string names;
    for (const auto& [pid, process] : offspring_.left().processes) {
        if (process.is_zombie()) continue;
        names += (names.empty() ? "" : ", ") + process.text(pid);
        if (::kill(pid, 0) != 0) names += std::string(": ") + std::strerror(errno);
    }
    if (names.empty()) return;
    const auto text = "not all that '" + program_ + "' has started could be ended: " + names;
    if (tell)
        tell(text);
    else
        complain(program_invocation_short_name, text);
}

ChildProcess::~ChildProcess() {
    input.close();
    if (pid_ < 0) return;
    if (ends_within(grace_.to_restore, 0)) return;
    if (ends_within(grace_.to_end, SIGTERM) || ends_within(std::max(grace_.to_end, of_the_kernel), SIGKILL)) return;
    tell_of_what_is_left();
}

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a command with posix_spawn(3), learning how it ended, and ending its process group.
#include "base/child_process.hpp"

#include "base/stopped_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace ipoib {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks{5};

void set_non_blocking(const Descriptor& descriptor) {
    if (descriptor) ::fcntl(descriptor.value(), F_SETFL, ::fcntl(descriptor.value(), F_GETFL) | O_NONBLOCK);
}

/// Reads away what is written, so that nobody waits in a full pipe; at most as long as `patience`.
void drain(Descriptor& output, Descriptor& diagnostics, std::chrono::milliseconds patience) noexcept {
    std::array<pollfd, 2> polled{{{output.value(), POLLIN, 0}, {diagnostics.value(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), static_cast<int>(patience.count())) <= 0) return;
    std::array<char, 4096> buffer{};
    for (auto* const stream : {&output, &diagnostics}) {
        if (!*stream) continue;
        const auto count = ::read(stream->value(), buffer.data(), buffer.size());
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) stream->close();
    }
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

ChildProcess::ChildProcess(const Command& command, Diagnostics where, Grace grace) : grace_(grace) {
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

    auto copies = command.arguments;
    std::vector<char*> arguments;
    arguments.reserve(copies.size() + 1);
    for (auto& copy : copies) arguments.push_back(copy.data());
    arguments.push_back(nullptr);
    const int failure =
        ::posix_spawnp(&pid_, command.program.c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure == 0) return;
    pid_ = -1;
    error_ = command.program + " could not be started: " + std::strerror(failure);
}

bool ChildProcess::has_ended() noexcept {
    if (pid_ < 0 || is_reaped_) return true;
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

bool ChildProcess::group_ends_within(std::chrono::milliseconds patience) noexcept {
    const auto until = Clock::now() + patience;
    for (;;) {
        if (!is_reaped_ && has_ended()) {
            ::waitpid(pid_, nullptr, WNOHANG);
            is_reaped_ = true;
        }
        if (is_reaped_ && ::kill(-pid_, 0) != 0) return true;
        if (Clock::now() >= until) return false;
        drain(output, diagnostics, between_looks);
    }
}

ChildProcess::~ChildProcess() {
    input.close();
    if (pid_ < 0) return;
    if (group_ends_within(grace_.to_restore)) return;
    for (const int signal : {SIGTERM, SIGKILL}) {
        ::kill(-pid_, signal);
        if (group_ends_within(grace_.to_end)) return;
    }
}

}  // namespace ipoib

// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a command with posix_spawn(3), learning how it ended, and ending its process group.
#include "conformance/dut/child_process.hpp"

#include "conformance/dut/stopped_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace ipoib::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks{5};

struct Pipe {
    Descriptor reader, writer;
    [[nodiscard]] bool is_open() const noexcept { return reader && writer; }
};

/// Both ends are above the standard streams, so that none is overwritten on the way into the child.
Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    const Descriptor low_reader{ends[0]}, low_writer{ends[1]};
    return {Descriptor{::fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)},
            Descriptor{::fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)}};
}

void set_non_blocking(const Descriptor& descriptor) {
    ::fcntl(descriptor.value(), F_SETFL, ::fcntl(descriptor.value(), F_GETFL) | O_NONBLOCK);
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

std::string ending_text(const siginfo_t& info) {
    constexpr int signal_offset = 128, not_executable = 126, not_found = 127;
    if (info.si_code != CLD_EXITED) return "killed by " + with_signal(info.si_status);
    auto text = "exit status " + std::to_string(info.si_status);
    if (info.si_status == not_executable) return text + " (the shell could not execute the command)";
    if (info.si_status == not_found) return text + " (the shell did not find the command)";
    if (info.si_status > signal_offset) return text + " (as a shell tells " + with_signal(info.si_status - 128) + ")";
    return text;
}

}  // namespace

void Descriptor::close() noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
}

ChildProcess::ChildProcess(const std::string& command, std::chrono::milliseconds grace) : grace_(grace) {
    auto to_child = make_pipe(), from_child = make_pipe(), errors = make_pipe();
    if (!to_child.is_open() || !from_child.is_open() || !errors.is_open()) {
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

void ChildProcess::start(const std::string& command, int stdin_end, int stdout_end, int stderr_end) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, stdin_end, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, stdout_end, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, stderr_end, STDERR_FILENO);

    // What this process ignores or blocks is its own affair.
    sigset_t usual, none;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::string shell = "sh", option = "-c", text = command;
    const std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
    const int failure = ::posix_spawn(&pid_, "/bin/sh", &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure == 0) return;
    pid_ = -1;
    error_ = std::string("/bin/sh could not be started: ") + std::strerror(failure);
}

bool ChildProcess::has_ended() noexcept {
    if (pid_ < 0 || is_reaped_) return true;
    siginfo_t info{};
    // Not reaped yet: the number of the process is that of its group, which may still have to be told to end.
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return (result == 0 && info.si_pid == pid_) || (result != 0 && errno == ECHILD);
}

std::string ChildProcess::stopped() { return has_ended() ? std::string{} : stopped_process(pid_); }

std::string ChildProcess::ending(std::chrono::milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (!has_ended()) {
        if (Clock::now() >= until) return {};
        ::poll(nullptr, 0, static_cast<int>(between_looks.count()));
    }
    siginfo_t info{};
    if (pid_ < 0 || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return "nobody knows how";
    return ending_text(info);
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
    for (const int signal : {SIGTERM, SIGKILL}) {
        if (group_ends_within(grace_)) return;
        ::kill(-pid_, signal);
    }
    group_ends_within(grace_);
}

}  // namespace ipoib::conformance

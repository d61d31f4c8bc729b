// SPDX-License-Identifier: GPL-2.0-or-later
// Starting programs with posix_spawn(3), reading what they say, and ending them.
#include "conformance/dut/linux/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ipoib::host {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr int look_again = 5;  // ms

/// Starts a program; `output` and `errors` are descriptors of this process, or -1 for none. An error number on failure.
int spawn(const Arguments& arguments, int output, int errors, pid_t& process) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const auto& [own, standard] : {std::pair{output, STDOUT_FILENO}, std::pair{errors, STDERR_FILENO}}) {
        if (own >= 0) {
            ::posix_spawn_file_actions_adddup2(&files, own, standard);
        } else {
            ::posix_spawn_file_actions_addopen(&files, standard, "/dev/null", O_WRONLY, 0);
        }
    }
    // What this process blocks is its own affair.
    sigset_t none, usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGCHLD}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    auto copies = arguments;
    std::vector<char*> pointers;
    for (auto& copy : copies) pointers.push_back(copy.data());
    pointers.push_back(nullptr);
    const int failure = ::posix_spawnp(&process, pointers[0], &files, &attributes, pointers.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return failure;
}

bool make_pipe(Descriptor& reader, Descriptor& writer) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader = Descriptor{ends[0]};
    writer = Descriptor{ends[1]};
    return true;
}

/// Reads both streams to their ends, or until the limit. Whether both ended.
bool read_both(std::array<Descriptor, 2>& streams, std::array<std::string*, 2> texts, Clock::time_point until) {
    std::array<char, 16384> buffer;
    while (streams[0] || streams[1]) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
        if (left <= 0) return false;
        std::array<pollfd, 2> polled{{{streams[0].value(), POLLIN, 0}, {streams[1].value(), POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), static_cast<int>(std::min<long long>(left, 60000))) < 0 &&
            errno != EINTR)
            return false;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            if (!polled[i].revents) continue;
            const auto count = ::read(streams[i].value(), buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) {
                streams[i].close();
                continue;
            }
            const auto room = most_output - std::min(most_output, texts[i]->size());
            texts[i]->append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
        }
    }
    return true;
}

/// Whether it ended before then; its status is reaped.
bool ends_by(pid_t process, Clock::time_point until, int& status) {
    for (;;) {
        const auto ended = ::waitpid(process, &status, WNOHANG);
        if (ended == process || (ended < 0 && errno != EINTR)) return true;
        if (Clock::now() >= until) return false;
        ::poll(nullptr, 0, look_again);
    }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
}

void Descriptor::close() noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
}

std::string error_text(int error) { return std::generic_category().message(error); }

Outcome run(const Arguments& arguments, milliseconds limit) {
    Outcome outcome;
    std::array<Descriptor, 2> readers, writers;
    if (!make_pipe(readers[0], writers[0]) || !make_pipe(readers[1], writers[1])) {
        outcome.errors = "no pipe: " + error_text(errno);
        return outcome;
    }
    pid_t process = -1;
    if (const int failure = spawn(arguments, writers[0].value(), writers[1].value(), process); failure != 0) {
        outcome.errors = arguments.at(0) + ": " + error_text(failure);
        return outcome;
    }
    for (auto& writer : writers) writer.close();
    const auto until = Clock::now() + limit;
    read_both(readers, {&outcome.output, &outcome.errors}, until);
    int status = 0;
    if (!ends_by(process, until, status)) {
        ::kill(process, SIGKILL);
        ::waitpid(process, &status, 0);
        outcome.errors = arguments.at(0) + " did not end in time";
    } else if (WIFEXITED(status)) {
        outcome.status = WEXITSTATUS(status);
    } else {
        outcome.errors = arguments.at(0) + " was ended by a signal";
    }
    return outcome;
}

Background::Background(const Arguments& arguments) {
    if (const int failure = spawn(arguments, -1, -1, process_); failure != 0)
        throw std::runtime_error(arguments.at(0) + ": " + error_text(failure));
}

Background& Background::operator=(Background&& other) noexcept {
    std::swap(process_, other.process_);
    return *this;
}

bool Background::is_running() noexcept {
    int status = 0;
    if (process_ > 0 && ends_by(process_, Clock::now(), status)) process_ = -1;
    return process_ > 0;
}

void Background::signal(int number) const noexcept {
    if (process_ > 0) ::kill(process_, number);
}

void Background::end(milliseconds patience) noexcept {
    if (process_ <= 0) return;
    int status = 0;
    ::kill(process_, SIGTERM);
    if (!ends_by(process_, Clock::now() + patience, status)) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, &status, 0);
    }
    process_ = -1;
}

}  // namespace ipoib::host

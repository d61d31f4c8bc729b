// SPDX-License-Identifier: GPL-2.0-or-later
// A command that speaks with the host.
#include "lab/guest/port/bridge.hpp"
#include "lab/guest/port/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace ipoib::lab {
namespace {

using host::Descriptor;
using host::milliseconds;
using Clock = std::chrono::steady_clock;
constexpr std::size_t most_unwritten = 65536;

/// A pipe; this process's end does not block, and neither is inherited by accident.
void make_pipe(Descriptor& reader, Descriptor& writer) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe: " + host::error_text(errno));
    reader = Descriptor{ends[0]};
    writer = Descriptor{ends[1]};
}

void never_wait(const Descriptor& end) { ::fcntl(end.value(), F_SETFL, O_NONBLOCK); }

class Command {
public:
    explicit Command(const host::Arguments& arguments) {
        Descriptor its_input, its_output;
        make_pipe(its_input, input);
        make_pipe(output, its_output);
        never_wait(input);
        never_wait(output);
        start(arguments, its_input.value(), its_output.value());
    }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;
    ~Command() { end(milliseconds{0}); }

    /// The end of its input, SIGTERM, SIGKILL. Its whole process group is meant.
    void end(milliseconds grace) noexcept {
        input.close();
        for (const int signal : {SIGTERM, SIGKILL, 0}) {
            if (process_ < 0 || ends_within(grace)) return;
            if (signal) ::kill(-process_, signal);
        }
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    Descriptor input, output;

private:
    void start(const host::Arguments& arguments, int its_input, int its_output) {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attributes;
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_adddup2(&files, its_input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&files, its_output, STDOUT_FILENO);
        sigset_t none, usual;
        ::sigemptyset(&none);
        ::sigemptyset(&usual);
        for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGIO}) ::sigaddset(&usual, signal);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &usual);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        auto copies = arguments;
        std::vector<char*> pointers;
        for (auto& copy : copies) pointers.push_back(copy.data());
        pointers.push_back(nullptr);
        const int failure = ::posix_spawnp(&process_, pointers[0], &files, &attributes, pointers.data(), environ);
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&files);
        if (failure == 0) return;
        process_ = -1;
        throw std::runtime_error(arguments.at(0) + ": " + host::error_text(failure));
    }

    /// What it still says is read away, so that it does not wait for a reader.
    bool ends_within(milliseconds patience) noexcept {
        const auto until = Clock::now() + patience;
        std::array<char, 4096> unheard;
        constexpr int pause = 10;
        for (;;) {
            if (::waitpid(process_, nullptr, WNOHANG) != 0) {
                // The leader is gone; what it left behind in its group goes too.
                ::kill(-process_, SIGKILL);
                process_ = -1;
                return true;
            }
            if (Clock::now() >= until) return false;
            pollfd polled{output.value(), POLLIN, 0};
            ::poll(&polled, 1, pause);
            if (polled.revents && ::read(output.value(), unheard.data(), unheard.size()) == 0) output.close();
        }
    }

    pid_t process_ = -1;
};

/// Reads into the buffer; false at the end of the stream.
bool read_some(int from, Buffer& buffer) {
    std::array<std::uint8_t, 32768> octets;
    const auto count = ::read(from, octets.data(), octets.size());
    if (count > 0) buffer.add(OctetsView(octets).first(static_cast<std::size_t>(count)));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

void bridge_command(int port, int stop, const host::Arguments& arguments, milliseconds grace) {
    Command command(arguments);
    Buffer to_command, to_host;
    for (;;) {
        const bool has_room = to_command.size() < most_unwritten;
        std::array<pollfd, 4> polled{
            {{stop, POLLIN, 0},
             {port, static_cast<short>((has_room ? POLLIN : 0) | (to_host.size() ? POLLOUT : 0)), 0},
             {to_command.size() ? command.input.value() : -1, POLLOUT, 0},
             {to_host.size() < most_unwritten ? command.output.value() : -1, POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
        if (polled[0].revents || (polled[1].revents & (POLLHUP | POLLERR))) break;
        if ((polled[1].revents & POLLIN) && !read_some(port, to_command)) break;
        // A command that has ended reads and says no more. The host must see that for itself: the port stays open.
        if (!command.input || !write_some(command.input.value(), to_command)) {
            command.input.close();
            to_command.clear();
        }
        if (polled[3].revents && !read_some(command.output.value(), to_host)) command.output.close();
        if (!write_some(port, to_host)) break;
    }
    command.end(grace);
}

}  // namespace ipoib::lab

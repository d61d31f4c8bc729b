// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/port/host_port.hpp"

#include "conformance/dut/linux/changed_files.hpp"
#include "conformance/dut/linux/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>

namespace ipoib::lab {
namespace {

std::string path_of(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/virtio-ports", error))
        if (host::read_text((entry.path() / "name").string()) == name)
            return "/dev/" + entry.path().filename().string();
    throw std::runtime_error("there is no virtio-serial port " + name);
}

}  // namespace

Signals::Signals() {
    sigset_t ends, changes;
    ::sigemptyset(&ends);
    ::sigemptyset(&changes);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, signal);
    ::sigaddset(&changes, SIGIO);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    ::sigprocmask(SIG_BLOCK, &changes, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ends_ = Descriptor{::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK)};
    changes_ = Descriptor{::signalfd(-1, &changes, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!ends_ || !changes_) throw std::runtime_error("signalfd: " + host::error_text(errno));
}

bool Signals::is_end() const {
    pollfd polled{ends_.value(), POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
}

void Signals::take_changes() const {
    signalfd_siginfo signal{};
    while (::read(changes_.value(), &signal, sizeof signal) > 0) {
    }
}

void Signals::wait() const {
    std::array<pollfd, 2> polled{{{ends_.value(), POLLIN, 0}, {changes_.value(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), -1);
}

HostPort::HostPort(const std::string& name) {
    const auto path = path_of(name);
    port_ = Descriptor{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!port_) throw std::runtime_error(path + ": " + host::error_text(errno));
    // Without a host, poll() does not wait: the signal tells that one is coming.
    if (::fcntl(port_.value(), F_SETOWN, ::getpid()) != 0 ||
        ::fcntl(port_.value(), F_SETFL, ::fcntl(port_.value(), F_GETFL) | O_ASYNC) != 0)
        throw std::runtime_error(path + ": " + host::error_text(errno));
}

bool HostPort::is_connected() const {
    pollfd polled{port_.value(), 0, 0};
    return ::poll(&polled, 1, 0) == 0;
}

void HostPort::discard() const {
    std::array<char, 32768> unread;
    for (int left = 1000; left > 0 && ::read(port_.value(), unread.data(), unread.size()) > 0;) --left;
}

}  // namespace ipoib::lab

// SPDX-License-Identifier: GPL-2.0-or-later
// Unix sockets for raw ports.
#include "fabric/socket/unix_socket.hpp"

#include "fabric/socket/reason.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace ipoib::fabric {
namespace {

/// Nothing for a path that is too long for a socket.
std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
    path.copy(address.sun_path, path.size());
    return address;
}
std::string length_error(const std::string& path) {
    if (path.empty()) return "the path of a raw port is empty";
    return path + ": too long for the path of a socket (at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
           " octets)";
}

/// 0, or the error.
int connect_to(const Descriptor& descriptor, const sockaddr_un& address) {
    int result = 0;
    do {
        result = ::connect(descriptor.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } while (result < 0 && errno == EINTR && !Loop::stop_requested());
    return result < 0 ? errno : 0;
}

Connection open_device(const std::string& path) {
    Descriptor descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (!descriptor) return {.error = path + ": " + reason(errno)};
    return {.descriptor = std::move(descriptor)};
}

/// Removes a socket that a process left behind; throws for everything else that is there.
void make_way(const std::string& path, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    if (!S_ISSOCK(status.st_mode)) throw std::runtime_error(path + " exists and is not a socket: it is not replaced");
    Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int error = probe ? connect_to(probe, address) : errno;
    probe.close();
    if (error == ECONNREFUSED) {
        ::unlink(path.c_str());
    } else if (error == 0 || error == EAGAIN) {
        throw std::runtime_error(path + ": another process listens there");
    } else if (error != ENOENT) {
        throw std::runtime_error(path + ": " + reason(error));
    }
}

}  // namespace

Connection connect_raw_port(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode)) return open_device(path);
    const auto address = address_of(path);
    if (!address) return {.error = length_error(path)};
    Descriptor descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!descriptor) return {.error = path + ": " + reason(errno)};
    const int error = connect_to(descriptor, *address);
    if (error == 0) return {.descriptor = std::move(descriptor)};
    if (error == ECONNREFUSED) return {.error = path + ": no fabric listens there"};
    return {.error = path + ": " + reason(error)};
}

RawPortListener::RawPortListener(Loop& loop, std::string path, Accepted accepted)
    : loop_(loop), path_(std::move(path)), accepted_(std::move(accepted)) {
    const auto address = address_of(path_);
    if (!address) throw std::runtime_error(length_error(path_));
    make_way(path_, *address);
    descriptor_ = Descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int number = descriptor_.value();
    const bool is_bound =
        descriptor_ && ::bind(number, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
    struct stat status {};
    if (!is_bound || ::listen(number, SOMAXCONN) != 0 || ::lstat(path_.c_str(), &status) != 0) {
        const int error = errno;
        if (is_bound) ::unlink(path_.c_str());
        throw std::runtime_error(path_ + ": " + reason(error));
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
    listen();
}

RawPortListener::~RawPortListener() {
    loop_.cancel(pause_);
    loop_.unwatch(descriptor_.value());
    descriptor_.close();
    // Not a file that somebody else put there since.
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        ::unlink(path_.c_str());
}

void RawPortListener::listen() {
    loop_.watch(descriptor_.value(), POLLIN, [this](short) { serve(); });
}

void RawPortListener::serve() {
    Descriptor accepted{::accept4(descriptor_.value(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (accepted) return accepted_(std::make_unique<RawPort>(loop_, std::move(accepted)));
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    // No descriptors are left: the stack waits until there are some.
    constexpr Duration later = std::chrono::milliseconds{100};
    loop_.unwatch(descriptor_.value());
    pause_ = loop_.after(later, [this] { listen(); });
}

}  // namespace ipoib::fabric

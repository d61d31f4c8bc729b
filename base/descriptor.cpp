// SPDX-License-Identifier: GPL-2.0-or-later
// The one place that closes descriptors. close(2).
#include "base/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ipoib {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    const Descriptor former{std::exchange(value_, other.release())};
    return *this;
}

Descriptor::~Descriptor() {
    const int error = errno;
    close();
    errno = error;
}

bool Descriptor::close() noexcept {
    // Linux gives the number free whatever it answers: another try would close somebody else's.
    return value_ < 0 || ::close(release()) == 0;
}

Pipe make_pipe() noexcept {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    const Descriptor reader{ends[0]}, writer{ends[1]};
    return {Descriptor{::fcntl(reader.value(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)},
            Descriptor{::fcntl(writer.value(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)}};
}

}  // namespace ipoib

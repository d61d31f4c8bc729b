// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file to standard output at a steady rate, as a capture comes from a link, and tells how late its writes were
// at most: so long what comes meanwhile must wait in somebody's buffer, or is lost.
#include "base/complain.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

bool write_all(const char* data, std::size_t size) {
    while (size > 0) {
        const auto written = ::write(STDOUT_FILENO, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Each millisecond what has come by then.
int copy(const char* data, std::size_t size, double octets_a_second) {
    const auto began = Clock::now();
    Milliseconds latest{};
    std::size_t done = 0;
    for (unsigned turn = 1; done < size; ++turn) {
        const auto due = began + std::chrono::milliseconds{turn};
        std::this_thread::sleep_until(due);
        const auto come = octets_a_second * turn / 1000;
        const auto until = come < static_cast<double>(size) ? static_cast<std::size_t>(come) : size;
        if (!write_all(data + done, until - done)) {
            ipoib::complain("paced-copy", "what reads has ended after " + std::to_string(done) + " of " +
                                              std::to_string(size) + " octets");
            return 1;
        }
        done = until;
        latest = std::max<Milliseconds>(latest, Clock::now() - due);
    }
    ipoib::complain("late by " + std::to_string(latest.count()) + " ms at most\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const double rate = argc == 3 ? std::atof(argv[2]) : 0;
    if (rate <= 0) {
        ipoib::complain("Usage: paced-copy FILE OCTETS-A-SECOND\n");
        return 2;
    }
    const int file = ::open(argv[1], O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file < 0 || ::fstat(file, &about) != 0 || about.st_size == 0) {
        ipoib::complain("paced-copy", std::string(argv[1]) + " cannot be read, or is empty");
        return 2;
    }
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (data == MAP_FAILED) {
        ipoib::complain("paced-copy", std::string(argv[1]) + ": " + std::strerror(errno));
        return 2;
    }
    return copy(static_cast<const char*>(data), size, rate);
}

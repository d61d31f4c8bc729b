// SPDX-License-Identifier: GPL-2.0-or-later
// Writing what waits in a buffer.
#pragma once

#include "lab/guest/port/framing.hpp"

#include <unistd.h>

#include <cerrno>

namespace ipoib::lab {

/// As much as the descriptor, which does not block, takes now. False when nobody will read it.
[[nodiscard]] inline bool write_some(int descriptor, Buffer& buffer) {
    while (buffer.size() > 0) {
        const auto count = ::write(descriptor, buffer.view().data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN;
        if (count == 0) break;
        buffer.use(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace ipoib::lab

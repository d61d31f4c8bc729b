// SPDX-License-Identifier: GPL-2.0-or-later
// A virtio-serial port to the host, and the signals that a bridge lives by.
#pragma once

#include "base/descriptor.hpp"

#include <string>

namespace ipoib::lab {

/// SIGTERM, SIGINT and SIGHUP, which end a bridge; and SIGIO, which virtio_console sends when the host opens or closes
/// its end, and for data too. They are blocked from here on. One object a process.
class Signals {
public:
    Signals();
    /// Readable when the end is asked for, and from then on.
    [[nodiscard]] int end() const noexcept { return ends_.value(); }
    [[nodiscard]] bool is_end() const;
    /// Forgets the changes so far.
    void take_changes() const;
    /// Until something changes, or the end is asked for.
    void wait() const;

private:
    Descriptor ends_, changes_;
};

/// Not blocking. Throws std::runtime_error when it cannot be opened.
class HostPort {
public:
    /// The name of a virtio-serial port, or a path.
    explicit HostPort(const std::string& name);
    [[nodiscard]] int descriptor() const noexcept { return port_.value(); }
    [[nodiscard]] bool is_connected() const;
    /// What a host that has gone left unread is not for the next one.
    void discard() const;

private:
    Descriptor port_;
};

}  // namespace ipoib::lab

// SPDX-License-Identifier: GPL-2.0-or-later
// Where raw ports meet: connecting to a path, and listening on one.
#pragma once

#include "fabric/socket/raw_port.hpp"

#include <sys/types.h>

namespace ipoib::fabric {

/// A descriptor, or why there is none.
struct Connection {
    Descriptor descriptor{};
    std::string error{};  ///< names the path
};
/// Connects to the Unix socket at `path`, or opens the character device there (virtio-serial).
[[nodiscard]] Connection connect_raw_port(const std::string& path);

/// A Unix socket that hands out a raw port for each stack that connects. The file is removed at the end.
class RawPortListener {
public:
    using Accepted = std::function<void(std::unique_ptr<RawPort> port)>;
    /// Throws std::runtime_error when it cannot listen; a file that is not a socket nobody listens on any more is not
    /// replaced.
    RawPortListener(Loop& loop, std::string path, Accepted accepted);
    ~RawPortListener();
    RawPortListener(const RawPortListener&) = delete;
    RawPortListener& operator=(const RawPortListener&) = delete;

private:
    void listen();
    void serve();

    Loop& loop_;
    const std::string path_;
    const Accepted accepted_;
    Descriptor descriptor_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    TimerId pause_{};
};

}  // namespace ipoib::fabric

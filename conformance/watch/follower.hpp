// SPDX-License-Identifier: GPL-2.0-or-later
// Captures that are still being written: a file that grows, or files in a folder that take turns.
#pragma once

#include "fabric/capture/reader.hpp"

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace ipoib::watch {

/// One capture, as it comes. The reader ends where the capture does, which for a file in a folder is where the next one
/// has begun.
class Feed {
public:
    /// Of an open file at `path`, which grows until `is_over()`.
    Feed(std::filesystem::path path, Descriptor file, std::function<bool()> is_over);
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    [[nodiscard]] capture::Reader& reader() noexcept { return *reader_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    std::optional<capture::Reader> reader_;
    std::thread thread_;  ///< hands on what the file has
};

/// Goes from one capture to the next. Ends by capture::request_stop().
class Follower {
public:
    /// A file or a folder.
    explicit Follower(std::filesystem::path path) : path_(std::move(path)) {}
    /// Waits for the next capture; null after a stop.
    [[nodiscard]] std::unique_ptr<Feed> next();

private:
    using Identity = std::pair<dev_t, ino_t>;
    struct Found {
        std::filesystem::path path;
        Identity identity;
    };
    /// The first file that was not read yet, by the time of its last change.
    [[nodiscard]] std::optional<Found> unread() const;
    void forget_removed();

    std::filesystem::path path_;
    std::set<Identity> read_;
};

}  // namespace ipoib::watch

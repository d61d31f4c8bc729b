// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of the kernel under /proc/sys and /sys, written and put back.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ipoib::host {

/// A small file's text without the line's end; absent when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path);
/// Why it could not be written; empty when it was.
[[nodiscard]] std::string write_text(const std::string& path, const std::string& text);

/// Files whose former text comes back.
class ChangedFiles {
public:
    ChangedFiles() = default;
    ChangedFiles(const ChangedFiles&) = delete;
    ChangedFiles& operator=(const ChangedFiles&) = delete;
    ~ChangedFiles() { restore(); }
    /// Why it could not be changed; empty when it was.
    [[nodiscard]] std::string change(const std::string& path, const std::string& text);
    /// The latest change first.
    void restore() noexcept;

private:
    struct Former {
        std::string path, text;
    };
    std::vector<Former> former_;
};

}  // namespace ipoib::host

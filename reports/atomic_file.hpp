// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are whole or not there: a reader never sees half a report, a failed write leaves the old one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "reports/loaded.hpp"

namespace ipoib::reports {

/// Replaces the file by way of a temporary one in the same folder: written, synced, renamed. A symbolic link stays one;
/// a device or a pipe (/dev/stdout) is written to as it is. Returns what went wrong, with the path; empty if nothing.
[[nodiscard]] std::string write_atomically(const std::filesystem::path&, std::string_view content);

/// What `write_atomically` would stumble over, with the path, found by a temporary file beside it that is gone at once;
/// a file that is there stays as it is. Empty if nothing.
[[nodiscard]] std::string why_not_writable(const std::filesystem::path&);

/// The path as a file in `folder` names it; both may be relative to where the program runs.
[[nodiscard]] std::string relative_to(const std::filesystem::path& folder, const std::filesystem::path&);

/// The whole file, refused when it is larger than `limit` octets; "-" is standard input.
[[nodiscard]] Loaded<std::string> read_whole(const std::filesystem::path&, std::size_t limit);

}  // namespace ipoib::reports

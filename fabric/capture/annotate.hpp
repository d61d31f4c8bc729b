// SPDX-License-Identifier: GPL-2.0-or-later
// A capture again, with comments at its packets, as any Wireshark shows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ipoib::capture {

/// The comments of a frame, by its number as Frame::number counts; null for a frame without any.
using CommentsOf = std::function<const std::vector<std::string>*(std::uint64_t frame)>;

/// Writes the capture as pcapng. Of a pcapng all blocks stay as they are, comments and interfaces included, but for
/// those of packets that get comments; of a pcap packets, times and lengths. What cannot be read any more is left out.
/// Returns what went wrong with the file written, or why the capture cannot be opened; empty if nothing.
[[nodiscard]] std::string annotate(const std::string& capture, const std::filesystem::path& to,
                                   const CommentsOf& comments);

}  // namespace ipoib::capture

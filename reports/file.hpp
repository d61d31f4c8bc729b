// SPDX-License-Identifier: GPL-2.0-or-later
// Files that reports are read from, and what they call other files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "reports/loaded.hpp"

namespace ipoib::reports {

/// The path as a file in `folder` names it; both may be relative to where the program runs.
[[nodiscard]] std::string relative_to(const std::filesystem::path& folder, const std::filesystem::path&);

/// The whole file, refused when it is larger than `limit` octets; "-" is standard input.
[[nodiscard]] Loaded<std::string> read_whole(const std::filesystem::path&, std::size_t limit);

}  // namespace ipoib::reports

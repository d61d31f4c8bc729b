// SPDX-License-Identifier: GPL-2.0-or-later
// All that a third party needs to judge a run again, in one file: a tar archive (POSIX ustar) that tar(1) unpacks.
#pragma once

#include "conformance/replay/verify.hpp"

#include <map>
#include <string>
#include <string_view>

namespace ipoib::conformance::replay {

/// Files by name, without folders.
using Files = std::map<std::string, std::string>;

/// The same files give the same octets. Throws std::invalid_argument for a name longer than an archive takes.
[[nodiscard]] std::string tar_of(const Files& files);
/// Throws std::invalid_argument for what is no archive of plain files without folders.
[[nodiscard]] Files files_in(std::string_view tar);

inline constexpr std::uintmax_t most_of_bundle = std::uintmax_t{1} << 30;
/// Files of a bundle: cases have two each.
inline constexpr std::size_t most_files = 100'000;
/// Of what gzip, zstd or lz4 have compressed, the whole; else the same. Throws std::invalid_argument for what is
/// damaged or larger than a bundle may be.
[[nodiscard]] std::string decompressed(std::string content);

/// Of the evidence in a folder, with the results as they were before any baseline and --strict. Throws
/// std::invalid_argument.
[[nodiscard]] std::string bundle_of(const std::filesystem::path& folder, const reports::Results& results);

/// The bundle at this path, as verify() does with a folder; and its lists, results and claims. `progress` is told the
/// number of each case, of how many. Throws as verify().
[[nodiscard]] Verified verify_bundle(const std::filesystem::path& path, const SuiteTexts& suite,
                                     const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace ipoib::conformance::replay

// SPDX-License-Identifier: GPL-2.0-or-later
// Results as JSON, format "ipoib-conform-results/1": written for CI, read back by `diff`, `merge` and `baseline`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "reports/loaded.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {

/// The results as text, members always in the same order, the paths of captures and evidence relative to `folder`.
[[nodiscard]] std::string to_json(const Results&, const std::filesystem::path& folder = ".");

/// What all results that are read with it may take: a constant, and one and a half times the text that they are of.
/// Ours take less; who writes more into little means no good.
struct ResultsMemory {
    static constexpr std::size_t constant = std::size_t{32} << 20U;
    std::size_t left = constant;  ///< octets

    /// What is left when another file's results, read with a memory of their own, are kept beside. False where that is
    /// too much; then nothing is changed.
    [[nodiscard]] bool take(const ResultsMemory& other) noexcept {
        if (left + other.left < constant) return false;
        left = left + other.left - constant;
        return true;
    }
};

/// Reads what `to_json` writes, and more: unknown members are ignored, all but `format` and the ids and verdicts may be
/// missing. `folder` goes before relative paths. An error names `source` and the member: "a.json: /results/3/observed:
/// a whole number from 0 is expected, found a string".
[[nodiscard]] Loaded<Results> from_json(std::string_view text, std::string_view source,
                                        const std::filesystem::path& folder, ResultsMemory&);
[[nodiscard]] Loaded<Results> from_json(std::string_view text, std::string_view source,
                                        const std::filesystem::path& folder = {}, ResultsMemory&& = {});

/// Reads a file of at most 512 MiB; "-" is standard input.
[[nodiscard]] Loaded<Results> read_json(const std::filesystem::path&, ResultsMemory&);
[[nodiscard]] Loaded<Results> read_json(const std::filesystem::path&);

}  // namespace ipoib::reports

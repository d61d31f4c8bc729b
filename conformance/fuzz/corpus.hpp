// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions to begin with: files of sessions, and what testers have sent in the evidence of cases.
#pragma once

#include "conformance/fuzz/session.hpp"

#include <string>
#include <vector>

namespace ipoib::conformance::fuzz {

struct Corpus {
    std::vector<Session> sessions;
    std::size_t frames = 0, different = 0;  ///< of evidence
    std::vector<std::string> notes;         ///< files that are neither, or that could not be read
};

/// Of all *.json and *.pcapng in a folder and below it, in the order of their names. Throws std::runtime_error where
/// the folder cannot be read.
[[nodiscard]] Corpus read_corpus(const std::string& folder, const std::string& scenario);

}  // namespace ipoib::conformance::fuzz

// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded evidence judged again: each case is played on what its journal holds, the rules see the frames.
#pragma once

#include "conformance/replay/record.hpp"

#include <functional>

namespace ipoib::conformance::replay {

struct Verified {
    Record record;
    reports::Results results;            ///< as they come out now
    std::vector<std::string> wrong;      ///< what does not fit together, a sentence each; empty: it is as it was
    std::size_t scenes = 0, frames = 0;  ///< that were judged again
    std::vector<std::string> left_out;   ///< scenes that were not: the tester does something else there, or before
    /// Where another suite has recorded it: texts and numbers of that one that are others here.
    std::vector<std::string> of_other_suite;
};

/// `called` is what messages call the folder. `progress` is told the number of each case, of how many. Throws
/// std::invalid_argument for a folder that holds no evidence of a run, or of one that cannot be played again;
/// std::runtime_error where there is no room.
[[nodiscard]] Verified verify(const std::filesystem::path& folder, const std::string& called,
                              const std::function<void(std::size_t, std::size_t)>& progress = {});

/// What a build of the suite adds to results, and no evidence decides.
struct SuiteTexts {
    std::string digest;  ///< SHA-256
    std::function<void(reports::Results&)> add;
};

}  // namespace ipoib::conformance::replay

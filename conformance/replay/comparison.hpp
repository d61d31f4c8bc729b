// SPDX-License-Identifier: GPL-2.0-or-later
// results.json of a bundle beside the results that come out of its evidence, member by member.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::replay {

struct Differences {
    std::vector<std::string> of_run;  ///< what the evidence decides, a sentence each
    std::vector<std::string>
        of_suite;  ///< texts and numbers of the suite: titles, statements, revisions, what proves it
};

/// Both are texts of reports::to_json(). Members that evidence cannot decide are passed over: when it was, on which
/// host, by which command, how long it took, what was selected, what repeats a case, and the names of DUT and fabric.
/// Throws std::invalid_argument where `recorded` is no JSON, or nested too deeply.
[[nodiscard]] Differences differences_of(std::string_view recorded, std::string_view now);

}  // namespace ipoib::conformance::replay

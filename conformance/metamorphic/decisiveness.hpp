// SPDX-License-Identifier: GPL-2.0-or-later
// How often the judge comes to a verdict at all: one that never does keeps every relation on what must not appear.
#pragma once

#include "conformance/metamorphic/run.hpp"

#include <map>
#include <string>

namespace ipoib::metamorphic {

/// By requirement and kind of source: in how many sources it was judged, and in how many found broken.
struct Decisiveness {
    struct Cell {
        std::size_t judged = 0, broken = 0;
    };
    std::map<std::string, std::size_t> sources;                 ///< by kind
    std::map<std::pair<std::string, std::string>, Cell> cells;  ///< by requirement and kind

    /// The share of (requirement, source) with a verdict, over the requirements that any rule checks.
    [[nodiscard]] double share() const;
};

[[nodiscard]] Decisiveness decisiveness(const Sources& sources);
/// As a page: what the run came to, and a line for each requirement.
[[nodiscard]] std::string page(const Decisiveness& decisiveness, const Outcome& outcome);
/// Reads such a page again. Throws std::runtime_error for what is none.
[[nodiscard]] Decisiveness parse(const std::string& page);
/// Where there are fewer verdicts, or fewer violations found, than before; a line each. Kinds of sources that are not
/// there now are left out.
[[nodiscard]] std::vector<std::string> losses(const Decisiveness& before, const Decisiveness& now);

}  // namespace ipoib::metamorphic

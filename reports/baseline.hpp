// SPDX-License-Identifier: GPL-2.0-or-later
// BASELINE.toml: the failures that are known and excused, each with a reason and until when.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/loaded.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {

/// One `[[expected]]`.
struct Expected {
    std::string id;       ///< of a rule or case
    std::string verdict;  ///< "FAIL", "FAIL.MUST", "FAIL.STATED", "FAIL.SHOULD", "FAIL.CRASH", "WARN", "INCONC"
    std::vector<std::string> requirements;  ///< ids: what is excused; none: whatever this id says
    std::string reason;                     ///< never empty
    std::string reference;
    std::optional<std::chrono::year_month_day> expires;     ///< the last day on which it excuses
    std::vector<std::pair<std::string, std::string>> when;  ///< facts that the DUT must have, all of them
    std::size_t line = 0;                                   ///< in the file
};

struct Baseline {
    std::string file;
    std::vector<Expected> expected;
};

/// The ids that an entry may name.
struct KnownIds {
    /// Nothing where there is such an id; else what may have been meant ("; did you mean 'A-1-02'?"), or empty.
    using Ask = std::function<std::optional<std::string>(std::string_view id)>;
    Ask requirement;
    Ask judge;  ///< of a rule or case
};

/// Reads the text of a baseline. The error names file and line of everything that is wrong: unknown keys and
/// ids, wrong types, an empty reason, a second entry for the same id, verdict and facts that excuses the same.
[[nodiscard]] Loaded<Baseline> parse_baseline(std::string_view text, std::string_view file, const KnownIds&);

/// Reads a file of at most 1 MiB.
[[nodiscard]] Loaded<Baseline> load_baseline(const std::filesystem::path&, const KnownIds&);

/// Applies the entries to the results; before `roll_up`. An entry excuses the requirements that it names, one by one: a
/// result becomes XFAIL, with reference and reason, when nothing else is wrong with it, and stays a FAIL of what is not
/// excused. Without names it excuses the whole result, and a note says so. A PASS becomes XPASS when the entry excused
/// nothing of this id, or requirement, in this run (the same rule may keep failing in another capture, or on another
/// host). `when` is asked of each host's own DUT. "FAIL" matches every FAIL but FAIL.CRASH, which only "FAIL.CRASH"
/// excuses; "FAIL.MUST" also FAIL.STATED; "WARN" also the FAIL.SHOULD that `--strict` makes of it. An expired entry
/// leaves a note at the result it would have excused. Returns notes on entries that had no effect or excuse too much,
/// in the order of the file.
[[nodiscard]] std::vector<std::string> apply(Results&, const Baseline&, std::chrono::year_month_day today);

/// A baseline with one entry for each id that failed, with the requirements that it violates and an empty reason: to
/// be filled in, since an empty one is refused.
[[nodiscard]] std::string write_baseline(const Results&);

}  // namespace ipoib::reports

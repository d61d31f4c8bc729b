// SPDX-License-Identifier: GPL-2.0-or-later
// A passive run: captures in, verdicts out.
#pragma once

#include "conformance/judge/judge.hpp"
#include "conformance/judge/selection.hpp"
#include "reports/results.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Called now and then while a capture is read: octets read so far and in all (0: not known).
using Progress = std::function<void(std::uint64_t position, std::uint64_t size)>;

struct PassiveRun {
    std::vector<std::string> captures;  ///< paths; "-" is standard input
    std::vector<const rules::Rule*> rules;
    Judge::Listener listener{};
    Judge::Onlooker onlooker{};
    /// Called when a capture, or all as one, was read, with the summary of the first: what an onlooker has seen may be
    /// added.
    std::function<void(const Judge&, reports::CaptureResult&)> finished{};
    Progress progress{};
    Crew crew{.threads = 1};  ///< who reads; what comes out is the same
    JudgeOptions judge{};     ///< with `is_one_subnet` the captures are read as one, in the order of their times
};

/// Reads one capture to its end, as far as it can be read.
[[nodiscard]] Judge read_capture(const PassiveRun& run, std::size_t index, reports::CaptureResult& summary);
/// Reads all as one.
[[nodiscard]] Judge read_together(const PassiveRun& run, std::vector<reports::CaptureResult>& summaries);

/// Judges each capture by itself, or all as one; then `Detail::capture` tells which a frame is of. A capture that
/// cannot be opened or read to its end has `CaptureResult::error`, which is an ERROR of the run;
/// `Results::requirements` is left to roll_up.
[[nodiscard]] reports::Results check(const PassiveRun& run);

/// "must", "should", "may".
[[nodiscard]] std::string_view strength_name(requirements::Strength strength) noexcept;

/// "MUST" where the text has a keyword of RFC 2119 in capitals, "STATED" where it binds otherwise, "SHOULD", "MAY".
[[nodiscard]] std::string force_name(const requirements::Requirement& requirement);

/// Of what is checked: "standard" if any of it stands in a standard. Null requirements are passed over.
template <class Requirements>
[[nodiscard]] std::string_view status_of(const Requirements& checks) noexcept {
    auto status = requirements::Status::informative;
    for (const auto* requirement : checks)
        if (requirement) status = std::min(status, requirement->status());
    return name(status);
}

/// The requirements that selectors mean: those that a chosen one of the judges checks, as far as the selectors mean
/// them, and those that no judge checks and the selectors mean all the same.
[[nodiscard]] std::vector<std::string> selected_requirements(const Selection& selection,
                                                             const std::vector<Selectable>& judges);

/// What a selector can match, for every rule.
[[nodiscard]] std::vector<Selectable> selectable_rules();
/// The rules that a selection means.
[[nodiscard]] std::vector<const rules::Rule*> selected_rules(const Selection& selection);

/// The catalogue as reports read it, each requirement with why it stays open when nothing judged it.
[[nodiscard]] std::vector<reports::RequirementMeta> catalogue_for_reports();

}  // namespace ipoib::conformance

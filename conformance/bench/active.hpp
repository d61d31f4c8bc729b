// SPDX-License-Identifier: GPL-2.0-or-later
// An active run: the cases, one after the other, against one DUT; and the rules on everything that it sent.
#pragma once

#include "conformance/bench/profile.hpp"
#include "conformance/bench/rig.hpp"
#include "conformance/judge/selection.hpp"
#include "protocol/rules/rule.hpp"
#include "reports/results.hpp"

#include <functional>

namespace ipoib::conformance {

struct ActiveRun {
    std::vector<const Case*> cases;
    std::vector<const rules::Rule*> rules;
    bool judges_sa = false, has_control = true;
    Profile profile{};
    Impact allow = Impact::fabric;
    std::string evidence;            ///< folder for the cases' captures; empty: none are written
    bool may_lack_evidence = false;  ///< a case whose capture cannot be written has a note, and is no ERROR
    std::uint64_t seed = 1;
    unsigned repeat = 1;
    /// The command that repeats one case only, without the case's id; empty: none is told.
    std::string repeat_command;
    /// Told before each case: its number from 1, of how many.
    std::function<void(const Case&, std::size_t, std::size_t)> progress{};
    /// Shown each case's frames, and what was found, when it has ended.
    std::function<void(const Case&, const Recorder&, const reports::Result&)> witness{};
};

/// Why a case cannot be run at this DUT and fabric, before anything is sent; nothing when it can.
struct Obstacle {
    reports::NotJudged reason;
    std::string why;
};
[[nodiscard]] std::optional<Obstacle> obstacle(const Case& running, const ActiveRun& run, fabric::Abilities abilities);

/// Runs the cases. One that breaks its session is an ERROR; the others go on. Ends early when stop was requested: what
/// was not begun is an ERROR "interrupted".
[[nodiscard]] reports::Results run(const ActiveRun& run, Rig& rig);

/// What selectors can match: every case, by id.
[[nodiscard]] std::vector<Selectable> selectable_cases();
[[nodiscard]] std::vector<const Case*> selected_cases(const Selection& selection);
/// Shard `index` (from 1) of `count`, by hash of the id.
[[nodiscard]] bool is_in_shard(std::string_view id, unsigned index, unsigned count) noexcept;

}  // namespace ipoib::conformance

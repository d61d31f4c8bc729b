// SPDX-License-Identifier: GPL-2.0-or-later
// An active run: the cases, one after the other, against one DUT; and the rules on everything that it sent.
#pragma once

#include "conformance/bench/profile.hpp"
#include "conformance/bench/rig.hpp"
#include "conformance/judge/selection.hpp"
#include "protocol/rules/rule.hpp"
#include "reports/results.hpp"

#include <functional>
#include <optional>

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
    unsigned max_failures = 0;  ///< of cases and rules, after which no further case begins; 0: as many as there are
    /// Whether a result counts among these; null: a FAIL does. The second has the facts of the DUT.
    std::function<bool(const reports::Result&, const reports::Results&)> is_failure{};
    /// The command that repeats one case only, without the case's id; empty: none is told.
    std::string repeat_command;
    /// Where a run is paused: when a case begins, its session and the DUT being ready, and when its first violation is
    /// found, before anything is undone. The clock stands until it returns. Null: nowhere.
    struct Pause {
        std::string case_id;  ///< the case that begins; empty: at violations and crashes
        std::function<void(const std::string& why, Session& session)> wait;
    };
    std::optional<Pause> pause{};
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
/// `dut_can` is what the DUT's adapter says it can do; null: it has not been asked.
[[nodiscard]] std::optional<Obstacle> obstacle(const Case& running, const ActiveRun& run, fabric::Abilities abilities,
                                               const std::vector<std::string>* dut_can = nullptr);

/// Runs the cases. One that breaks its session is an ERROR; the others go on. On a real clock one that is INCONC is
/// tried a second time, and a note says why the first attempt was. What ends a run is told once, by an ERROR `SESSION`,
/// and what was not begun is counted: an adapter that never greeted, three sessions in a row that broke, a fabric that
/// could not be put back, a stop that was requested. Where the DUT's interface does not come up, the first case that
/// needs it is INCONC and counts the others; those that judge the start go on.
[[nodiscard]] reports::Results run(const ActiveRun& run, Rig& rig);

/// What selectors can match: every case, by id.
[[nodiscard]] std::vector<Selectable> selectable_cases();
[[nodiscard]] std::vector<const Case*> selected_cases(const Selection& selection);
/// Shard `index` (from 1) of `count`, by hash of the id.
[[nodiscard]] bool is_in_shard(std::string_view id, unsigned index, unsigned count) noexcept;

}  // namespace ipoib::conformance

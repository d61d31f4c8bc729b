// SPDX-License-Identifier: GPL-2.0-or-later
// Two implementations, each the other's peer: the exchanges, one after the other, and what the rules say of each of the
// two. interfaces.md, `run --against`.
#pragma once

#include "conformance/interop/exchange.hpp"
#include "conformance/judge/selection.hpp"
#include "protocol/rules/rule.hpp"
#include "reports/results.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance::interop {

struct InteropRun {
    std::vector<const Exchange*> exchanges;
    std::vector<const rules::Rule*> rules;
    MeetingOptions options{};
    unsigned repeat = 1;   ///< how often each exchange is done, each time by another seed
    std::string evidence;  ///< folder for the exchanges' captures; empty: none are written
    bool may_lack_evidence = false;
    /// The command that repeats one exchange, without its id; empty: none is told.
    std::string repeat_command;
    unsigned max_failures = 0;  ///< of either in exchanges, after which no further one begins; 0: as many as there are
    /// Whether a result counts among these; null: a FAIL does. The second has the facts of that side.
    std::function<bool(const reports::Result&, const reports::Results&)> is_failure{};
    /// Where a run is paused: when an exchange begins, both being up, and when the first violation of an exchange is
    /// found, before anything is undone. The clock stands until it returns. Null: nowhere.
    struct Pause {
        std::string exchange_id;  ///< the one that begins; empty: at violations and crashes
        std::function<void(const std::string& why, Place& place)> wait;
    };
    std::optional<Pause> pause{};
    /// Told before each exchange: its number from 1, of how many.
    std::function<void(const Exchange&, std::size_t, std::size_t)> progress{};
};

/// The verdicts of both, each as a run of its own: the exchanges, then the rules. A rule that one of them violates is
/// its own FAIL, in the exchange whose frames show it; what it owed and did not send as well, unless the other has
/// violated a rule there: then it is INCONC, for nobody need answer what is wrong. Where an adapter breaks, that is an
/// ERROR of that one and INCONC for the other; three times in a row, or where there is nothing to begin with, the run
/// ends by an ERROR `SESSION`, and what was not begun is counted.
[[nodiscard]] Each<reports::Results> run(const InteropRun& run, Place& place);

/// What was not begun, since there is no tap to watch them by: each exchange NA for both.
[[nodiscard]] Each<reports::Results> not_watched(const InteropRun& run, const std::string& why);

/// Both as one report: each a host of its name, "dut" and "against".
[[nodiscard]] reports::Results joined(Each<reports::Results> both);

[[nodiscard]] std::vector<Selectable> selectable_exchanges();
[[nodiscard]] std::vector<const Exchange*> selected_exchanges(const Selection& selection);

}  // namespace ipoib::conformance::interop

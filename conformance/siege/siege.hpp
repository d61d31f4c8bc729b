// SPDX-License-Identifier: GPL-2.0-or-later
// Histories in a row until the time is over, and what they found, each as short as it can be made.
#pragma once

#include "conformance/siege/generator.hpp"
#include "conformance/siege/play.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace ipoib::conformance::siege {

struct Run {
    Generator::Options generator{};
    std::optional<std::uint64_t> histories{};
    std::optional<std::chrono::nanoseconds> time{};  ///< on the clock of this host
    bool ends_at_first = false;                      ///< one thing that was found is enough
    bool confirms = true;                            ///< what is suspected
    std::size_t most_repeats = 20'000;               ///< of a history, to confirm a suspicion
    std::size_t most_tries = 400;                    ///< of histories, to shrink one
    std::function<bool()> is_stopped{};
    std::function<void(std::uint64_t histories, std::size_t found)> progress{};
    std::function<void(std::uint64_t repeats)> repeated{};
};

struct Found {
    Violation violation;               ///< as the history shows it
    History history;                   ///< shrunk
    std::uint64_t number = 0;          ///< of the history that showed it first, from 1
    std::uint64_t times = 0;           ///< in how many it was seen
    std::size_t steps = 0, tries = 0;  ///< of that history; what shrinking has cost
    double after = 0;                  ///< seconds since the beginning
    /// Of a suspicion: after so many repeats the SA had no room for a group, though nobody here held one; 0: not seen.
    std::uint64_t repeats = 0;
    double confirmed_after = 0;  ///< seconds since the beginning
    bool is_plainest = false;    ///< nothing about it can be plainer; else the tries ran out
};

struct Sieged {
    std::uint64_t histories = 0, requests = 0;
    double seconds = 0;
    std::vector<Found> found;
    bool tells_leaks = true;  ///< by MLIDs; else only by what is refused
    /// Where MLIDs do not tell: after so many groups one had an MLID of before; 0: none has.
    std::uint64_t mlids_come_again_after = 0;
    std::uint64_t unplayable = 0;         ///< histories of which steps could not be done here
    std::uint64_t disturbed = 0;          ///< histories of which not all was judged (Outcome::is_disturbed)
    std::vector<std::string> left_out{};  ///< what of histories cannot take place here
    bool is_interrupted = false;
    bool is_exhausted = false;  ///< it goes on from history to history, and has no room for a group any more
    std::string problem{};      ///< that ended it
};

/// Histories one after another; nothing when there are no more.
using Histories = std::function<std::optional<History>()>;
[[nodiscard]] Sieged lay_siege(const Run& run, Subject& subject, const Histories& next);
/// Those of chance.
[[nodiscard]] Sieged lay_siege(const Run& run, Subject& subject);

/// The fewest and plainest steps that still show it: with one step less, or anything about one plainer, it does not.
[[nodiscard]] Found shrunk(const History& history, const Violation& violation, Subject& subject, const Playing& playing,
                           std::size_t most_tries = 5000);
/// The history with one thing plainer: without a step or two, a step with less about it, two joins of a port as one, a
/// join state that nobody has, a port or a group by a lower number.
[[nodiscard]] std::vector<History> plainer(const History& history);

/// How often the history had to be played, with one administrator, until it had no room for a group; 0: it still has.
[[nodiscard]] std::uint64_t repeats_until_full(const History& history, Subject& subject, std::uint64_t most,
                                               const std::function<bool()>& is_stopped = {},
                                               const std::function<void(std::uint64_t)>& repeated = {});

/// For people.
[[nodiscard]] std::string text(const Sieged& sieged);
[[nodiscard]] std::string text(const History& history, const std::vector<Violation>& violations);

}  // namespace ipoib::conformance::siege

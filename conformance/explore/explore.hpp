// SPDX-License-Identifier: GPL-2.0-or-later
// Schedules in a row until the time is over, and what they found, each as small as it can be made.
#pragma once

#include "conformance/explore/play.hpp"
#include "conformance/explore/walk.hpp"

#include <functional>
#include <optional>

namespace ipoib::conformance::explore {

struct Run {
    Walk::Options walk{};
    const Mutant* mutant = nullptr;  ///< null: the reference
    RemoteDut* remote = nullptr;     ///< a DUT in another process takes their place
    std::optional<std::uint64_t> schedules{};
    std::optional<std::chrono::nanoseconds> time{};  ///< on the clock of this host
    bool ends_at_first = false;                      ///< one thing that was found is enough
    bool shrinks = true;
    std::function<bool(const Violation&)> is_known{};  ///< what is not told, since it is known; null: nothing is
    std::function<bool()> is_stopped{};
    std::function<void(std::uint64_t schedules, std::size_t transitions, std::size_t found)> progress{};
};

/// An invariant that was broken.
struct Found {
    Violation violation;               ///< as the schedule shows it
    Schedule schedule;                 ///< shrunk
    std::uint64_t number = 0;          ///< of the schedule that showed it first, from 1
    std::uint64_t times = 0;           ///< in how many it was broken
    std::size_t steps = 0, tries = 0;  ///< of that schedule; what shrinking has cost
};

struct Explored {
    std::uint64_t schedules = 0;
    std::size_t transitions = 0;
    double seconds = 0;
    std::uint64_t digest = 0;  ///< of all frames at the DUT's port
    std::vector<Found> found;
    std::uint64_t known = 0;  ///< how often what is known was seen
    unsigned most_open = 0, most_in_a_second = 0;
    bool is_interrupted = false;
};

[[nodiscard]] Explored explore(const Run& run);

/// The fewest steps and the shortest times with which the violation is still there; in virtual time.
[[nodiscard]] Found shrunk(const Schedule& schedule, const Violation& violation, const Playing& playing);

/// Of a DUT in another process, where each try takes seconds: the first of what the schedule has broken is shrunk, by
/// leaving out each step once, and with it the others that are broken by what is left. In their order.
[[nodiscard]] std::vector<Found> shrunk_together(const Schedule& schedule, const std::vector<Violation>& violations,
                                                 const Playing& playing);

/// For people: what was played, what was found.
[[nodiscard]] std::string text(const Explored& explored);
[[nodiscard]] std::string text(const Schedule& schedule, const std::vector<Violation>& violations);

}  // namespace ipoib::conformance::explore

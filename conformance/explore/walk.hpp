// SPDX-License-Identifier: GPL-2.0-or-later
// Which schedules are played: first every event at every step of a short life, then what chance makes of those that
// showed something new.
#pragma once

#include "conformance/explore/action.hpp"

#include <random>
#include <set>
#include <unordered_map>

namespace ipoib::conformance::explore {

class Walk {
public:
    struct Options {
        std::string scenario = "default";
        std::uint64_t seed = 1;
        unsigned depth = 3;                ///< events in a schedule of chance, at most
        std::vector<std::string> kinds{};  ///< of events; none: all
        bool is_systematic = true;         ///< begins with the systematic part
        unsigned stretch = 1;              ///< so many times as long is the short life of the systematic part
    };
    explicit Walk(Options options);

    [[nodiscard]] Schedule next();
    /// What was seen while the last one was played; how much of it for the first time.
    std::size_t learn(const Schedule& schedule, const std::set<std::uint64_t>& transitions);
    /// How many schedules the systematic part has, and how many transitions were seen so far.
    [[nodiscard]] std::size_t systematic() const noexcept { return points_.size(); }
    [[nodiscard]] std::size_t transitions() const noexcept { return seen_.size(); }

private:
    /// An event in the short life.
    struct Point {
        const Action* action;
        std::array<std::uint32_t, 2> arguments;
        fabric::Duration at;
    };
    struct Kept {
        Schedule schedule;
        std::uint64_t rarest;  ///< of its transitions the one that was seen least then
        unsigned picked = 0;
    };
    void lay_out();
    [[nodiscard]] Schedule systematic(std::size_t index) const;
    [[nodiscard]] Schedule fresh();
    [[nodiscard]] Schedule changed();
    [[nodiscard]] const Kept& pick();
    [[nodiscard]] Step any_step(const std::vector<const Action*>& among);
    [[nodiscard]] fabric::Duration any_gap();
    [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

    Options options_;
    std::mt19937_64 random_;
    std::vector<const Action*> operations_, events_;
    std::vector<Point> points_;
    std::size_t next_ = 0;
    bool is_by_chance_ = false;  ///< the latest, while the systematic part lasts every second one
    std::unordered_map<std::uint64_t, std::uint32_t> seen_;
    std::vector<Kept> kept_;
};

/// The short life that the systematic part is about: bring-up, join, send, leave.
[[nodiscard]] std::vector<Step> short_life();

}  // namespace ipoib::conformance::explore

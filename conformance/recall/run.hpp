// SPDX-License-Identifier: GPL-2.0-or-later
// Puts violations into worlds, judges them, and counts what the judge says.
#pragma once

#include "conformance/recall/world.hpp"

#include <functional>
#include <map>

namespace ipoib::recall {

/// What is said of one violation.
enum class Answer : std::uint8_t {
    found,      ///< FAIL (WARN of a statement that is advice) of the statement, at its frame
    other,      ///< the frame is accused, but of another statement
    suspected,  ///< INCONC that names the frame
    silent,
};

struct Count {
    std::size_t places = 0, found = 0, other = 0, silent = 0;
    std::map<std::string, std::size_t> doubts;  ///< why it is only suspected

    void add(Answer answer, const std::string& doubt);
    [[nodiscard]] std::size_t suspected() const noexcept { return places - found - other - silent; }
    /// In percent.
    [[nodiscard]] double recall() const noexcept {
        constexpr double percent = 100;
        return places ? percent * static_cast<double>(found) / static_cast<double>(places) : percent;
    }
};

/// Of one statement and one kind of change.
struct Cell {
    std::string statement, kind;
    bool is_at_rest = false, is_provable = true;
    Count with_psns, without;
    Count vouched;  ///< as `without`, by who says that the capture is whole
};

/// A violation that was not found.
struct Miss {
    const World* world;
    const Violation* violation;
    std::size_t claim;
    Answer answer;
    std::string doubt;
};

/// A FAIL in a legal world.
struct FalseCharge {
    const World* world;
    std::string statement;
    std::size_t lost = 0;    ///< frames
    std::uint64_t seed = 0;  ///< of lose(), where some are
};

struct Run {
    const Worlds& worlds;
    std::uint64_t seed = 1;
    std::size_t most_each = 0;    ///< places of each cell, with PSNs and without, by chance; 0: all
    std::size_t losses_each = 4;  ///< worlds with frames lost, of each
    std::function<bool()> is_stopped{};
    std::function<void(std::size_t done, std::size_t all)> progress{};
};

struct Outcome {
    std::vector<Cell> cells;  ///< by statement and kind
    std::vector<Miss> misses;
    std::vector<FalseCharge> false_charges;
    std::size_t worlds = 0, losses = 0;
    double seconds = 0;  ///< of all processors
    bool is_interrupted = false;
};

/// On all processors; equal runs come to the same.
[[nodiscard]] Outcome execute(const Run& run);

/// A world as it is when frames are lost at random: one of ten, or of hundreds.
void lose(const World& world, std::uint64_t seed, Trace& variant);

/// What the judge says of one violation, by claim.
struct Said {
    Answer answer = Answer::silent;
    std::string doubt{};
    std::uint16_t rule = 0;  ///< in rules::all(), that has found it first
};
[[nodiscard]] std::vector<Said> judge(const World& world, const Violation& violation, metamorphic::Way way = {});
/// A doubt without the numbers in it, which is the same in many places.
[[nodiscard]] std::string kind_of(const std::string& doubt);
/// A violation, by the numbers of its world and itself.
struct Task {
    std::size_t world, violation;
};
/// All that a run judges.
[[nodiscard]] std::vector<Task> tasks_of(const Run& run);

}  // namespace ipoib::recall

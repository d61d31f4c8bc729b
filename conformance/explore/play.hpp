// SPDX-License-Identifier: GPL-2.0-or-later
// One schedule from its beginning to the verdict: it is played, the storm ends, and what must be true then is asked.
#pragma once

#include "conformance/explore/schedule.hpp"
#include "conformance/mutants/mutant.hpp"
#include "protocol/requirements/requirement.hpp"

#include <set>
#include <string>
#include <vector>

namespace ipoib::conformance::explore {

class RemoteDut;

/// What a broken invariant comes to.
enum class Weight : std::uint8_t {
    fail,     ///< a requirement that binds is violated
    crash,    ///< the DUT tells of a fault
    warn,     ///< one that is recommended
    finding,  ///< no text says it, and yet it is not as it should be
};
/// "FAIL", "FAIL.CRASH", "WARN", "FINDING".
[[nodiscard]] std::string_view name(Weight weight) noexcept;

struct Violation {
    std::string invariant;  ///< "membership", "reach", "parameters" ...; of a rule its id
    const requirements::Requirement* requirement = nullptr;
    std::string what;  ///< in a sentence
    Weight weight = Weight::finding;
    /// What tells it from others that are broken: not in which group or at which frame.
    [[nodiscard]] std::string key() const;
};

struct Outcome {
    std::vector<Violation> violations;
    std::set<std::uint64_t> transitions;  ///< what was seen of the DUT, as numbers
    std::uint64_t digest = 0;             ///< of every frame at the DUT's port, with its time
    unsigned most_open = 0, most_in_a_second = 0;
};

struct Playing {
    const Mutant* mutant = nullptr;  ///< null: the reference
    RemoteDut* remote = nullptr;     ///< a DUT in another process takes their place, in real time
    bool applies_rules = true;       ///< the passive ones, to what the DUT sends
    double patience = 1;             ///< in real time: of the usual one, until an invariant is broken for good
    std::string evidence{};          ///< where its frames are kept; empty: nowhere
};

/// Throws std::invalid_argument for a scenario that there is not, and what RemoteDut does. When the program is told to
/// stop it ends early, and what comes out says nothing.
[[nodiscard]] Outcome play(const Schedule& schedule, const Playing& playing);

}  // namespace ipoib::conformance::explore

// SPDX-License-Identifier: GPL-2.0-or-later
// Mutants of the judge: what it has must be needed, by an innocent or to find a violation.
#pragma once

#include "conformance/metamorphic/relation.hpp"
#include "conformance/recall/run.hpp"

namespace ipoib::recall {

/// What a doubt costs and saves.
struct DoubtCount {
    std::size_t costs = 0;  ///< violations that are suspected only
    std::size_t saves = 0;  ///< accusations of legal captures that would be FAILs
};

struct JudgeMutant {
    enum class Change : std::uint8_t {
        without_proof,  ///< what must be whole in the capture need not be
        dropped,        ///< it never finds anything
    };
    const rules::Rule* rule;
    Change change;
    std::string killed_by{};  ///< a world, or a relation and a world; empty: it lives
};

struct Judges {
    std::map<std::string, DoubtCount> doubts;
    std::vector<JudgeMutant> mutants;
    [[nodiscard]] bool are_all_killed() const noexcept;
};

struct JudgesRun {
    const Worlds& worlds;
    std::vector<const metamorphic::Relation*> relations;  ///< changes under which a legal capture stays legal
    std::uint64_t seed = 1;
    std::function<bool()> is_stopped{};
    std::function<void(std::size_t done, std::size_t all)> progress{};
};
[[nodiscard]] Judges judge_judges(const JudgesRun& run);
[[nodiscard]] std::string text(const Judges& judges);

}  // namespace ipoib::recall

// SPDX-License-Identifier: GPL-2.0-or-later
// One variant: made, judged, compared with what it was made of; and shrunk where the relation is broken.
#pragma once

#include "conformance/metamorphic/relation.hpp"

#include <optional>

namespace ipoib::metamorphic {

/// A verdict that has moved though it must not.
struct Moved {
    Charge charge;
    bool is_gone = false;  ///< it was there before; else it has appeared
    /// Which rule of which relation: breaks that have it in common are told as one.
    [[nodiscard]] bool is_like(const Moved& other) const noexcept {
        return charge.rule == other.charge.rule && is_gone == other.is_gone;
    }
};

/// Judges variants, one after the other, in memory that it keeps.
class Trial {
public:
    /// What of the verdicts has moved wrongly. Valid until the next call.
    const std::vector<Moved>& execute(const Relation& relation, const Source& source, Kept kept, const Choice& choice);
    /// The variant judged last.
    [[nodiscard]] const Trace& variant() const noexcept { return variant_; }
    /// Variants are judged by other rules; what they were made of is not.
    void judge_by(const RuleSet* rules) noexcept { rules_ = rules; }
    /// What is suspected in the variant judged last.
    [[nodiscard]] const Suspicions& suspicions() const noexcept { return suspicions_; }

private:
    const Verdicts& judge_before(const Relation& relation, const Source& source, Kept kept, const Choice& choice);
    const Verdicts& judge_apart(const Source& source, const Choice& choice);
    const Verdicts& add_alone();
    void compare(const Relation& relation, const Source& source, const Verdicts& before);
    void compare_injected(const Verdicts& before, const Choice& choice);

    Trace variant_, before_trace_;
    Verdicts before_, alone_, after_;
    std::vector<Moved> moved_;
    Suspicions suspicions_;
    const RuleSet* rules_ = nullptr;
};

/// The fewest frames, and the fewest of them changed, for which the same verdict moves in the same way.
struct Reduced {
    std::vector<std::size_t> kept;
    Choice choice;
    Moved moved;
};
[[nodiscard]] Reduced reduce(Trial& trial, const Relation& relation, const Source& source, const Choice& choice,
                             const Moved& moved);

}  // namespace ipoib::metamorphic

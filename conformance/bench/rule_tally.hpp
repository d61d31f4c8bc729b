// SPDX-License-Identifier: GPL-2.0-or-later
// What the rules found over all the cases of an active run.
#pragma once

#include "conformance/bench/recorder.hpp"
#include "reports/results.hpp"

namespace ipoib::conformance {

/// Each case is a capture of its own; a rule's findings are added up, and its evidence is the first that shows a
/// violation.
class RuleTally {
public:
    RuleTally(std::vector<const rules::Rule*> rules, Party judged) : rules_(std::move(rules)), judged_(judged) {}
    /// A case's frames, and where they are kept.
    struct Scene {
        std::string id;              ///< of the case; of its second repetition "IPOIB-4391-6-VAL-001-2"
        std::uint32_t capture = 0;   ///< index into the results' captures
        std::string evidence;        ///< file, or empty
        std::string repetition;      ///< the command that runs the case again, or empty
        SubjectFilter subject{};     ///< of several that are judged: the one that is meant
        Judge::Listener violated{};  ///< told of each violation
    };
    /// Judges a case's frames; how many of them are IPoIB.
    std::uint64_t judge(const Recorder& recorder, const Scene& scene);
    void add_to(reports::Results& results);
    /// The sums up to now.
    [[nodiscard]] const std::vector<reports::Result>& so_far() const noexcept { return sums_; }

private:
    std::vector<const rules::Rule*> rules_;
    Party judged_;
    std::vector<reports::Result> sums_;
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// What the rules found over all the cases of an active run.
#pragma once

#include "conformance/engine/recorder.hpp"
#include "reports/results.hpp"

namespace ipoib::conformance {

/// Each case is a capture of its own; a rule's findings are added up, and its evidence is the first that shows a
/// violation.
class RuleTally {
public:
    RuleTally(std::vector<const rules::Rule*> rules, Party judged) : rules_(std::move(rules)), judged_(judged) {}
    /// Judges a case's frames; how many of them are IPoIB. `repetition`: the command that runs the case again, or
    /// empty.
    std::uint64_t judge(const Recorder& recorder, std::uint32_t capture, const std::string& evidence,
                        const std::string& repetition);
    void add_to(reports::Results& results);

private:
    std::vector<const rules::Rule*> rules_;
    Party judged_;
    std::vector<reports::Result> sums_;
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// What a selftest saw of each case, as far as the case's page tells it.
#pragma once

#include "conformance/bench/recorder.hpp"
#include "conformance/selftest/selftest.hpp"

#include <map>

namespace ipoib::conformance {

/// A frame in one line.
struct FrameLine {
    std::size_t number;  ///< from 1, as in the evidence
    std::string sender;  ///< "DUT", "tester", "SA", "other"
    std::string text;
};

/// What the failure of a case looked like.
struct Failure {
    const Mutant* mutant;
    reports::Verdict verdict;
    std::string message;
    std::vector<FrameLine> frames;  ///< of the step that failed, around what is wrong
    std::size_t left_out = 0;       ///< how many of them stand before these
    std::size_t wrong_frame = 0;    ///< its number; 0: what is wrong is no field of a frame
    std::string wrong_header;       ///< the header with the wrong field, decoded
    std::string what_is_wrong;      ///< "Encap.Reserved is 0x0100, expected 0x0000"
};

struct CaseStory {
    std::vector<Recorder::Step> steps;  ///< as the reference went through them
    std::vector<Failure> failures;      ///< one for each mutant that the case finds, by the mutant's name
};

/// Listens to a selftest (SelftestRun::witness).
class CaseStories {
public:
    /// Null: the reference.
    void take(const Mutant* mutant, const Case& one, const Recorder& recorder, const reports::Result& result);
    [[nodiscard]] const CaseStory& of(const Case& one) const;

private:
    std::map<const Case*, CaseStory> stories_;
};

}  // namespace ipoib::conformance

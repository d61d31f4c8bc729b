// SPDX-License-Identifier: GPL-2.0-or-later
// Adds the rules' results up.
#include "conformance/engine/rule_tally.hpp"

#include <algorithm>

namespace ipoib::conformance {

std::uint64_t RuleTally::judge(const Recorder& recorder, std::uint32_t capture, const std::string& evidence,
                               const std::string& repetition) {
    Judge judge{rules_, capture};
    recorder.show(judge, judged_);
    auto results = judge.results();
    for (auto& result : results) {
        result.evidence = evidence;
        if (result.violations > 0 && !repetition.empty()) result.repeat = repetition + ' ' + result.id;
    }
    if (sums_.empty())
        sums_ = std::move(results);
    else
        for (std::size_t i = 0; i < results.size(); ++i) reports::add_up(sums_[i], std::move(results[i]));
    return judge.ipoib();
}

void RuleTally::add_to(reports::Results& results) {
    if (sums_.empty()) sums_ = Judge{rules_, 0}.results();
    for (auto& sum : sums_)
        if (sum.verdict == reports::Verdict::pass)
            sum.message = "holds in " + std::to_string(sum.observed) + (sum.observed == 1 ? " packet" : " packets");
    std::ranges::move(sums_, std::back_inserter(results.results));
}

}  // namespace ipoib::conformance

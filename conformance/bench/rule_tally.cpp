// SPDX-License-Identifier: GPL-2.0-or-later
// Adds the rules' results up.
#include "conformance/bench/rule_tally.hpp"

#include "reports/failure.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::conformance {

namespace {

/// Says in which case its violations are: frames are numbered in each case anew.
void name_case(reports::Result& result, const std::string& id) {
    constexpr std::size_t most_frames = 20;
    for (auto& detail : result.details) detail.in_case = id;
    const auto named = static_cast<std::ptrdiff_t>(std::min(most_frames, result.frames.size()));
    result.cases.push_back({id, result.violations, {result.frames.begin(), std::next(result.frames.begin(), named)}});
    result.message = reports::packets_message(result);
}

/// What one case shows, another one that could not decide does not make doubtful.
void decide(reports::Result& sum, reports::Result& result) {
    const auto is_open = [](const reports::Result& one) { return one.verdict == reports::Verdict::inconc; };
    if (is_open(sum) && result.violations > 0) sum.verdict = reports::Verdict::pass;
    if (is_open(result) && sum.violations > 0) result.verdict = reports::Verdict::pass;
}

}  // namespace

std::uint64_t RuleTally::judge(const Recorder& recorder, const Scene& scene) {
    Judge judge{rules_, scene.capture, scene.violated, {.subject = scene.subject, .is_whole = recorder.is_whole()}};
    recorder.show(judge, judged_);
    judge.finish();
    auto results = judge.results();
    for (auto& result : results) {
        result.evidence = scene.evidence;
        if (result.violations == 0) continue;
        name_case(result, scene.id);
        if (!scene.repetition.empty()) result.repeat = scene.repetition + ' ' + result.id;
    }
    if (sums_.empty())
        sums_ = std::move(results);
    else
        for (std::size_t i = 0; i < results.size(); ++i) {
            decide(sums_[i], results[i]);
            reports::add_up(sums_[i], std::move(results[i]));
        }
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

// SPDX-License-Identifier: GPL-2.0-or-later
// What a case or an exchange that is repeated comes to.
#pragma once

#include "reports/results.hpp"

#include <map>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Several repetitions of a case or an exchange are one result: the worst of them, and how often each verdict was.
class Repetitions {
public:
    void take(reports::Result&& one) {
        ++count_;
        auto& same = numbers_[one.verdict];
        if (same.size() < most_named) same.push_back(count_);
        ++counts_[one.verdict];
        seconds_ += one.seconds;
        if (count_ == 1 || one.verdict < worst_.verdict) worst_ = std::move(one);
    }
    reports::Result result() {
        if (count_ == 1) return std::move(worst_);
        worst_.repetitions = counts_;
        worst_.seconds = seconds_;
        for (const auto& [verdict, numbers] : numbers_) worst_.notes.push_back(note(verdict, numbers));
        if (reports::is_flaky(worst_))
            worst_.message = "flaky, " + reports::repetitions_text(worst_) +
                             (worst_.message.empty() ? std::string{} : ": " + worst_.message);
        return std::move(worst_);
    }

private:
    static constexpr std::size_t most_named = 10;
    [[nodiscard]] std::string note(reports::Verdict verdict, const std::vector<unsigned>& numbers) const {
        const auto all = counts_.at(verdict);
        auto text = std::string(reports::name(verdict)) + " in " + std::to_string(all) + " of " +
                    std::to_string(count_) + " repetitions: ";
        for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
        return all > numbers.size() ? text + " ..." : text;
    }

    unsigned count_ = 0;
    double seconds_ = 0;
    reports::Result worst_;
    std::map<reports::Verdict, unsigned> counts_;
    std::map<reports::Verdict, std::vector<unsigned>> numbers_;  ///< of the first ones
};

}  // namespace ipoib::conformance

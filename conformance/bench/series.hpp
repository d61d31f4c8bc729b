// SPDX-License-Identifier: GPL-2.0-or-later
// What must be known of a node before it is blamed for what did not come.
#pragma once

#include <string>

namespace ipoib::conformance {

/// A series of ordinary requests, one after the other. Who answers some of them and not those between loses packets, or
/// limits its answers, or the link loses them: UD is unreliable, a host may answer as few echo requests as it likes,
/// and that is no fault. Who has answered none before has come back, and who answers no more is gone: neither loses
/// packets.
class Series {
public:
    /// Of `most` requests at most. It ends early when so many in a row had no answer: who is gone answers none.
    explicit Series(unsigned most, unsigned most_in_vain = 4) noexcept : most_(most), most_in_vain_(most_in_vain) {}

    /// Whether another request is to be sent.
    [[nodiscard]] bool goes_on() const noexcept { return asked_ < most_ && in_a_row_ < most_in_vain_ && !loses_; }
    void take(bool is_answered) noexcept {
        ++asked_;
        if (!is_answered) {
            ++in_a_row_;
            return;
        }
        if (answered_ > 0 && in_a_row_ > 0) loses_ = true;
        ++answered_;
        in_a_row_ = 0;
    }

    [[nodiscard]] bool loses() const noexcept { return loses_; }
    /// Whether it came to its end, and nothing was lost on the way.
    [[nodiscard]] bool loses_nothing() const noexcept { return asked_ == most_ && in_a_row_ == 0 && !loses_; }
    /// "of 9 ordinary echo requests one after the other 2 got no answer: ..."
    [[nodiscard]] std::string text() const {
        return "of " + std::to_string(asked_) + " ordinary echo requests one after the other " +
               std::to_string(asked_ - answered_) +
               " got no answer: packets are lost, or answers are limited, so that what did not come tells nothing";
    }

private:
    unsigned most_, most_in_vain_, asked_ = 0, answered_ = 0;
    unsigned in_a_row_ = 0;  ///< the latest that got no answer
    bool loses_ = false;
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Whether it pays to look among what was seen lately.
#pragma once

#include <cstdint>

namespace ipoib::state {

/// Watches how often something is found there. Where that is seldom, it is not looked for in most cases, but tried
/// again from time to time.
class Habit {
public:
    /// Whether to look now.
    [[nodiscard]] bool pays() noexcept {
        if (passed_over_ != 0) {
            --passed_over_;
            return false;
        }
        if (++looked_ == sample) {
            if (found_ < sample / 4) passed_over_ = rest;
            looked_ = found_ = 0;
        }
        return true;
    }
    void found() noexcept { ++found_; }

private:
    static constexpr std::uint32_t sample = 256, rest = 16384;
    std::uint32_t looked_ = 0, found_ = 0, passed_over_ = 0;
};

}  // namespace ipoib::state

// SPDX-License-Identifier: GPL-2.0-or-later
// Times as cases name them.
#pragma once

#include <chrono>

namespace ipoib::conformance {

using namespace std::chrono_literals;

/// How long something may take; stretched or cut by --timeout-scale.
struct Within {
    std::chrono::milliseconds time;
    bool is_stated = false;
    bool is_before_control = false;  ///< an ordinary question follows: its answer is waited for, however late it comes
};
[[nodiscard]] constexpr Within within(std::chrono::milliseconds time) noexcept { return {time}; }
/// A time that the DUT has stated, or that it was told: --timeout-scale stretches it, and never cuts it.
[[nodiscard]] constexpr Within stated(std::chrono::milliseconds time) noexcept {
    return {.time = time, .is_stated = true};
}

}  // namespace ipoib::conformance

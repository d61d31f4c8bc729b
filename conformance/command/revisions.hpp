// SPDX-License-Identifier: GPL-2.0-or-later
// Which definition of a rule or case gave a verdict: a number that changes with it. cmake/Revisions.cmake makes them.
#pragma once

#include <span>
#include <string_view>

namespace ipoib::conformance {

struct Revision {
    std::string_view id;
    std::string_view number;  ///< eight hexadecimal digits, of the source without comments and layout
};

/// One for each rule and case.
[[nodiscard]] std::span<const Revision> revisions();

}  // namespace ipoib::conformance

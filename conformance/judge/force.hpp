// SPDX-License-Identifier: GPL-2.0-or-later
// How much a FAIL may say: never more than the text does.
#pragma once

#include "protocol/requirements/requirement.hpp"

#include <string_view>

namespace ipoib::conformance {

/// Of a binding statement that is violated: "FAIL.MUST" where the text has a keyword of RFC 2119 in capitals, else
/// "FAIL.STATED".
[[nodiscard]] constexpr std::string_view fail_type(const requirements::Requirement& violated) noexcept {
    return violated.has_keyword() ? "FAIL.MUST" : "FAIL.STATED";
}

/// Of several, of which null ones and those that do not bind are passed over: the strongest.
template <class Requirements>
[[nodiscard]] constexpr std::string_view strongest_fail_type(const Requirements& violated) noexcept {
    for (const auto* one : violated)
        if (one && one->has_keyword()) return fail_type(*one);
    return "FAIL.STATED";
}

}  // namespace ipoib::conformance

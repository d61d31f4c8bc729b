// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong administrators, and what is found of them, for the tests.
#pragma once

#include "conformance/siege/siege.hpp"
#include "fabric/simulated/subnet_administrator.hpp"

#include <algorithm>

namespace ipoib::conformance::siege {

inline fabric::SaBehaviour with(fabric::SaLapse lapse) {
    fabric::SaBehaviour behaviour;
    behaviour.lapse = lapse;
    return behaviour;
}

inline const Found* leak_in(const Sieged& sieged) {
    const auto at = std::ranges::find_if(sieged.found,
                                         [](const Found& one) { return one.violation.weight() == Weight::suspicion; });
    return at == sieged.found.end() ? nullptr : &*at;
}

}  // namespace ipoib::conformance::siege

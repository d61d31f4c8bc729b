// SPDX-License-Identifier: GPL-2.0-or-later
// A setup that anybody may change. RFC 4391, 13.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant anybody_sets_up{
    .name = "anybody-sets-up",
    .what = "lets programs without privileges change the setup of the link",
    .breaks = {&rfc4391::setup_protected},
    .stack = [](Policy& policy) { policy.protects_setup = false; },
};

}  // namespace ipoib::conformance

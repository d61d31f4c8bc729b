// SPDX-License-Identifier: GPL-2.0-or-later
// Failures without a word. RFC 4391, 12.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant logs_nothing{
    .name = "logs-nothing",
    .what = "does not log failed multicast operations",
    .breaks = {&rfc4391::failures_logged},
    .stack = [](Policy& policy) { policy.logs_failures = false; },
};

}  // namespace ipoib::conformance

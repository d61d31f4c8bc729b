// SPDX-License-Identifier: GPL-2.0-or-later
// Failures without a word. RFC 4391, 12.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant logs_nothing{
    .name = "logs-nothing",
    .what = "does not log failed multicast operations",
    .breaks = {&rfc4391::failures_logged},
    .stack = [](Policy& policy) { policy.logs_failures = false; },
    .twin = Twin{},
};

const Mutant logs_no_sender{
    .name = "logs-no-sender",
    .what = "does not log failed joins for sending",
    .breaks = {&rfc4391::failures_logged},
    .stack = [](Policy& policy) { policy.logs_failures_of_senders = false; },
    .spares = {"IPOIB-4391-12-VAL-001", "IPOIB-4391-12-VAL-004"},
    .twin = Twin{},
};

const Mutant logs_no_silence{
    .name = "logs-no-silence",
    .what = "does not log that the SA does not answer a join or leave",
    .breaks = {&rfc4391::failures_logged},
    .stack = [](Policy& policy) { policy.logs_silence = false; },
    .spares = {"IPOIB-4391-12-VAL-001", "IPOIB-4391-12-VAL-003"},
    .twin = Twin{},
};

const Mutant hides_failed_joins{
    .name = "hides-failed-joins",
    .what = "tells programs that a join succeeded which the SA refused",
    .breaks = {&rfc4391::failures_reach_initiator, &udmc::attach_limit},
    .stack = [](Policy& policy) { policy.tells_failed_joins = false; },
    .twin = Twin{},
};

const Mutant logs_first_failure{
    .name = "logs-first-failure",
    .what = "logs the first multicast operation that fails, and no other",
    .breaks = {&rfc4391::failures_logged},
    .stack = [](Policy& policy) { policy.logs_each_failure = false; },
};

}  // namespace ipoib::conformance

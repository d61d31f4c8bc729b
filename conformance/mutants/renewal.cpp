// SPDX-License-Identifier: GPL-2.0-or-later
// What a stack forgets to ask for again.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant ignores_reregistration{
    .name = "ignores-reregistration",
    .what = "joins nothing again when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::broadcast_full_member_join, &rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.rejoins = false; },
    .sometimes = {&rfc4391::mlid_as_dlid, &rfc4391::lid_by_iba_methods},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-011", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028",
               "IPOIB-4391-5-INV-006"},
};

const Mutant keeps_first_parameters{
    .name = "keeps-first-parameters",
    .what = "goes on with the parameters of its first join when the broadcast group comes back with others",
    .breaks = {&rfc4391::adopts_broadcast_parameters},
    .stack = [](Policy& policy) { policy.adopts_anew = false; },
    .sometimes = {&rfc4391::sl_of_broadcast_group, &rfc4391::multicast_parameters_of_group,
                  &rfc4391::qkey_of_broadcast_group, &rfc4391::new_group_broadcast_parameters,
                  &rfc4391::new_group_other_attributes},
    .spares = {"IPOIB-4391-7-VAL-002"},
};

const Mutant forgets_to_resubscribe{
    .name = "forgets-to-resubscribe",
    .what = "does not subscribe to traps 66 and 67 again when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::group_trap_subscription},
    .stack = [](Policy& policy) { policy.resubscribes = false; },
    .sometimes = {&rfc4391::fallback_ends_with_group, &rfc4391::router_wildcard_subscription,
                  &rfc4392::deleted_group_mlid, &rfc4392::cached_mlid_needs_deletion_reports},
    .spares = {"IPOIB-4391-10-VAL-006"},
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong life of groups. RFC 4392, 1.3 and 4.2.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant hca_refuses_limited_members{
    .name = "hca-no-limited-members",
    .what = "the HCA of a full member drops what limited members send",
    .breaks = {&rfc4392::limited_members_kept_apart},
    .hca = [](HcaBehaviour& hca) { hca.takes_limited_members = false; },
    .spares = {"IPOIB-4392-1.2-INV-002"},
};

const Mutant heeds_no_deletion{
    .name = "heeds-no-deletion",
    .what = "keeps the MLID of a group that was deleted",
    .breaks = {&rfc4392::deleted_group_mlid},
    .stack = [](Policy& policy) { policy.heeds_deletion = false; },
    .twin = Twin{},
};

const Mutant never_leaves_idle_groups{
    .name = "never-leaves-idle",
    .what = "stays SendOnlyNonMember of a group that it sends nothing to any more",
    .breaks = {&rfc4392::sender_leaves_in_time},
    .stack = [](Policy& policy) { policy.leaves_idle_groups = false; },
    .spares = {"IPOIB-4391-10-VAL-023"},
    .twin = Twin{},
};

const Mutant stays_sender_when_down{
    .name = "stays-sender-when-down",
    .what = "stays SendOnlyNonMember of the groups that it has sent to when it is taken down",
    .breaks = {&rfc4392::sender_leaves_in_time},
    .stack = [](Policy& policy) { policy.leaves_sent_groups_when_down = false; },
    .spares = {"IPOIB-4392-4.2.5-VAL-001"},
};

const Mutant hca_joins_limited_members{
    .name = "hca-limited-to-limited",
    .what = "the HCA of a limited member takes what other limited members send",
    .breaks = {&rfc4392::limited_members_kept_apart},
    .hca = [](HcaBehaviour& hca) { hca.keeps_limited_members_apart = false; },
    .spares = {"IPOIB-4392-1.2-VAL-001"},
};

const Mutant believes_forged_reports{
    .name = "leaves-at-forged-report",
    .what = "leaves its link when any port reports that the broadcast group is deleted",
    .breaks = {&rfc4392::stays_in_broadcast_group},
    .stack = [](Policy& policy) { policy.outlives_broadcast_report = false; },
    .client = [](fabric::SaClient& client) { client.believes_anyone = true; },
    .spares = {"IPOIB-4392-4.2.5-VAL-002", "IPOIB-4392-4.2.5-VAL-003"},
    .does_not_live_on = true,
};

}  // namespace ipoib::conformance

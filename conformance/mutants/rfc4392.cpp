// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong life of groups. RFC 4392, 1.3 and 4.2.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant hca_refuses_limited_members{
    .name = "hca-no-limited-members",
    .what = "the HCA of a full member drops what limited members send",
    .breaks = {&rfc4392::limited_members_kept_apart},
    .hca = [](HcaBehaviour& hca) { hca.takes_limited_members = false; },
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
    .twin = Twin{},
};

}  // namespace ipoib::conformance

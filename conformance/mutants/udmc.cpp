// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong UD multicast.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant leaves_shared_groups{
    .name = "leaves-shared-group",
    .what = "leaves a group at the SA though another IP group has the same MGID",
    .breaks = {&udmc::leave_after_last_detach},
    .stack = [](Policy& policy) { policy.keeps_shared_groups = false; },
};

const Mutant hca_takes_any_mgid{
    .name = "hca-any-mgid",
    .what = "the HCA takes packets to groups that no queue pair is attached to",
    .breaks = {&udmc::unregistered_mgid_discarded},
    .hca = [](HcaBehaviour& hca) { hca.discards_unattached_mgid = false; },
    .sometimes = {&rfc4392::explicit_join_to_receive},
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong subnet administrators. RFC 4391, 5 and 10; UD multicast.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant sa_grants_any_mtu{
    .name = "sa-any-mtu",
    .what = "grants joins whatever the MTU of the port",
    .breaks = {&rfc4391::join_needs_group_mtu},
    .sa = [](SaBehaviour& sa) { sa.checks_mtu = false; },
};

const Mutant sa_creates_for_senders{
    .name = "sa-creates-for-senders",
    .what = "creates a group for a SendOnlyNonMember",
    .breaks = {&rfc4391::send_only_member_semantics},
    .sa = [](SaBehaviour& sa) { sa.creates_for_send_only = true; },
};

const Mutant sa_keeps_memberless{
    .name = "sa-keeps-groups",
    .what = "keeps a group after its last FullMember has left",
    .breaks = {&rfc4391::last_full_member_leaves},
    .sa = [](SaBehaviour& sa) { sa.deletes_at_last_full_member = false; },
};

const Mutant sa_counts_senders{
    .name = "sa-counts-senders",
    .what = "counts a SendOnlyNonMember as a member",
    .breaks = {&rfc4391::last_full_member_leaves},
    .sa = [](SaBehaviour& sa) { sa.counts_send_only_member = true; },
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong subnet administrators: joins, leaves, and the life of groups. RFC 4391, 5 and 10; RFC 4392, 1.3; IBTA Vol 1,
// 15.2.5.17.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant sa_grants_any_mtu{
    .name = "sa-any-mtu",
    .what = "grants joins whatever the MTU of the port",
    .breaks = {&rfc4391::join_needs_group_mtu},
    .sa = [](SaBehaviour& sa) { sa.checks_mtu = false; },
};

const Mutant sa_grants_any_rate{
    .name = "sa-any-rate",
    .what = "grants joins whatever rate they ask for",
    .breaks = {&iba::join_with_other_rate},
    .sa = [](SaBehaviour& sa) { sa.checks_rate = false; },
};

const Mutant sa_grants_any_p_key{
    .name = "sa-any-pkey",
    .what = "grants joins in every partition",
    .breaks = {&rfc4391::pkey_assigned_to_port, &iba::join_with_other_p_key},
    .sa = [](SaBehaviour& sa) { sa.checks_p_key = false; },
};

const Mutant sa_grants_any_q_key{
    .name = "sa-any-qkey",
    .what = "grants joins with another Q_Key than the group's",
    .breaks = {&iba::join_with_other_q_key},
    .sa = [](SaBehaviour& sa) { sa.checks_q_key = false; },
};

const Mutant sa_grants_any_sl{
    .name = "sa-any-sl",
    .what = "grants joins with another SL than the group's",
    .breaks = {&iba::join_with_other_sl},
    .sa = [](SaBehaviour& sa) { sa.checks_sl = false; },
};

const Mutant sa_grants_any_flow{
    .name = "sa-any-flow",
    .what = "grants joins with another TClass, FlowLabel or HopLimit than the group's",
    .breaks = {&iba::join_with_other_flow},
    .sa = [](SaBehaviour& sa) { sa.checks_flow = false; },
};

const Mutant sa_grants_no_state{
    .name = "sa-any-joinstate",
    .what = "grants joins without a join state",
    .breaks = {&iba::join_without_state},
    .sa = [](SaBehaviour& sa) { sa.demands_join_state = false; },
};

const Mutant sa_grants_any_leave{
    .name = "sa-any-leave",
    .what = "grants leaves with join states that the port has not",
    .breaks = {&iba::leave_of_what_is_not_held},
    .sa = [](SaBehaviour& sa) { sa.checks_leave = false; },
};

const Mutant sa_creates_with_any_components{
    .name = "sa-any-components",
    .what = "creates groups though components are missing",
    .breaks = {&iba::creation_components},
    .sa = [](SaBehaviour& sa) { sa.demands_components = false; },
};

const Mutant sa_creates_with_any_mgid{
    .name = "sa-any-mgid",
    .what = "creates groups with whatever MGID",
    .breaks = {&udmc::sa_validates_mgid},
    .sa = [](SaBehaviour& sa) { sa.checks_mgid = false; },
};

const Mutant sa_creates_for_senders{
    .name = "sa-creates-for-senders",
    .what = "creates a group for a SendOnlyNonMember or a NonMember",
    .breaks = {&rfc4391::send_only_member_semantics, &rfc4391::non_member_semantics,
               &rfc4392::creation_needs_full_member},
    .sa = [](SaBehaviour& sa) { sa.creates_for_send_only = true; },
    .spares = {"IPOIB-4391-10-VAL-010", "IPOIB-4391-11-VAL-004"},
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
    .breaks = {&rfc4391::send_only_member_semantics},
    .sa = [](SaBehaviour& sa) { sa.counts_send_only_member = true; },
    .spares = {"IPOIB-4391-10-VAL-010"},
};

const Mutant sa_counts_non_members{
    .name = "sa-counts-non-members",
    .what = "counts a NonMember as a member",
    .breaks = {&rfc4391::non_member_semantics},
    .sa = [](SaBehaviour& sa) { sa.counts_non_member = true; },
    .spares = {"IPOIB-4391-11-VAL-004"},
};

const Mutant sa_replaces_join_states{
    .name = "sa-replaces-join-states",
    .what = "takes a further join of a port for its only one",
    .breaks = {&rfc4392::join_state_union},
    .sa = [](SaBehaviour& sa) { sa.merges_join_states = false; },
};

const Mutant sa_leaves_all{
    .name = "sa-leaves-all",
    .what = "ends the whole membership of a port that leaves with one join state",
    .breaks = {&rfc4392::join_state_union},
    .sa = [](SaBehaviour& sa) { sa.leaves_part_by_part = false; },
};

const Mutant sa_deletes_broadcast{
    .name = "sa-deletes-broadcast",
    .what = "deletes the broadcast group with its last member",
    .breaks = {&rfc4391::broadcast_group_under_administration},
    .sa = [](SaBehaviour& sa) { sa.keeps_administrative = false; },
};

const Mutant sa_leaks_mlids{
    .name = "sa-leaks-mlids",
    .what = "does not use the MLIDs of groups that ended again",
    .breaks = {&rfc4391::last_full_member_leaves},
    .sa = [](SaBehaviour& sa) { sa.frees_mlids = false; },
    .spares = {"IPOIB-4391-10-VAL-009"},
};

const Mutant sa_makes_room{
    .name = "sa-makes-room",
    .what = "ends a group to make room for another",
    .breaks = {&iba::no_room_for_group},
    .sa = [](SaBehaviour& sa) { sa.makes_room = true; },
};

const Mutant sa_is_strict{
    .name = "permitted-strict-sa",
    .what = "compares what OpenSM does not: MLID, Scope and PacketLifeTime of a join, and a new group's MTU",
    .breaks = {},
    .sa = [](SaBehaviour& sa) { sa.is_strict = true; },
};

const Mutant sa_keeps_database{
    .name = "permitted-sa-keeps-database",
    .what = "has after a restart what it had before",
    .breaks = {},
    .sa = [](SaBehaviour& sa) { sa.keeps_database = true; },
};

const Mutant sa_without_send_only_full_member{
    .name = "permitted-sa-of-release-1.2",
    .what = "does not know SendOnlyFullMember, which came with release 1.3",
    .breaks = {},
    .sa = [](SaBehaviour& sa) { sa.offers_send_only_full_member = false; },
};

}  // namespace ipoib::conformance

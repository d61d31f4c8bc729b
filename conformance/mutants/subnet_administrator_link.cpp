// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong subnet administrators: what they tell, where they route, and the broadcast group that they set up. RFC
// 4391, 4.1 and 5; RFC 4392, 1.3; UD multicast.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

using Record = Bytes<McMemberRecord>;

const Mutant sa_limited_broadcast{
    .name = "sa-limited-broadcast-pkey",
    .what = "gives the broadcast group a limited-membership P_Key",
    .breaks = {&rfc4391::broadcast_group_full_pkey},
    .sa =
        [](SaBehaviour& sa) {
            sa.changes_broadcast_group = [](Record& record) {
                record.set(McMemberRecord::p_key,
                           static_cast<std::uint16_t>(record[McMemberRecord::p_key] & ~unsigned{full_membership}));
            };
        },
};

const Mutant sa_plain_q_key{
    .name = "sa-plain-qkey",
    .what = "gives the broadcast group an ordinary Q_Key",
    .breaks = {&rfc4391::broadcast_group_controlled_qkey},
    .sa =
        [](SaBehaviour& sa) {
            sa.changes_broadcast_group = [](Record& record) { record.set(McMemberRecord::q_key, 0x0b1b); };
        },
    .scenario = "controlled",
};

const Mutant sa_large_broadcast{
    .name = "sa-large-broadcast-mtu",
    .what = "gives the broadcast group an MTU that the ports do not support, and lets them join",
    .breaks = {&rfc4391::broadcast_group_mtu_bound, &rfc4391::link_mtu, &rfc4391::join_needs_group_mtu},
    .sa =
        [](SaBehaviour& sa) {
            sa.checks_mtu = false;
            sa.changes_broadcast_group = [](Record& record) { record.set(McMemberRecord::mtu, 5); };
        },
};

const Mutant sa_answers_port_mtu{
    .name = "sa-answers-port-mtu",
    .what = "answers a join with the MTU of the port instead of the group's",
    .breaks = {&rfc4392::mgid_identifies_one_group},
    .sa = [](SaBehaviour& sa) { sa.answers_with_group_mtu = false; },
    .scenario = "mtu4k",
};

const Mutant sa_truncates_tables{
    .name = "sa-truncates-tables",
    .what = "sends of a table only what fits into one MAD",
    .breaks = {&iba::table_is_complete},
    .sa = [](SaBehaviour& sa) { sa.sends_whole_tables = false; },
};

const Mutant sa_reports_nothing{
    .name = "sa-reports-nothing",
    .what = "takes subscriptions and reports nothing",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.reports = false; },
    .spares = {"IPOIB-4392-1.3.2.3-INV-001"},
};

const Mutant sa_reports_another{
    .name = "sa-reports-wrong-mgid",
    .what = "reports another MGID than that of the group",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.reports_right_group = false; },
    .spares = {"IPOIB-4392-1.3.2.3-INV-001"},
};

const Mutant sa_reports_forever{
    .name = "sa-reports-forever",
    .what = "goes on reporting after the end of a subscription",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.ends_subscriptions = false; },
    .spares = {"IPOIB-4392-1.3.2.3-INV-001"},
};

const Mutant sa_routes_nothing{
    .name = "sa-routes-nothing",
    .what = "lets ports join and routes no packets to them",
    .breaks = {&rfc4391::join_takes_effect, &rfc4391::members_reach_each_other, &rfc4391::fabric_multicast,
               &rfc4392::full_member_routing},
    .sa = [](SaBehaviour& sa) { sa.routes_to_members = false; },
};

const Mutant sa_routes_not_to_non_members{
    .name = "sa-routes-not-to-non-members",
    .what = "routes no packets to NonMembers",
    .breaks = {&rfc4391::non_member_semantics},
    .sa = [](SaBehaviour& sa) { sa.routes_to_non_members = false; },
    .spares = {"IPOIB-4391-11-VAL-003"},
};

const Mutant sa_routes_to_senders{
    .name = "sa-routes-to-senders",
    .what = "routes packets to SendOnlyNonMembers",
    .breaks = {&rfc4391::send_only_member_semantics},
    .sa = [](SaBehaviour& sa) { sa.routes_to_send_only = true; },
    .spares = {"IPOIB-4391-10-VAL-009"},
};

const Mutant sa_knows_no_paths{
    .name = "sa-knows-no-paths",
    .what = "tells no paths between ports",
    .breaks = {&rfc4391::members_reach_each_other},
    .sa = [](SaBehaviour& sa) { sa.knows_paths = false; },
};

const Mutant sa_joins_limited_members{
    .name = "sa-paths-of-limited-members",
    .what = "tells a path between two limited members of a partition",
    .breaks = {&rfc4392::limited_members_kept_apart},
    .sa = [](SaBehaviour& sa) { sa.parts_limited_members = false; },
};

const Mutant sa_lets_anyone_act{
    .name = "sa-any-proxy",
    .what = "lets a port change and end what another has joined",
    .breaks = {&iba::own_membership_protected},
    .sa = [](SaBehaviour& sa) { sa.checks_proxy = false; },
    .spares = {"IPOIB-IBA-15.2.5.17-INV-006"},
};

const Mutant sa_prunes_nothing{
    .name = "sa-prunes-nothing",
    .what = "keeps ports as members that have lost their link",
    .breaks = {&udmc::pruning},
    .sa = [](SaBehaviour& sa) { sa.prunes = false; },
};

const Mutant sa_waits_for_tables{
    .name = "sa-unfinished-tables",
    .what = "waits for ever for who acknowledges no segment of a table, and has room for few such tables",
    .breaks = {&iba::table_is_complete},
    .sa = [](SaBehaviour& sa) { sa.ends_unfinished_tables = false; },
    .spares = {"IPOIB-IBA-13.6-VAL-001"},
};

const Mutant sa_shows_partitions{
    .name = "sa-all-partitions",
    .what = "tells everyone of the groups of every partition",
    .breaks = {&iba::partitions_hidden},
    .sa = [](SaBehaviour& sa) { sa.hides_partitions = false; },
};

const Mutant sa_joins_outside_partition{
    .name = "sa-any-pkey-by-proxy",
    .what = "lets a port join another to a group of a partition that only itself is in",
    .breaks = {&rfc4391::pkey_assigned_to_port},
    .sa = [](SaBehaviour& sa) { sa.checks_p_key_of_joined = false; },
    .spares = {"IPOIB-4391-5-INV-003", "IPOIB-4391-5-INO-001"},
};

const Mutant sa_believes_gids{
    .name = "sa-believes-sgid",
    .what = "takes a requester for the port whose GID its GRH gives",
    .breaks = {&iba::own_membership_protected},
    .sa = [](SaBehaviour& sa) { sa.knows_requester_by_lid = false; },
    .spares = {"IPOIB-IBA-15.2.5.17-INV-004", "IPOIB-IBA-15.2.5.17-INV-006"},
};

const Mutant sa_forgets_subscriptions{
    .name = "sa-few-subscriptions",
    .what = "forgets the oldest subscription for a further one, whoever they are of",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.keeps_all_subscriptions = false; },
    .spares = {"IPOIB-4392-1.3.2.3-VAL-002"},
};

const Mutant sa_ends_subscriptions_of_others{
    .name = "sa-ends-others-subscriptions",
    .what = "ends the subscriptions of all ports to a trap when one ends its own",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.lapse = fabric::SaLapse::end_of_one_ends_others; },
    .spares = {"IPOIB-4392-1.3.2.3-VAL-002"},
};

const Mutant sa_takes_port_info{
    .name = "sa-takes-port-info",
    .what = "ends the memberships of a port of which any other one says that its link is down",
    .breaks = {&iba::own_membership_protected},
    .sa = [](SaBehaviour& sa) { sa.takes_port_info = true; },
    .spares = {"IPOIB-IBA-15.2.5.17-INV-004", "IPOIB-IBA-15.2.5.17-INV-005"},
};

const Mutant sa_passes_reports_on{
    .name = "sa-passes-reports-on",
    .what = "tells its subscribers what any port reports to it",
    .breaks = {&rfc4392::group_trap_reports},
    .sa = [](SaBehaviour& sa) { sa.reports_own_notices = false; },
    .spares = {"IPOIB-4392-1.3.2.3-VAL-002"},
};

}  // namespace ipoib::conformance

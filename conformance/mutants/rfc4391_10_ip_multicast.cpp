// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong IP multicast. RFC 4391, 10.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant sends_without_joining{
    .name = "sends-without-joining",
    .what = "sends to a group that it has not joined",
    .breaks = {&rfc4391::sender_joins_first, &rfc4391::send_only_join},
    .stack = [](Policy& policy) { policy.joins_to_send = false; },
    .spares = {"IPOIB-4391-10-VAL-027"},
    .twin = Twin{},
};

const Mutant sends_as_full_member{
    .name = "sends-as-full-member",
    .what = "joins as FullMember to send, and stays",
    .breaks = {&rfc4391::send_only_join, &rfc4392::sender_leaves_in_time},
    .stack = [](Policy& policy) { policy.send_join_state = join_state::full_member; },
    .spares = {"IPOIB-4391-10-VAL-023"},
    .twin = Twin{},
};

const Mutant creates_to_send{
    .name = "creates-to-send",
    .what = "creates the group that it sends to",
    .breaks = {&rfc4391::fallback_to_routers, &rfc4391::link_local_drop},
    .stack = [](Policy& policy) { policy.send_creates_with = join_state::full_member; },
    .sometimes = {&rfc4391::sender_checks_group},
    .twin = Twin{},
};

const Mutant creates_unasked{
    .name = "creates-unasked",
    .what = "joins as SendOnlyFullMember to send, without asking first, and so creates the group",
    .breaks = {&rfc4391::sender_checks_group, &rfc4391::fallback_to_routers, &rfc4391::link_local_drop,
               &rfc4391::send_only_join},
    .stack =
        [](Policy& policy) {
            policy.checks_group = false;
            policy.send_join_state = policy.send_creates_with = join_state::send_only_full_member;
        },
    .sometimes = {&rfc4391::group_attributes_cached},
    .spares = {"IPOIB-4391-10-VAL-024", "IPOIB-4391-10-VAL-025", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant broadcasts_instead{
    .name = "fallback-broadcast",
    .what = "sends packets of a missing group to the broadcast group though there is an all-router group",
    .breaks = {&rfc4391::fallback_prefers_all_router},
    .stack = [](Policy& policy) { policy.with_all_router = stack::Fallback::broadcast; },
    .twin = Twin{},
};

const Mutant drops_instead{
    .name = "fallback-never",
    .what = "drops packets of a missing group though there is an all-router group",
    .breaks = {&rfc4391::fallback_to_routers},
    .stack = [](Policy& policy) { policy.with_all_router = stack::Fallback::drop; },
    .spares = {"IPOIB-4391-10-VAL-004"},
    .twin = Twin{},
};

const Mutant keeps_more_on_the_link{
    .name = "link-local-too-wide",
    .what = "takes groups of 224.0.0.0/16, and IPv6 groups up to admin-local scope, for such as never leave their link",
    .breaks = {&rfc4391::fallback_to_routers},
    .stack =
        [](Policy& policy) {
            policy.is_redirected = [](const IpAddress& group) {
                constexpr unsigned admin_local = 4;
                return group.is_v4() ? group.v4() >> 16 != 0xe000 : (group.octets.octets[1] & 0x0fu) > admin_local;
            };
        },
    .spares = {"IPOIB-4391-10-VAL-004"},
    .twin = Twin{},
};

const Mutant joins_behind_leaves_lost{
    .name = "joins-behind-leaves-lost",
    .what = "does not join a group that a program joins again while the leave is on its way",
    .breaks = {&rfc4391::receiver_full_member_join},
    .stack = [](Policy& policy) { policy.joins_behind_leave = false; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013",
               "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant redirects_link_local{
    .name = "redirects-link-local",
    .what = "sends packets of a missing link-local group to the routers",
    .breaks = {&rfc4391::link_local_drop, &rfc4391::mgid_ipv4_group_id, &rfc4391::mgid_ipv6_group_id},
    .stack = [](Policy& policy) { policy.is_redirected = [](const IpAddress&) { return true; }; },
    .spares = {"IPOIB-4391-4-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::link_local_drop, &rfc4391::mgid_ipv6_group_id}},
};

const Mutant asks_each_time{
    .name = "no-group-cache",
    .what = "asks the SA for the group with every packet",
    .breaks = {&rfc4391::group_attributes_cached},
    .stack = [](Policy& policy) { policy.caches_groups = false; },
    .twin = Twin{},
};

const Mutant subscribes_not_to_creation{
    .name = "no-trap-66",
    .what = "does not subscribe to trap 66",
    .breaks = {&rfc4391::group_trap_subscription, &rfc4391::fallback_ends_with_group,
               &rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .stack =
        [](Policy& policy) {
            policy.subscribes = [](std::uint16_t trap_number) { return trap_number != trap::multicast_group_created; };
        },
};

const Mutant subscribes_not_to_deletion{
    .name = "no-trap-67",
    .what = "does not subscribe to trap 67",
    .breaks = {&rfc4391::group_trap_subscription, &rfc4392::cached_mlid_needs_deletion_reports,
               &rfc4392::deleted_group_mlid},
    .stack =
        [](Policy& policy) {
            policy.subscribes = [](std::uint16_t trap_number) { return trap_number != trap::multicast_group_deleted; };
        },
};

const Mutant needs_no_deletion_reports{
    .name = "no-trap-67-as-full-member",
    .what = "joins as SendOnlyFullMember to send, which keeps the MLID valid, and does not subscribe to trap 67",
    .breaks = {&rfc4391::group_trap_subscription, &rfc4391::send_only_join},
    .stack =
        [](Policy& policy) {
            policy.send_join_state = join_state::send_only_full_member;
            policy.subscribes = [](std::uint16_t trap_number) { return trap_number != trap::multicast_group_deleted; };
        },
    .spares = {},
};

const Mutant stays_with_routers{
    .name = "fallback-forever",
    .what = "keeps sending to the routers when the group is created later",
    .breaks = {&rfc4391::fallback_ends_with_group},
    .stack = [](Policy& policy) { policy.heeds_creation = false; },
    .twin = Twin{.spares = Spared{"IPOIB-4391-10-VAL-033"}},
};

const Mutant sends_after_leaving{
    .name = "sends-after-leaving",
    .what = "sends to a group that a program has left without joining it anew",
    .breaks = {&rfc4391::sender_joins_first},
    .stack = [](Policy& policy) { policy.forgets_left_groups = false; },
    .spares = {"IPOIB-4391-10-VAL-027"},
};

const Mutant leaves_the_routers_once{
    .name = "fallback-ends-once",
    .what = "keeps sending to the routers when a second group is created later",
    .breaks = {&rfc4391::fallback_ends_with_group},
    .stack = [](Policy& policy) { policy.heeds_one_creation = true; },
    .spares = {"IPOIB-4391-10-VAL-033"},
};

const Mutant receives_as_non_member{
    .name = "receiver-non-member",
    .what = "joins IP groups as NonMember",
    .breaks = {&rfc4391::receiver_full_member_join},
    .stack = [](Policy& policy) { policy.member_join_state = join_state::non_member; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022",
               "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant creates_with_small_mtu{
    .name = "creates-with-small-mtu",
    .what = "creates groups with an MTU of 1024",
    .breaks = {&rfc4391::new_group_link_mtu, &rfc4391::new_group_broadcast_parameters},
    .stack = [](Policy& policy) { policy.created_mtu = [](const Link&) { return std::uint8_t{3}; }; },
    .twin = Twin{},
};

const Mutant creates_with_limited_p_key{
    .name = "creates-with-limited-pkey",
    .what = "creates groups with the link's P_Key without its membership bit",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .stack =
        [](Policy& policy) {
            policy.created_p_key = [](const Link& link) {
                return static_cast<std::uint16_t>(link.p_key & ~full_membership);
            };
        },
    .twin = Twin{},
};

const Mutant creates_with_usual_q_key{
    .name = "creates-with-own-qkey",
    .what = "creates groups with a Q_Key of its own",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .stack = [](Policy& policy) { policy.created_q_key = [](const Link& link) { return link.q_key ^ 2; }; },
    .twin = Twin{},
};

const Mutant creates_with_usual_sl{
    .name = "creates-with-sl-0",
    .what = "creates groups with SL 0",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .stack = [](Policy& policy) { policy.created_sl = [](const Link&) { return std::uint8_t{0}; }; },
    .scenario = "controlled",
    .twin = Twin{},
};

const Mutant creates_without_traffic_class{
    .name = "creates-with-tclass-0",
    .what = "creates groups with TClass 0",
    .breaks = {&rfc4391::new_group_other_attributes},
    .stack = [](Policy& policy) { policy.created_traffic_class = [](const Link&) { return std::uint8_t{0}; }; },
    .scenario = "controlled",
    .twin = Twin{},
};

const Mutant creates_without_lifetime{
    .name = "creates-with-any-lifetime",
    .what = "leaves it to the SA how long packets of the groups that it creates live",
    .breaks = {&rfc4391::new_group_other_attributes},
    .stack = [](Policy& policy) { policy.created_lifetime = [](const Link&) { return std::uint8_t{0}; }; },
    .twin = Twin{},
};

const Mutant never_leaves{
    .name = "never-leaves",
    .what = "does not leave groups at the SA",
    .breaks = {&rfc4391::leaves_group, &rfc4392::receiver_leaves},
    .stack = [](Policy& policy) { policy.leaves_groups = false; },
    .spares = {"IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-031"},
    .twin = Twin{.spares = Spared{"IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-026", "IPOIB-4391-10-VAL-031"}},
};

const Mutant leaves_as_sender{
    .name = "leaves-other-state",
    .what = "leaves groups as SendOnlyNonMember, which it is not",
    .breaks = {&rfc4391::leaves_group, &rfc4392::receiver_leaves},
    .stack = [](Policy& policy) { policy.leave_join_state = join_state::send_only_non_member; },
    .spares = {"IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-031"},
    .twin = Twin{},
};

const Mutant never_asks_for_groups{
    .name = "never-asks-for-groups",
    .what = "sends to a group without a word to the SA",
    .breaks = {&rfc4391::sender_checks_group, &rfc4391::group_created_before_use, &rfc4391::sender_joins_first,
               &rfc4391::send_only_join, &rfc4391::mlid_as_dlid, &rfc4391::fallback_to_routers,
               &rfc4391::link_local_drop, &rfc4391::fallback_ends_with_group, &rfc4392::missing_group_fallback},
    .stack = [](Policy& policy) { policy.checks_group = policy.joins_to_send = false; },
    .sometimes = {&rfc4391::adopts_broadcast_parameters, &rfc4391::multicast_parameters_of_group},
    .spares = {"IPOIB-4391-10-VAL-004", "IPOIB-4391-10-VAL-024", "IPOIB-4391-10-VAL-025", "IPOIB-4391-10-VAL-027",
               "IPOIB-4391-10-VAL-028", "IPOIB-4391-10-VAL-033"},
    .twin = Twin{},
};

const Mutant sends_as_non_member{
    .name = "sends-as-non-member",
    .what = "joins as NonMember to send, and so receives",
    .breaks = {&rfc4391::send_only_join, &rfc4392::sender_leaves_in_time},
    .stack = [](Policy& policy) { policy.send_join_state = join_state::non_member; },
    .spares = {"IPOIB-4391-10-VAL-023"},
    .twin = Twin{},
};

const Mutant receives_as_sender{
    .name = "receiver-send-only",
    .what = "joins IP groups as SendOnlyFullMember",
    .breaks = {&rfc4391::receiver_full_member_join},
    .stack = [](Policy& policy) { policy.member_join_state = join_state::send_only_full_member; },
    .sometimes = {&rfc4391::send_only_join, &udmc::attach_limit},
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022",
               "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant creates_with_hop_limit{
    .name = "creates-with-hop-limit",
    .what = "creates groups with another HopLimit",
    .breaks = {&rfc4391::new_group_broadcast_parameters},
    .stack =
        [](Policy& policy) {
            policy.created_hop_limit = [](const Link& link) { return static_cast<std::uint8_t>(link.hop_limit ^ 1); };
        },
    .twin = Twin{},
};

const Mutant creates_without_flow_label{
    .name = "creates-with-flow-label-0",
    .what = "creates groups with FlowLabel 0",
    .breaks = {&rfc4391::new_group_other_attributes},
    .stack = [](Policy& policy) { policy.created_flow_label = [](const Link&) { return 0u; }; },
    .scenario = "controlled",
    .twin = Twin{},
};

const Mutant creates_at_low_rate{
    .name = "creates-at-low-rate",
    .what = "creates groups with the rate of 1x",
    .breaks = {&rfc4391::new_group_other_attributes},
    .stack = [](Policy& policy) { policy.created_rate = [](const Link&) { return std::uint8_t{2}; }; },
    .twin = Twin{},
};

const Mutant leaves_as_non_member{
    .name = "leaves-as-non-member",
    .what = "leaves groups as NonMember, which it is not",
    .breaks = {&rfc4391::leaves_group, &rfc4392::receiver_leaves},
    .stack = [](Policy& policy) { policy.leave_join_state = join_state::non_member; },
    .spares = {"IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-031"},
    .twin = Twin{},
};

const Mutant broadcasts_link_local{
    .name = "broadcasts-missing-link-local",
    .what = "broadcasts packets of a missing group, also of a link-local one",
    .breaks = {&rfc4391::fallback_prefers_all_router, &rfc4391::link_local_drop, &rfc4391::mgid_ipv4_group_id,
               &rfc4391::mgid_ipv6_group_id},
    .stack =
        [](Policy& policy) {
            policy.is_redirected = [](const IpAddress&) { return true; };
            policy.with_all_router = policy.without_all_router = stack::Fallback::broadcast;
        },
    .spares = {"IPOIB-4391-4-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::fallback_prefers_all_router, &rfc4391::link_local_drop,
                                  &rfc4391::mgid_ipv6_group_id}},
};

const Mutant ignores_reports{
    .name = "ignores-reports",
    .what = "subscribes to reports of created and deleted groups, and heeds none",
    .breaks = {&rfc4391::fallback_ends_with_group, &rfc4391::router_wildcard_subscription, &rfc4392::deleted_group_mlid,
               &rfc4392::router_follows_creations},
    .stack =
        [](Policy& policy) { policy.heeds_creation = policy.heeds_deletion = policy.router_heeds_creation = false; },
    .twin = Twin{.spares = Spared{"IPOIB-4391-10-VAL-033"}},
};

const Mutant joins_no_all_hosts{
    .name = "no-all-hosts",
    .what = "does not join the all-hosts group",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress& group, bool is_for_program, Beginning) {
                return is_for_program || !group.is_v4();
            };
        },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-013",
               "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_no_all_nodes{
    .name = "no-all-nodes",
    .what = "does not join the all-nodes group",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress& group, bool, Beginning) {
                return group != IpAddress::v6(Gid::of(std::uint64_t{0xff02} << 48, 1));
            };
        },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-013",
               "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_own_groups_once{
    .name = "own-groups-once",
    .what = "joins the groups that IP itself listens to when it first comes up, and never again",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress&, bool is_for_program, Beginning beginning) {
                return is_for_program || beginning == Beginning::first;
            };
        },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-013",
               "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021",
               "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_program_groups_once{
    .name = "program-groups-once",
    .what = "does not join the groups of its programs again after it was down",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress&, bool is_for_program, Beginning beginning) {
                return !is_for_program || beginning == Beginning::first;
            };
        },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015",
               "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_ipv6_program_groups_once{
    .name = "ipv6-program-groups-once",
    .what = "does not join the IPv6 groups of its programs again after it was down",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress& group, bool is_for_program, Beginning beginning) {
                return !is_for_program || beginning == Beginning::first || group.is_v4();
            };
        },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015",
               "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant loses_one_program_group{
    .name = "one-program-group-in-16-lost",
    .what = "of the groups of its programs that have one number modulo 16 it joins none again after it was down",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.joins_on_link = [](const IpAddress& group, bool is_for_program, Beginning beginning) {
                constexpr unsigned buckets = 16, lost = 9;
                return !is_for_program || beginning == Beginning::first || group.octets.octets[15] % buckets != lost;
            };
        },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-007",
               "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-021",
               "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_not_what_it_sends_to{
    .name = "sender-joins-no-more",
    .what = "takes it for a membership that it is in a group as SendOnlyNonMember",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_beside_sending = [](const IpAddress&) { return false; }; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant joins_not_what_it_sends_to_in_ipv6{
    .name = "ipv6-sender-joins-no-more",
    .what = "takes it for a membership that it is in an IPv6 group as SendOnlyNonMember",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_beside_sending = [](const IpAddress& group) { return group.is_v4(); }; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant deaf_to_what_it_sent_to{
    .name = "sender-stays-deaf",
    .what = "joins a group that it was in for sending, but does not attach its queue pair",
    .breaks = {&rfc4391::fabric_multicast},
    .stack = [](Policy& policy) { policy.attaches = [](bool was_sender) { return !was_sender; }; },
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-004"},
};

}  // namespace ipoib::conformance

// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that are right until something changes.
#include "conformance/mutants/prelude.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

/// For what is joined when a link begins: all but in one way of beginning.
template <Beginning wrong>
constexpr auto joins_but_after = [](const IpAddress&, bool, Beginning beginning) { return beginning != wrong; };

/// The same for one in four of programs' groups.
template <Beginning wrong>
constexpr auto joins_all_but_a_quarter = [](const IpAddress& group, bool is_for_program, Beginning beginning) {
    return beginning != wrong || !is_for_program || (group.octets.interface_id() & 3) != 3;
};

}  // namespace

const Mutant rejoins_broadcast_only{
    .name = "rejoins-broadcast-only",
    .what = "joins only the broadcast group again when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_on_link = joins_but_after<Beginning::renewal>; },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014",
               "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021",
               "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{.spares = Spared{"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013",
                                  "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-018",
                                  "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022",
                                  "IPOIB-4391-10-VAL-028"}},
};

const Mutant rejoins_not_every_group{
    .name = "rejoins-three-of-four",
    .what = "leaves one in four of programs' groups out when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_on_link = joins_all_but_a_quarter<Beginning::renewal>; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-018",
               "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
};

const Mutant forgets_groups_with_port{
    .name = "groups-lost-with-port",
    .what = "joins only the broadcast group again after its port, or its P_Key, was gone",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_on_link = joins_but_after<Beginning::port>; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant stays_down_with_port{
    .name = "down-after-flap",
    .what = "does not set its link up again when its port is back",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.returns_with_port = false; },
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant stays_down_with_p_key{
    .name = "down-after-p-key",
    .what = "does not set its link up again when the P_Key is back in its port's table",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.returns_with_p_key = false; },
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008",
               "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant gives_up_setup{
    .name = "gives-up-setup",
    .what = "does not try again to set its link up where the subnet administrator did not let it once",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.retries_setup = false; },
    .spares = {"IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant ends_at_forged_refusal{
    .name = "ends-at-forged-refusal",
    .what = "takes its interface down when any port has denied it what it asked the subnet administrator",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .client = [](fabric::SaClient& client) { client.believes_anyone = true; },
    .habit = {.every = std::chrono::milliseconds{100},
              .act =
                  [](stack::Node& node) {
                      const auto is_denial = [](const auto& line) { return line.find("DENIED") != std::string::npos; };
                      if (std::ranges::any_of(node.log().lines(), is_denial)) node.interface().down();
                  }},
    .spares = {"IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-5-INV-002", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant asks_for_a_group_once{
    .name = "asks-for-a-group-once",
    .what = "drops what it sends to a group for ever after the subnet administrator did not answer once",
    .breaks = {&rfc4391::sender_checks_group},
    .stack = [](Policy& policy) { policy.asks_group_again = false; },
    .spares = {"IPOIB-4391-10-VAL-001", "IPOIB-4391-10-VAL-011", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant gives_up_after_refusal{
    .name = "gives-up-after-refusal",
    .what = "does not ask again for a group that it was in, when the join is refused once after a reregistration",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.retries_joins = false; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant refused_group_holds_up_others{
    .name = "refused-group-holds-up-others",
    .what = "joins no other group while it waits to ask again for one whose join was refused",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_beside_refused = BesideRefused::never; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022"},
    .twin = Twin{},
};

const Mutant refused_group_delays_others{
    .name = "refused-group-delays-others",
    .what = "joins other groups only when it asks again for one whose join was refused",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_beside_refused = BesideRefused::with_its_next_try; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022"},
    .twin = Twin{},
};

const Mutant loses_deleted_groups{
    .name = "loses-deleted-groups",
    .what = "does not join a group again that was deleted while its program is in it",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.rejoins_deleted = false; },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant leaks_memberships{
    .name = "leaks-memberships",
    .what = "leaves none of its groups when it is taken down",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.leaves_when_down = false; },
    .sometimes = {&rfc4392::sender_leaves_in_time},
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-026", "IPOIB-4391-10-VAL-030"},
};

const Mutant keeps_old_mlids{
    .name = "keeps-old-mlids",
    .what = "goes on sending to the MLIDs that it knew before the subnet administrator lost its groups",
    .breaks = {&rfc4391::mlid_as_dlid},
    .stack = [](Policy& policy) { policy.forgets_sent_groups = false; },
    .spares = {"IPOIB-4391-10-VAL-029"},
    .twin = Twin{},
};

const Mutant keeps_first_mtu{
    .name = "keeps-first-mtu",
    .what = "keeps the MTU of its first join when the broadcast group comes back with another",
    .breaks = {&rfc4391::frame_within_link_mtu},
    .stack = [](Policy& policy) { policy.adopts_mtu_anew = false; },
    .spares = {"IPOIB-4391-7-INV-001", "IPOIB-4391-7-VAL-003", "RULE-RFC4391-7-05"},
};

const Mutant keeps_smallest_mtu{
    .name = "keeps-smallest-mtu",
    .what = "keeps the smallest MTU that the broadcast group ever had",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack =
        [](Policy& policy) {
            policy.mtu_anew = [](std::size_t before, std::size_t now) { return std::min(before, now); };
        },
    .sometimes = {&rfc4755::cm_minimum_mtu},
    .spares = {"IPOIB-4391-7-VAL-001", "IPOIB-4391-7-VAL-003", "IPOIB-4391-7-VAL-005"},
};

const Mutant keeps_first_path{
    .name = "keeps-first-path",
    .what = "goes on with the paths that it knows when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.renews_paths = false; },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-002",
               "IPOIB-4391-9.1.2-VAL-005", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.1.2-VAL-009"},
};

const Mutant asks_for_a_path_once{
    .name = "asks-for-a-path-once",
    .what = "never asks again for a path that was refused once",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.asks_path_again = false; },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-002",
               "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.1.2-VAL-009"},
    .twin = Twin{},
};

const Mutant one_qpn_for_a_gid{
    .name = "one-qpn-for-a-gid",
    .what = "sends to all addresses at a GID by the QPN that it heard last",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack = [](Policy& policy) { policy.keeps_neighbours_apart = false; },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-003", "IPOIB-4391-9.1.1-VAL-006",
               "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant believes_the_first{
    .name = "believes-the-first",
    .what = "never replaces the GID that it first heard for an address; it does so with the QPN",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.replaces_neighbour = [](const IpAddress&, const stack::HardwareAddress& known,
                                           const stack::HardwareAddress& told) {
                return known[LinkAddress::gid] == told[LinkAddress::gid];
            };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-003", "IPOIB-4391-9.1.1-VAL-005",
               "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant mixes_partitions{
    .name = "mixes-partitions",
    .what = "stays with the groups of its first P_Key when another takes its place in the table, and sends with that",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack =
        [](Policy& policy) {
            policy.heeds_first_p_key = false;
            policy.follows_p_key = false;
        },
    .sometimes = {&rfc4391::mgid_format, &rfc4391::mgid_pkey, &rfc4391::pkey_configured,
                  &rfc4391::ud_same_partition_and_qkey},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008",
               "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant keeps_p_key_index{
    .name = "keeps-p-key-index",
    .what = "goes on with the place in the table that its P_Key had",
    .breaks = {&rfc4391::pkey_configured},
    .stack = [](Policy& policy) { policy.follows_p_key = false; },
    .sometimes = {&rfc4391::mgid_format, &rfc4391::mgid_pkey},
    .spares = {"IPOIB-4391-9.1.2-VAL-003"},
};

const Mutant keeps_first_gid{
    .name = "keeps-first-gid",
    .what = "tells the GID of its port's first subnet prefix in its link-layer address",
    .breaks = {&rfc4391::link_address_port_gid},
    .stack = [](Policy& policy) { policy.renews_own_gid = false; },
    .spares = {"IPOIB-4391-9.1.1-VAL-002"},
    .twin = Twin{},
};

const Mutant asks_paths_from_old_gid{
    .name = "paths-from-old-gid",
    .what = "asks for paths from the GID that its port had before",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.asks_path_from_new_gid = false; },
    .sometimes = {&rfc4391::link_address_gid, &rfc4391::link_address_port_gid},
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.2-VAL-002", "IPOIB-4391-9.1.2-VAL-005",
               "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.1.2-VAL-009"},
    .does_not_live_on = true,
};

const Mutant drops_what_waits_for_a_path{
    .name = "drops-what-waits-for-a-path",
    .what = "drops datagrams to a peer until it knows the path",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.waits_for_path = [](bool is_resolution) { return is_resolution; }; },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-002",
               "IPOIB-4391-9.1.2-VAL-005", "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-009"},
    .twin = Twin{},
};

const Mutant drops_answers_without_a_path{
    .name = "drops-answers-without-a-path",
    .what = "drops its answers in address resolution until it knows the path to who asked",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.waits_for_path = [](bool is_resolution) { return !is_resolution; }; },
    .spares = {"IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.3-VAL-002", "IPOIB-4391-9-VAL-001", "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd},
                 .spares = Spared{"IPOIB-4391-9.3-VAL-002", "IPOIB-4391-9-VAL-001"}},
};

const Mutant stops_at_a_refusal{
    .name = "stops-at-a-refusal",
    .what = "drops what it sends to a group for ever after the subnet administrator refused it once",
    .breaks = {&rfc4391::sender_checks_group},
    .stack = [](Policy& policy) { policy.asks_refused_group_again = false; },
    .spares = {"IPOIB-4391-10-VAL-001", "IPOIB-4391-10-VAL-011", "IPOIB-4391-10-VAL-024", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant joins_in_a_storm{
    .name = "joins-in-a-storm",
    .what = "repeats a refused join every ten milliseconds",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack =
        [](Policy& policy) {
            policy.pause_before_rejoin = [](fabric::Duration) -> fabric::Duration {
                return std::chrono::milliseconds{10};
            };
        },
    .spares = {"IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012",
               "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016",
               "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-022", "IPOIB-4391-10-VAL-028"},
    .twin = Twin{},
};

const Mutant leaves_once{
    .name = "leaves-once",
    .what = "does not repeat a leave that was not answered",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.repeats_leaves = false; },
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-030",
               "IPOIB-4391-10-VAL-031"},
    .twin = Twin{},
};

const Mutant stays_in_broadcast_group{
    .name = "stays-in-broadcast-group",
    .what = "does not leave the broadcast group when it is taken down",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.leaves_broadcast_group = false; },
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-026", "IPOIB-4391-10-VAL-030"},
};

const Mutant forgets_lowered_mtu{
    .name = "forgets-lowered-mtu",
    .what = "has the link's MTU again whenever it has joined the broadcast group again",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.keeps_lowered_mtu = false; },
    .spares = {"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-001", "IPOIB-4391-7-VAL-003"},
};

const Mutant sends_from_first_lid{
    .name = "sends-from-first-lid",
    .what = "sends from the LID that its port had first, also when that is another port's",
    .breaks = {&rfc4391::ud_transport},
    .stack = [](Policy& policy) { policy.follows_lid = false; },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
    .does_not_live_on = true,
};

const Mutant asks_first_manager{
    .name = "asks-first-manager",
    .what = "asks the subnet administrator at the LID that it was told first",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.follows_manager = false; },
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008",
               "IPOIB-4391-5-VAL-009", "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
    .does_not_live_on = true,
};

const Mutant sticks_after_burst{
    .name = "sticks-after-burst",
    .what = "sends no more to a group that it was asked to send more to than could wait for its join",
    .breaks = {&rfc4391::sender_joins_first},
    .stack = [](Policy& policy) { policy.survives_burst = false; },
    .spares = {"IPOIB-4391-10-VAL-001"},
    .twin = Twin{},
};

const Mutant believes_checksums{
    .name = "believes-checksums",
    .what = "takes what came with a wrong checksum",
    .breaks = {&rfc4391::ud_transport},
    .stack = [](Policy& policy) { policy.checks_checksums = false; },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
    .twin = Twin{},
};

const Mutant tells_first_neighbours{
    .name = "tells-first-neighbours",
    .what = "tells its administrator the link-layer address that a neighbour had first, and uses the newest",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack = [](Policy& policy) { policy.tells_newest_address = false; },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-005", "IPOIB-4391-9.1.1-VAL-006",
               "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

}  // namespace ipoib::conformance

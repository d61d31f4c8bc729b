// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that are right until something changes.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// For what is joined when a link begins: all but in one way of beginning.
template <Beginning wrong>
constexpr auto joins_but_after = [](const IpAddress&, bool, Beginning beginning) { return beginning != wrong; };

}  // namespace

const Mutant rejoins_broadcast_only{
    .name = "rejoins-broadcast-only",
    .what = "joins only the broadcast group again when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_on_link = joins_but_after<Beginning::renewal>; },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014",
               "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020", "IPOIB-4391-10-VAL-021",
               "IPOIB-4391-10-VAL-022"},
    .twin = Twin{},
};

const Mutant forgets_groups_with_port{
    .name = "groups-lost-with-port",
    .what = "joins only the broadcast group again after its port, or its P_Key, was gone",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.joins_on_link = joins_but_after<Beginning::port>; },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014",
               "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-021", "IPOIB-4391-10-VAL-022"},
    .twin = Twin{},
};

const Mutant stays_down_with_port{
    .name = "down-after-flap",
    .what = "does not set its link up again when its port is back",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.returns_with_port = false; },
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-009"},
    .does_not_live_on = true,
};

const Mutant stays_down_with_p_key{
    .name = "down-after-p-key",
    .what = "does not set its link up again when the P_Key is back in its port's table",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.returns_with_p_key = false; },
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008"},
    .does_not_live_on = true,
};

const Mutant gives_up_after_refusal{
    .name = "gives-up-after-refusal",
    .what = "does not ask again for a group that it was in, when the join is refused once after a reregistration",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.retries_joins = false; },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014",
               "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020",
               "IPOIB-4391-10-VAL-022"},
    .twin = Twin{},
};

const Mutant loses_deleted_groups{
    .name = "loses-deleted-groups",
    .what = "does not join a group again that was deleted while its program is in it",
    .breaks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .stack = [](Policy& policy) { policy.rejoins_deleted = false; },
    .spares = {"IPOIB-4391-10-VAL-007", "IPOIB-4391-10-VAL-012", "IPOIB-4391-10-VAL-013", "IPOIB-4391-10-VAL-014",
               "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-016", "IPOIB-4391-10-VAL-018", "IPOIB-4391-10-VAL-020",
               "IPOIB-4391-10-VAL-021"},
    .twin = Twin{},
};

const Mutant leaks_memberships{
    .name = "leaks-memberships",
    .what = "leaves none of its groups when it is taken down",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.leaves_when_down = false; },
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015"},
};

const Mutant keeps_old_mlids{
    .name = "keeps-old-mlids",
    .what = "goes on sending to the MLIDs that it knew before the subnet administrator lost its groups",
    .breaks = {&rfc4391::mlid_as_dlid},
    .stack = [](Policy& policy) { policy.forgets_sent_groups = false; },
    .twin = Twin{},
};

const Mutant keeps_first_mtu{
    .name = "keeps-first-mtu",
    .what = "keeps the MTU of its first join when the broadcast group comes back with another",
    .breaks = {&rfc4391::frame_within_link_mtu},
    .stack = [](Policy& policy) { policy.adopts_mtu_anew = false; },
    .spares = {"IPOIB-4391-7-INV-001", "IPOIB-4391-7-VAL-003"},
};

const Mutant keeps_first_path{
    .name = "keeps-first-path",
    .what = "goes on with the paths that it knows when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.renews_paths = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-002", "IPOIB-4391-9.1.2-VAL-005"},
};

const Mutant asks_for_a_path_once{
    .name = "asks-for-a-path-once",
    .what = "never asks again for a path that was refused once",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.asks_path_again = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-002", "IPOIB-4391-9.1.2-VAL-006"},
    .twin = Twin{},
};

const Mutant one_qpn_for_a_gid{
    .name = "one-qpn-for-a-gid",
    .what = "sends to all addresses at a GID by the QPN that it heard last",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack = [](Policy& policy) { policy.keeps_neighbours_apart = false; },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-003", "IPOIB-4391-9.1.1-VAL-006"},
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
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-003", "IPOIB-4391-9.1.1-VAL-005"},
    .twin = Twin{},
};

}  // namespace ipoib::conformance

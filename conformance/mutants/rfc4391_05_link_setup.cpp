// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong link setup. RFC 4391, 4.1 and 5.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant joins_broadcast_as_non_member{
    .name = "broadcast-join-non-member",
    .what = "joins the broadcast group as NonMember",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.broadcast_join_state = join_state::non_member; },
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-VAL-014"},
};

const Mutant joins_broadcast_to_send{
    .name = "broadcast-join-send-only",
    .what = "joins the broadcast group as SendOnlyNonMember, and so hears nothing of it",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.broadcast_join_state = join_state::send_only_non_member; },
    .sometimes = {&rfc4391::limited_broadcast_mapping, &rfc4391::broadcast_group_carries_broadcasts},
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-VAL-014"},
};

const Mutant comes_up_without_join{
    .name = "up-without-join",
    .what = "uses the link though its join was refused",
    .breaks = {&rfc4391::broadcast_full_member_join, &rfc4392::failed_join_keeps_off_subnet},
    .stack = [](Policy& policy) { policy.needs_join = false; },
    .spares = {"IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009",
               "IPOIB-4391-5-VAL-011", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007",
               "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-014"},
};

const Mutant keeps_usual_sl{
    .name = "usual-sl",
    .what = "does not adopt the SL",
    .breaks = {&rfc4391::adopts_broadcast_parameters, &rfc4391::sl_of_broadcast_group},
    .stack =
        [](Policy& policy) { policy.multicast_sl = [](const Link&, const stack::Group&) { return std::uint8_t{0}; }; },
    .scenario = "controlled",
    .spares = {"IPOIB-4391-5-VAL-006", "IPOIB-4391-7-VAL-002"},
    .twin = Twin{},
};

const Mutant sl_of_three_bits{
    .name = "sl-of-three-bits",
    .what = "knows service levels 0 to 7 only",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack =
        [](Policy& policy) {
            policy.multicast_sl = [](const Link&, const stack::Group& group) {
                return static_cast<std::uint8_t>(group.sl & 7);
            };
        },
    .sometimes = {&rfc4391::adopts_broadcast_parameters, &rfc4391::sl_of_broadcast_group},
    .spares = {"IPOIB-4391-9.1.2-VAL-004"},
    .twin = Twin{},
};

const Mutant sends_all_with_broadcast_sl{
    .name = "broadcast-sl-for-every-group",
    .what = "sends to every group with the SL of the broadcast group, though its own is another one",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack =
        [](Policy& policy) { policy.multicast_sl = [](const Link& link, const stack::Group&) { return link.sl; }; },
    .spares = {"IPOIB-4391-9.1.2-VAL-004"},
    .twin = Twin{},
};

const Mutant keeps_usual_traffic_class{
    .name = "usual-traffic-class",
    .what = "does not adopt the TClass",
    .breaks = {&rfc4391::adopts_broadcast_parameters, &rfc4391::multicast_parameters_of_group},
    .stack =
        [](Policy& policy) {
            policy.multicast_traffic_class = [](const Link&, const stack::Group&) { return std::uint8_t{0}; };
        },
    .scenario = "controlled",
    .spares = {"IPOIB-4391-5-VAL-006", "IPOIB-4391-7-VAL-002", "IPOIB-4391-9.1.2-VAL-004"},
    .twin = Twin{},
};

const Mutant keeps_usual_flow_label{
    .name = "usual-flow-label",
    .what = "does not adopt the FlowLabel",
    .breaks = {&rfc4391::adopts_broadcast_parameters, &rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.multicast_flow_label = [](const Link&, const stack::Group&) { return 0u; }; },
    .scenario = "controlled",
    .spares = {"IPOIB-4391-5-VAL-006", "IPOIB-4391-7-VAL-002", "IPOIB-4391-9.1.2-VAL-004"},
    .twin = Twin{},
};

const Mutant sends_hop_limit_zero{
    .name = "hop-limit-zero",
    .what = "sends multicast with HopLimit 0",
    .breaks = {&rfc4391::adopts_broadcast_parameters, &rfc4391::multicast_parameters_of_group},
    .stack =
        [](Policy& policy) {
            policy.multicast_hop_limit = [](const Link&, const stack::Group&) { return std::uint8_t{0}; };
        },
    .scenario = "controlled",
    .spares = {"IPOIB-4391-5-VAL-006", "IPOIB-4391-7-VAL-002", "IPOIB-4391-9.1.2-VAL-004"},
    .twin = Twin{},
};

const Mutant searches_wide_scope_first{
    .name = "wide-scope-first",
    .what = "looks for a broadcast group of global scope first",
    .breaks = {&rfc4391::broadcast_gid_default_scope},
    .stack =
        [](Policy& policy) {
            policy.search_scopes = {14, 8, 5, 2};
        },
};

const Mutant supposes_a_link{
    .name = "link-without-group",
    .what = "uses a link that has no broadcast group, with the usual parameters",
    .breaks = {&rfc4391::broadcast_group_exists},
    .stack = [](Policy& policy) { policy.needs_broadcast_group = false; },
    .sometimes = {&rfc4391::broadcast_full_member_join, &rfc4391::new_group_other_attributes,
                  &rfc4392::failed_join_keeps_off_subnet},
};

const Mutant knows_networks_of_whole_octets{
    .name = "directed-broadcast-of-whole-octets",
    .what = "takes the broadcast address of a network whose prefix does not end with an octet for a host's",
    .breaks = {&rfc4391::broadcast_group_carries_broadcasts},
    .stack =
        [](Policy& policy) {
            policy.is_directed_broadcast = [](const IpAddress& address, const IpNetwork& network) {
                return network.length % 8 == 0 && stack::answers::is_directed_broadcast(address, network);
            };
        },
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-004", "IPOIB-4391-9.2-VAL-002"},
};

const Mutant knows_no_directed_broadcast{
    .name = "no-directed-broadcast",
    .what = "takes the broadcast address of its network for that of a host",
    .breaks = {&rfc4391::broadcast_group_carries_broadcasts},
    .stack =
        [](Policy& policy) { policy.is_directed_broadcast = [](const IpAddress&, const IpNetwork&) { return false; }; },
    .spares = {"IPOIB-4391-2-VAL-004", "IPOIB-4391-9.2-VAL-002"},
};

}  // namespace ipoib::conformance

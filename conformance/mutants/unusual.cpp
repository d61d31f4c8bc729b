// SPDX-License-Identifier: GPL-2.0-or-later
// What a stack makes of right packets in forms that are seldom, and of another interface of its own port.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant arp_probes_unanswered{
    .name = "arp-probes-unanswered",
    .what = "does not answer who asks without an address whether its own is free",
    .breaks = {&rfc4391::ipv4_resolved_by_arp},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.arp_addresses || packet.arp_addresses[ArpAddresses::spa] != 0;
            };
        },
    .spares = {"IPOIB-4391-9-VAL-001", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002"},
};

const Mutant unicast_arp_unanswered{
    .name = "unicast-arp-unanswered",
    .what = "answers ARP requests only where all heard them",
    .breaks = {&rfc4391::ipv4_resolved_by_arp},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.arp_addresses || packet.arp[Arp::operation] != Arp::request || packet.is_multicast;
            };
        },
    .spares = {"IPOIB-4391-9-VAL-001", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002"},
};

const Mutant arp_target_hardware_refused{
    .name = "arp-tha-not-ignored",
    .what = "drops ARP requests that say something of the address that is asked for",
    .breaks = {&rfc4391::ipv4_resolved_by_arp},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.arp_addresses || packet.arp[Arp::operation] != Arp::request ||
                       packet.arp_addresses[ArpAddresses::tha_gid].is_zero();
            };
        },
    .spares = {"IPOIB-4391-9-VAL-001", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002"},
};

const Mutant solicitations_without_option_unanswered{
    .name = "nd-without-source-option-unanswered",
    .what = "does not answer solicitations that do not tell a link-layer address",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.icmpv6 || packet.icmpv6[Icmpv6::type] != Icmpv6Type::neighbour_solicitation ||
                       packet.source_option || packet.ipv6[Ipv6::source].is_zero();
            };
        },
    .spares = {"IPOIB-4391-9-VAL-001", "IPOIB-4391-9.1.2-VAL-007"},
};

const Mutant other_sl_lost{
    .name = "other-sl-lost",
    .what = "drops unicast that came on another SL than that of the broadcast group",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return packet.is_multicast || packet.lrh[Lrh::sl] == 0;
            };
        },
    .sometimes = {&rfc4391::adopts_broadcast_parameters},
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant solicited_events_lost{
    .name = "solicited-events-lost",
    .what = "drops packets with the Solicited Event bit",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) { return !packet.bth[Bth::solicited]; };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant marked_packets_lost{
    .name = "marked-packets-lost",
    .what = "drops packets that a switch has marked for congestion",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) { return packet.bth[Bth::reserved8] == 0; };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant last_hop_lost{
    .name = "last-hop-lost",
    .what = "drops IPv4 packets to itself that have come to the end of their TTL",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) { return !packet.ipv4 || packet.ipv4[Ipv4::ttl] > 1; };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant children_hear_nothing_of_port{
    .name = "children-miss-renewals",
    .what = "renews nothing but its first interface when the subnet manager asks it to reregister",
    .breaks = {&rfc4391::broadcast_full_member_join},
    .stack = [](Policy& policy) { policy.tells_all_of_renewal = false; },
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-INV-006", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-007",
               "IPOIB-4391-5-VAL-008", "IPOIB-4391-5-VAL-009", "IPOIB-4391-5-VAL-010", "IPOIB-4391-5-VAL-011",
               "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007"},
};

const Mutant interfaces_leave_for_each_other{
    .name = "interfaces-leave-for-each-other",
    .what = "leaves a group at the SA that another interface of its port is in",
    .breaks = {&udmc::leave_after_last_detach},
    .stack = [](Policy& policy) { policy.heeds_other_interfaces = false; },
    .spares = {"IPOIB-UDMC-VAL-001", "IPOIB-UDMC-VAL-004"},
    .twin = Twin{},
};

}  // namespace ipoib::conformance

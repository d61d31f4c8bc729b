// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong address mapping. RFC 4391, 9.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant arp_of_ethernet{
    .name = "arp-hardware-1",
    .what = "sends ARP with the hardware type of Ethernet",
    .breaks = {&rfc4391::arp_hardware_type},
    .stack = [](Policy& policy) { policy.arp_hardware = 1; },
};

const Mutant arp_protocol_wrong{
    .name = "arp-protocol",
    .what = "sends ARP with the protocol type of IPv6",
    .breaks = {&rfc4391::arp_fields},
    .stack = [](Policy& policy) { policy.arp_protocol = 0x86dd; },
};

const Mutant arp_cut_to_six{
    .name = "arp-cut-to-6",
    .what = "cuts hardware addresses in ARP to 6 octets and says so",
    .breaks = {&rfc4391::arp_hardware_length, &rfc4391::arp_hardware_address},
    .stack = [](Policy& policy) { policy.arp_address_size = 6; },
};

const Mutant arp_length_wrong{
    .name = "arp-hlen-wrong",
    .what = "says in ARP that hardware addresses have 6 octets, and sends 20",
    .breaks = {&rfc4391::arp_hardware_length},
    .stack = [](Policy& policy) { policy.arp_hardware_length = [](std::uint8_t) { return std::uint8_t{6}; }; },
};

const Mutant arp_protocol_length_wrong{
    .name = "arp-plen-wrong",
    .what = "says in ARP that protocol addresses have 16 octets, and sends 4",
    .breaks = {&rfc4391::arp_fields},
    .stack = [](Policy& policy) { policy.arp_protocol_length = 16; },
};

const Mutant qpn_wrong{
    .name = "qpn-wrong",
    .what = "gives a QPN that is not its own in its link-layer address",
    .breaks = {&rfc4391::link_address_format},
    .stack = [](Policy& policy) { policy.own_qpn = [](std::uint32_t qpn) { return qpn ^ 1; }; },
    .spares = {"IPOIB-4391-9.1.1-VAL-004"},
    .twin = Twin{.breaks = Broken{&rfc4391::link_address_format, &rfc4391::nd_option_address}},
};

const Mutant gid_foreign{
    .name = "gid-foreign",
    .what = "gives a GID that is not its port's",
    .breaks = {&rfc4391::link_address_gid, &rfc4391::link_address_port_gid},
    .stack =
        [](Policy& policy) {
            policy.own_gid = [](const Gid& gid) { return Gid::of(gid.prefix(), gid.interface_id() ^ 1); };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-007"},
    .twin = Twin{},
};

const Mutant flags_set{
    .name = "flags-not-zero",
    .what = "sets a reserved flag of its link-layer address",
    .breaks = {&rfc4391::link_address_flags_tx, &rfc4755::cm_flags_reserved_tx},
    .stack = [](Policy& policy) { policy.datagram_flags = 0x01; },
    .twin = Twin{},
};

const Mutant flags_refused{
    .name = "flags-not-ignored",
    .what = "does not talk to peers with reserved flags",
    .breaks = {&rfc4391::link_address_flags_rx, &rfc4755::ud_only_ignores_flags, &rfc4755::cm_flags_reserved_rx},
    .stack = [](Policy& policy) { policy.accepts_flags = [](std::uint8_t flags) { return flags == 0; }; },
    .twin = Twin{.breaks = Broken{&rfc4391::link_address_flags_rx},
                 .sometimes = Broken{&rfc4755::cm_keeps_ud, &rfc4755::cm_connection_record}},
};

const Mutant arp_silent{
    .name = "arp-silent",
    .what = "broadcasts no ARP request: uses the all-hosts group",
    .breaks = {&rfc4391::broadcast_group_carries_broadcasts, &rfc4391::broadcast_gid_format},
    .stack =
        [](Policy& policy) {
            policy.arp_request_group = [](const Link& link) {
                return mgid_for_ipv4(0xe0000001, link.p_key, link.scope);
            };
        },
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-004", "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-VAL-005"},
};

const Mutant arp_reply_to_source_qp{
    .name = "arp-reply-to-source-qp",
    .what = "sends ARP replies to the queue pair that asked",
    .breaks = {&rfc4391::arp_reply_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.arp_reply_qpn = [](const stack::HardwareAddress&, std::uint32_t source) { return source; };
        },
};

const Mutant ip_to_source_qp{
    .name = "ip-to-source-qp",
    .what = "sends IP to the queue pair that the peer asked from",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.peer_qpn = [](const stack::HardwareAddress&, std::uint32_t source) { return source; };
        },
    .spares = {"IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant unicast_q_key_usual{
    .name = "unicast-qkey-usual",
    .what = "sends unicast with the usual Q_Key",
    .breaks = {&rfc4391::qkey_of_broadcast_group, &rfc4391::adopts_broadcast_parameters,
               &rfc4391::controlled_qkey_in_all_packets, &rfc4392::unicast_keys_of_broadcast_group},
    .stack = [](Policy& policy) { policy.unicast_q_key = [](const Link&) { return 0x0b1bu; }; },
    .scenario = "controlled",
    .spares = {"IPOIB-4392-4-VAL-001", "IPOIB-4391-7-VAL-002", "IPOIB-4391-5-VAL-002", "IPOIB-4391-5-VAL-006",
               "IPOIB-4392-4-VAL-002"},
    .twin = Twin{},
};

const Mutant multicast_q_key_wrong{
    .name = "multicast-qkey-wrong",
    .what = "sends multicast with a Q_Key of its own",
    .breaks = {&rfc4391::qkey_of_broadcast_group, &rfc4391::adopts_broadcast_parameters},
    .stack =
        [](Policy& policy) {
            policy.multicast_q_key = [](const Link& link, const stack::Group&) { return link.q_key ^ 1; };
        },
    .spares = {"IPOIB-4391-5-VAL-006", "IPOIB-4391-7-VAL-002"},
    .twin = Twin{},
};

const Mutant hca_takes_neighbouring_q_keys{
    .name = "hca-qkey-outer-octets",
    .what = "the HCA looks at the first and the last octet of a Q_Key only",
    .breaks = {&rfc4391::qkey_match_on_receive},
    .hca = [](HcaBehaviour& hca) { hca.q_key_bits = 0xff00'00ff; },
    .spares = {"IPOIB-4391-3-INV-001"},
};

const Mutant hca_any_q_key{
    .name = "hca-any-qkey",
    .what = "the HCA takes packets with any Q_Key",
    .breaks = {&rfc4391::qkey_match_on_receive},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_q_key = false; },
};

const Mutant nd_without_option{
    .name = "nd-without-option",
    .what = "sends Neighbour Discovery without link-layer address",
    .breaks = {&rfc4391::nd_option_used},
    .stack = [](Policy& policy) { policy.sends_nd_option = [](bool) { return false; }; },
    // The run does not show how the address began, which may be one that is still being tested.
    .spares = {"RULE-RFC4391-9.3-01-unannounced"},
};

const Mutant nd_option_padded_at_end{
    .name = "nd-padded-at-end",
    .what = "pads the link-layer address at its end",
    .breaks = {&rfc4391::nd_option_padding, &rfc4391::nd_option_address},
    .stack =
        [](Policy& policy) {
            policy.nd_option = [](std::uint8_t type, const stack::HardwareAddress& address) {
                std::vector<std::uint8_t> option{type, 3};
                option.insert(option.end(), address.octets.begin(), address.octets.end());
                option.resize(24);
                return option;
            };
        },
};

const Mutant nd_option_short{
    .name = "nd-option-short",
    .what = "sends an option of 16 octets with a cut address",
    .breaks = {&rfc4391::nd_option_length},
    .stack =
        [](Policy& policy) {
            policy.nd_option = [](std::uint8_t type, const stack::HardwareAddress& address) {
                std::vector<std::uint8_t> option{type, 2, 0, 0};
                option.insert(option.end(), address.octets.begin(), address.octets.begin() + 12);
                return option;
            };
        },
};

const Mutant nd_option_types_swapped{
    .name = "nd-types-swapped",
    .what = "swaps the option types of source and target",
    .breaks = {&rfc4391::nd_option_type},
    .stack = [](Policy& policy) { std::swap(policy.nd_source, policy.nd_target); },
};

const Mutant arp_unanswered{
    .name = "arp-unanswered",
    .what = "does not answer ARP requests",
    .breaks = {&rfc4391::ipv4_resolved_by_arp},
    .stack = [](Policy& policy) { policy.answers_arp = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001", "IPOIB-4391-9.2-VAL-003"},
};

const Mutant solicitations_unanswered{
    .name = "nd-unanswered",
    .what = "does not answer Neighbour Solicitations",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.answers_solicitations = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant advertisements_from_beyond{
    .name = "nd-answers-with-hop-limit-64",
    .what = "answers Neighbour Solicitations with a Hop Limit that nobody takes",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.advertised_hop_limit = 64; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant solicitations_from_beyond{
    .name = "nd-asks-with-hop-limit-64",
    .what = "sends Neighbour Solicitations with a Hop Limit that nobody takes",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.solicited_hop_limit = 64; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant believes_distant_neighbours{
    .name = "nd-takes-any-hop-limit",
    .what = "takes Neighbour Discovery that may have come over a router",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.demands_link_local_discovery = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant answers_as_if_unasked{
    .name = "nd-without-solicited-flag",
    .what = "answers Neighbour Solicitations without the Solicited flag",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.says_solicited = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant defends_no_address{
    .name = "nd-probes-unanswered",
    .what = "does not answer who asks without an address whether its own is free",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.defends_address = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant unknown_options_refused{
    .name = "nd-unknown-options-refused",
    .what = "drops Neighbour Discovery with an option that it does not know",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.ignores_unknown_options = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant answers_for_all{
    .name = "answers-for-others",
    .what = "answers for the addresses of others",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.answers_for = [](bool) { return true; }; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd}, .spares = Spared{"IPOIB-4391-9.1.2-VAL-007"}},
};

const Mutant silent_neighbours_given_up{
    .name = "asks-silent-neighbours-once",
    .what = "never asks again for the address of a neighbour that did not answer",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd, &rfc4391::arp_cache_revalidation},
    .stack = [](Policy& policy) { policy.asks_silent_again = false; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001", "IPOIB-4391-9.4-VAL-001", "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd, &rfc4391::arp_cache_revalidation},
                 .spares = Spared{"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001", "IPOIB-4391-9.4-VAL-001"}},
};

const Mutant deaf_to_announcements{
    .name = "announcements-to-all-ignored",
    .what = "takes an answer of address resolution only where it came to itself alone",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack = [](Policy& policy) { policy.heeds_answers_to_all = false; },
    .spares = {"IPOIB-4391-9.1.1-INV-002", "IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-005",
               "IPOIB-4391-9.1.1-VAL-006"},
    .twin = Twin{},
};

const Mutant asks_no_path{
    .name = "no-path-query",
    .what = "sends to the LID that it heard, without asking for the rate of the path",
    .breaks = {&rfc4391::path_rate_before_data},
    .stack = [](Policy& policy) { policy.asks_path = false; },
    .sometimes = {&rfc4391::adopts_broadcast_parameters, &rfc4391::frame_within_link_mtu},
    .twin = Twin{},
};

const Mutant dlid_made_up{
    .name = "dlid-made-up",
    .what = "sends unicast to another LID than the SA told for the path",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack =
        [](Policy& policy) {
            policy.unicast_dlid = [](std::uint16_t path) { return static_cast<std::uint16_t>(path ^ 0x40); };
        },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-005",
               "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-007"},
    .twin = Twin{},
};

const Mutant never_revalidates{
    .name = "never-revalidates",
    .what = "keeps a neighbour's link-layer address for good",
    .breaks = {&rfc4391::arp_cache_revalidation},
    .stack = [](Policy& policy) { policy.revalidates = false; },
    .twin = Twin{},
};

const Mutant no_grh_across_subnets{
    .name = "no-grh-across-subnets",
    .what = "sends to peers of other IB subnets without a GRH",
    .breaks = {&rfc4391::grh_across_subnets},
    .stack = [](Policy& policy) { policy.grh_across_subnets = false; },
    // Without a GRH it looks like a packet to the peer of this subnet that has the LID, on the SL of another path.
    .sometimes = {&rfc4391::sl_by_iba_methods},
    .twin = Twin{},
};

const Mutant takes_first_p_key{
    .name = "takes-first-pkey",
    .what = "gives every interface the first P_Key of the port's table, whatever was configured",
    .breaks = {&rfc4391::pkey_configured},
    .stack = [](Policy& policy) { policy.interface_p_key = [](std::uint16_t, std::uint16_t first) { return first; }; },
    .spares = {"IPOIB-4391-9.1.2-VAL-008"},
};

const Mutant keeps_first_address{
    .name = "keeps-first-address",
    .what = "sends on to the link-layer address that a neighbour had at first",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.replaces_neighbour = [](const IpAddress&, const auto&, const auto&) { return false; };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-005", "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant keeps_larger_qpn{
    .name = "keeps-larger-qpn",
    .what = "sends on to the QPN that a neighbour had before, if the one that it tells now is smaller",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.replaces_neighbour = [](const IpAddress&, const auto& known, const auto& told) {
                return told[LinkAddress::qpn] >= known[LinkAddress::qpn];
            };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-005", "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant compares_two_octets_of_qpn{
    .name = "compares-qpn-in-part",
    .what = "takes a neighbour's new QPN for the known one where they differ in the first octet only",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack =
        [](Policy& policy) {
            policy.replaces_neighbour = [](const IpAddress&, const auto& known, const auto& told) {
                return ((told[LinkAddress::qpn] ^ known[LinkAddress::qpn]) & 0xffff) != 0;
            };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-005", "IPOIB-4391-9.1.1-VAL-006",
               "IPOIB-4391-9.1.1-INV-002"},
    .twin = Twin{},
};

const Mutant tells_other_neighbours{
    .name = "neighbour-without-qpn",
    .what = "keeps and tells of its neighbours without their QPN",
    .breaks = {&rfc4391::link_address_format},
    .stack =
        [](Policy& policy) {
            policy.told_address = [](const stack::HardwareAddress& address) {
                auto told = address;
                return told.set(LinkAddress::qpn, 0);
            };
        },
    .spares = {"IPOIB-4391-9.1.1-VAL-002"},
};

const Mutant solicits_all_nodes{
    .name = "solicits-all-nodes",
    .what = "sends solicitations to all nodes",
    .breaks = {&rfc4391::ipv6_resolved_by_nd},
    .stack =
        [](Policy& policy) {
            policy.solicitation_group = [](const Gid&) { return Gid::of(std::uint64_t{0xff02} << 48, 1); };
        },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9-VAL-001"},
};

const Mutant unicast_on_made_up_sl{
    .name = "unicast-sl-made-up",
    .what = "sends unicast on another SL than that of the path or the link",
    .breaks = {&rfc4391::sl_by_iba_methods},
    .stack =
        [](Policy& policy) {
            policy.unicast_sl = [](const Link&, std::uint8_t path) -> std::uint8_t { return path ^ 6; };
        },
    .twin = Twin{},
};

const Mutant unicast_on_sl_of_link{
    .name = "unicast-sl-of-link",
    .what = "sends unicast on the SL of the broadcast group, whatever that of the path is",
    .breaks = {&rfc4391::sl_by_iba_methods},
    .stack = [](Policy& policy) { policy.unicast_sl = [](const Link& link, std::uint8_t) { return link.sl; }; },
    .twin = Twin{},
};

const Mutant unicast_without_flow_of_path{
    .name = "unicast-without-flow",
    .what = "sends unicast to other IB subnets with TClass and FlowLabel 0, whatever those of the path are",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.uses_flow_of_path = false; },
    .scenario = "controlled",
    .spares = {"IPOIB-4391-4.1-VAL-003"},
    .twin = Twin{},
};

const Mutant unicast_as_limited_member{
    .name = "unicast-pkey-limited",
    .what = "sends unicast with the P_Key of a limited member, though it is a full one",
    .breaks = {&rfc4392::unicast_keys_of_broadcast_group, &rfc4392::limited_members_kept_apart},
    .stack =
        [](Policy& policy) {
            policy.unicast_p_key = [](const Link& link) {
                return static_cast<std::uint16_t>(link.p_key & ~full_membership);
            };
        },
    // Its answers to limited members look like one's, but it takes from nobody what it must not take.
    .spares = {"IPOIB-4392-4-VAL-002", "IPOIB-4392-1.2-INV-002", "IPOIB-4392-1.2-VAL-001"},
};

const Mutant unicast_as_full_member{
    .name = "unicast-pkey-full",
    .what = "sends unicast with the P_Key of a full member, though it is a limited one",
    .breaks = {&rfc4392::unicast_keys_of_broadcast_group},
    .stack =
        [](Policy& policy) {
            policy.unicast_p_key = [](const Link& link) {
                return static_cast<std::uint16_t>(link.p_key | full_membership);
            };
        },
    .spares = {"IPOIB-4392-4-VAL-001"},
    .twin = Twin{},
};

const Mutant hca_any_q_key_in_groups{
    .name = "hca-any-multicast-qkey",
    .what = "the HCA takes multicast with any Q_Key",
    .breaks = {&rfc4391::qkey_match_on_receive},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_q_key_of_multicast = false; },
    .spares = {"IPOIB-4391-3-INV-001"},
};

const Mutant highest_reserved_flag_refused{
    .name = "flags-highest-not-ignored",
    .what = "does not talk to peers with the highest reserved flag",
    .breaks = {&rfc4391::link_address_flags_rx, &rfc4755::ud_only_ignores_flags, &rfc4755::cm_flags_reserved_rx},
    .stack = [](Policy& policy) { policy.accepts_flags = [](std::uint8_t flags) { return (flags & 0x20) == 0; }; },
    .twin = Twin{.breaks = Broken{&rfc4391::link_address_flags_rx}},
};

const Mutant unicast_q_key_wrong{
    .name = "unicast-qkey-wrong",
    .what = "sends unicast with a Q_Key of its own",
    .breaks = {&rfc4391::qkey_of_broadcast_group, &rfc4391::adopts_broadcast_parameters,
               &rfc4392::unicast_keys_of_broadcast_group},
    .stack = [](Policy& policy) { policy.unicast_q_key = [](const Link& link) { return link.q_key ^ 1; }; },
    .spares = {"IPOIB-4391-7-VAL-002", "IPOIB-4392-4-VAL-001", "IPOIB-4391-5-VAL-006", "IPOIB-4392-4-VAL-002"},
    .twin = Twin{},
};

const Mutant follows_source_qp{
    .name = "follows-source-qp",
    .what = "sends IP for a neighbour to the queue pair that its last packet came from",
    .breaks = {&rfc4391::ip_to_advertised_qpn},
    .stack = [](Policy& policy) { policy.follows_source_qp = true; },
    .spares = {"IPOIB-4391-9.1.1-VAL-001", "IPOIB-4391-9.1.1-VAL-003", "IPOIB-4391-9.1.1-VAL-005",
               "IPOIB-4391-9.1.1-VAL-006"},
    .twin = Twin{},
};

}  // namespace ipoib::conformance
